//! Tests of phase effects (Floyd and Jacobson 1992). Two flows of equal RTT at a drop-tail queue may fall into a fixed
//! phase, so that one flow gets most of the link. Random starts or random processing times of hosts prevent a fixed
//! phase. A scenario without random starts, random processing times and other random numbers is deterministic, and must
//! be reported as deterministic.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::{Draft, Scenario, ready_paths};
use lasthop_sim::{Observation, Outcome, is_deterministic, run, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{Body, FlowId, Packet};
use std::any::Any;

fn scenario(path: &str, settings: &[(&str, &str)]) -> Scenario {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem}"))
}

const TWO: &str = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=50packets,duration=60s";

fn two(settings: &[(&str, &str)]) -> Scenario {
    scenario(TWO, &[&[("flow.bulk.count", "2")], settings].concat())
}

fn jain(outcome: &Outcome) -> f64 {
    let goodputs = || outcome.flows.iter().map(|flow| flow.goodput_kbps());
    goodputs().sum::<f64>().powi(2) / (2.0 * goodputs().map(|it| it * it).sum::<f64>())
}

fn apart_from_the_seed(outcome: Outcome) -> Outcome {
    Outcome { seed: 0, ..outcome }
}

#[test]
fn starts_that_are_drawn_differ_and_flows_share_in_the_mean() {
    for setting in [("start_spread", "1 s"), ("processing", "1 ms")] {
        let scenario = two(&[setting]);
        let outcomes: Vec<Outcome> = (1..=20).map(|seed| run(&scenario, seed)).collect();
        let first: Vec<f64> = outcomes.iter().map(|outcome| outcome.flows[0].goodput_kbps()).collect();
        let mean = first.iter().sum::<f64>() / 20.0;
        let deviation = (first.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 19.0).sqrt();
        assert!(deviation > 10.0, "{setting:?}: {deviation}");
        // The flows are equal. Each flow must therefore get half of the total on average, within four standard errors.
        let total =
            outcomes.iter().map(|outcome| outcome.flows.iter().map(|flow| flow.goodput_kbps()).sum::<f64>());
        let half = total.sum::<f64>() / 40.0;
        assert!((mean - half).abs() < 4.0 * deviation / 20f64.sqrt(), "{setting:?}: {mean} of {half}");
        let fairness = outcomes.iter().map(jain).sum::<f64>() / 20.0;
        assert!(fairness > 0.9, "{setting:?}: {fairness}");
    }
}

#[test]
fn a_start_is_drawn_from_its_spread() {
    let scenario = two(&[("start", "2 s"), ("start_spread", "500 ms")]);
    let starts = (1..=200).flat_map(|seed| {
        let engine = lasthop_sim::assemble::assemble(&scenario, seed);
        [0, 1].map(|flow| engine.start(FlowId(flow)).since(Time::ZERO).as_secs())
    });
    let starts: Vec<f64> = starts.collect();
    assert!(starts.iter().all(|start| (2.0..2.5).contains(start)));
    // The starts are independent and uniform on a spread of 0.5 s. Their mean must be within five standard errors, each
    // 0.5 / sqrt(12 x 400).
    let mean = starts.iter().sum::<f64>() / 400.0;
    assert!((mean - 2.25).abs() < 5.0 * 0.5 / (12.0 * 400.0f64).sqrt(), "{mean}");
    assert!(starts.chunks(2).all(|pair| pair[0] != pair[1]));
}

/// Records the packets of a run: sequence numbers of new data in order of sending, packet numbers, and losses of the
/// first link.
#[derive(Default)]
struct PacketRecorder {
    new: Vec<u32>,
    acks: Vec<u32>,
    numbers: Vec<u64>,
    lost: Vec<usize>,
    offered: usize,
}

