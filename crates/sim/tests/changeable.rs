//! Tests changes of links at run time on all ready paths: which changes a link refuses, and that each packet has one end.

use lasthop_base::{Choice, Duration, Stream, Time, Value};
use lasthop_engine::{ChangeRefused, Departure, Engine, ExternalPacket, LinkChange, PipeId};
use lasthop_net::{Config, LinkDirection, queue};
use lasthop_scenario::{Draft, Scenario, ready_paths};
use lasthop_sim::assemble::{assemble_changeable, pipe_of};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Priority};

fn scenario(path: &str) -> Scenario {
    Draft::load(path).expect("a path").check().expect("a valid scenario")
}

fn rate(bps: u64) -> LinkChange {
    LinkChange { bps: Some(bps), ..LinkChange::default() }
}

fn delay(millis: u64) -> LinkChange {
    LinkChange { delay: Some(Duration::from_millis(millis)), ..LinkChange::default() }
}

fn loss(share: f64) -> LinkChange {
    LinkChange { loss: Some(share), ..LinkChange::default() }
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn directions(scenario: &Scenario) -> Vec<(PipeId, &Config)> {
    let mut all = Vec::new();
    for (index, link) in scenario.links.iter().enumerate() {
        all.extend([(pipe_of(index, true), &link.down), (pipe_of(index, false), &link.up)]);
    }
    all
}

/// A direction that is built for changes accepts each change of its rate, delay, losses and queue. A plain direction
/// accepts only some of these changes.
#[test]
fn no_ready_path_refuses_a_change() {
    let (mut refused, mut refused_plain, mut count) = (Vec::new(), 0, 0);
    for path in ready_paths() {
        for (_, config) in directions(&scenario(path)) {
            let stream = || Stream::named(1, "link");
            let line = LinkDirection::adjustable(config, stream(), stream());
            let plain = LinkDirection::in_link(config, stream(), stream());
            for change in [rate(0), rate(1_000_000), delay(50), loss(0.02)] {
                refused.extend(line.refusal(&change).map(|ChangeRefused(why)| (path, why)));
                refused_plain += u32::from(plain.refusal(&change).is_some());
            }
            refused.extend(line.queue_refusal().map(|ChangeRefused(why)| (path, why)));
            assert!(line.settings().is_some(), "{path}");
            count += 1;
        }
    }
    assert_eq!(refused, []);
    assert!(
        count >= 60 && refused_plain > count,
        "{count} directions, {refused_plain} refusals of plain directions"
    );
}

fn packet(forward: bool) -> ExternalPacket {
    let (ecn, priority) = (Ecn::Ect0, Priority::NORMAL);
    ExternalPacket { wire_bytes: 1000, forward, ecn, priority, body: Body::Datagram { number: 0 } }
}

/// Injects a packet in each direction every 5 ms, from one time to another.
fn inject(engine: &mut Engine, from: u64, until: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    for millis in (from..until).step_by(5) {
        engine.run_until(at(millis));
        numbers.extend([true, false].map(|forward| engine.inject(FlowId(0), &packet(forward))));
    }
    engine.run_until(at(until));
    numbers
}

/// Replaces the queue of a pipe, whose configuration is `config`.
fn set_queue(
    engine: &mut Engine,
    pipe: PipeId,
    config: &Config,
    choice: Choice<lasthop_net::discipline::Build>,
) {
    assert_eq!(engine.queue_refusal(pipe), None);
    let config = Config { queue: choice, ..config.clone() };
    engine.set_queue(pipe, config.queue_with(Stream::named(1, "queue")));
}

/// On each ready path, each packet must have exactly one end, although each link stops, changes its settings and its
/// queue. At 20 Mbit/s without losses of the channel, each packet that enters after the outage arrives.
#[test]
fn packets_have_one_end_on_each_changed_path() {
    for path in ready_paths() {
        let scenario = scenario(path);
        let mut engine = assemble_changeable(&scenario, 0, 1);
        let pipes: Vec<(PipeId, &Config)> = directions(&scenario);
        let change = |engine: &mut Engine, change: &LinkChange| {
            for (pipe, _) in &pipes {
                assert_eq!(engine.refusal(*pipe, change), None, "{path}");
                engine.change(*pipe, change);
                let settings = engine.settings(*pipe).expect("settings");
                assert!(change.bps.is_none_or(|bps| settings.bps == Some(bps)), "{path}: {settings:?}");
            }
        };
        let mut numbers = inject(&mut engine, 0, 1000);
        change(&mut engine, &rate(0));
        numbers.extend(inject(&mut engine, 1000, 1500));
        for (pipe, config) in &pipes {
            set_queue(&mut engine, *pipe, config, Choice::named(queue::ALL, "fq_codel"));
        }
        numbers.extend(inject(&mut engine, 1500, 2000));
        let mut short = Choice::of(&lasthop_net::admission::DEFAULT);
        short.values.set("packets", Value::Count(20));
        for (pipe, config) in &pipes {
            set_queue(&mut engine, *pipe, config, short.clone());
        }
        assert!(pipes.iter().all(|(pipe, _)| engine.backlog(*pipe).waiting <= 60), "{path}");
        change(&mut engine, &LinkChange { loss: Some(0.0), ..delay(30) });
        change(&mut engine, &rate(20_000_000));
        engine.run_until(at(20_000));
        let before = numbers.len();
        numbers.extend(inject(&mut engine, 20_000, 21_000));
        engine.run_until(at(60_000));
        let mut departures: Vec<Departure> = Vec::new();
        engine.take_departures(&mut departures);
        let mut ends: Vec<u64> = departures.iter().map(|one| one.number).collect();
        ends.sort_unstable();
        ends.dedup();
        let missing: Vec<&u64> =
            numbers.iter().filter(|number| ends.binary_search(number).is_err()).collect();
        assert!(missing.is_empty(), "{path}: {missing:?}");
        let lost = departures.iter().filter(|one| numbers[before..].contains(&one.number));
        let reasons: Vec<LossReason> = lost.filter_map(|one| one.lost.map(|(_, reason)| reason)).collect();
        assert_eq!(reasons, [], "{path}");
    }
}