impl Observer for PacketRecorder {
    fn on_packet(&mut self, _: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let Body::Tcp(segment) = &packet.body else { return };
        self.numbers.push(packet.number);
        if packet.forward && segment.len > 0 && !packet.is_retransmission {
            self.new.push(segment.seq.0);
        }
        if !packet.forward {
            self.acks.push(segment.ack.0);
        }
        if pipe.0 == 0 {
            self.offered += 1;
            if let Fate::Lost(_) = fate {
                self.lost.push(self.offered);
            }
        }
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

fn observed(scenario: &Scenario) -> PacketRecorder {
    let observation =
        Observation { observers: vec![Box::new(PacketRecorder::default())], ..Observation::default() };
    let (_, _, mut observers) = run_observed(scenario, 1, observation);
    let any: Box<dyn Any> = observers.remove(0);
    *any.downcast::<PacketRecorder>().expect("the observer")
}

#[test]
fn processing_keeps_the_order_and_moves_no_other_draw() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=1000packets,loss=2%,duration=60s";
    let [off, on] = ["0 s", "5 ms"].map(|most| observed(&scenario(path, &[("processing", most)])));
    let ascend = |numbers: &[u32]| numbers.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) < 1 << 31);
    assert!(on.new.len() > 1000 && ascend(&on.new) && ascend(&on.acks));
    assert!(
        on.numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
        "packets are not numbered in order of sending"
    );
    // The channel must destroy packets at the same positions of its sequence, even if the packets arrive at other
    // times.
    let both = on.lost.len().min(off.lost.len());
    assert!(both > 20, "{both}");
    assert_eq!(on.lost[..both], off.lost[..both]);
}

#[test]
fn processing_adds_its_mean_at_both_ends() {
    // With one segment per round trip, there is no queueing. Random delays occur only in the two hosts, 5 ms each on
    // average.
    let settings = [
        ("processing", "10 ms"),
        ("segment", "1000 bytes"),
        ("receiver.window.size", "1000 bytes"),
        ("ack_policy", "immediate"),
        ("timestamps", "false"),
        ("sack", "false"),
        ("recovery", "new_reno"),
        ("duration", "120 s"),
    ];
    let outcome = run(&scenario("profile=plain,rate=100Mbit/s,rtt=100ms,queue=10packets", &settings), 1);
    let rtt = 0.1 + (1040.0 + 40.0) * 8.0 / 100e6 + 0.01;
    // The run has about 1080 round trips. Each has two uniform delays of up to 10 ms, whose sum has a standard
    // deviation of 10 ms x sqrt(2 / 12).
    let error = 0.01 * (2.0f64 / 12.0).sqrt() / 1080f64.sqrt();
    let mean = outcome.flows[0].mean_rtt_s.expect("measured");
    assert!((mean - rtt).abs() < 4.0 * error, "{mean} {rtt}");
}

#[test]
fn no_processing_and_no_spread_are_as_before() {
    let path = "profile=plain,rate=5Mbit/s,rtt=30ms,queue=20packets,loss=0.5%,duration=10s";
    let plain = run(&scenario(path, &[("flow.bulk.count", "3")]), 1);
    let off = [("flow.bulk.count", "3"), ("processing", "0 s"), ("start_spread", "0 s")];
    assert_eq!(plain, run(&scenario(path, &off), 1));
}

#[test]
fn what_is_said_to_be_deterministic_is() {
    let mut deterministic = 0;
    for name in ready_paths() {
        let scenario = scenario(name, &[("duration", "20 s")]);
        let equal = apart_from_the_seed(run(&scenario, 1)) == apart_from_the_seed(run(&scenario, 2));
        assert_eq!(is_deterministic(&scenario), equal, "{name}");
        deterministic += u32::from(equal);
    }
    assert!(deterministic > 0);
    let is = |settings: &[(&str, &str)]| is_deterministic(&two(settings));
    assert!(is(&[]) && is(&[("congestion", "cubic")]) && is(&[("queue", "warn")]));
    assert!(is(&[("link.path.down.channel", "scripted")]) && is(&[("link.path.down.queue", "tag_drop")]));
    for setting in [
        ("start_spread", "1 ms"),
        ("processing", "1 us"),
        ("link.path.up.channel", "{ kind = \"iid\", loss = 0.01 }"),
        ("link.path.down.queue", "red"),
        ("receiver.loss_discrimination", "rtt"),
    ] {
        assert!(!is(&[setting]), "{setting:?}");
    }
}
