//! Tests that late creation and early release of connections do not change the results of runs with very many flows.

use lasthop_base::{Duration, Time};
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::assemble::assemble;
use lasthop_sim::{Observation, run, run_observed};
use lasthop_wire::FlowId;

fn scenario(path: &str, settings: &[(&str, &str)]) -> Scenario {
    let mut draft = Draft::load(path).unwrap();
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{problem}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem}"))
}

/// Compares two runs. The run with probes creates all connections at time zero and keeps them to the end. The other run
/// creates a connection at the flow's start, and releases a connection that has ended.
#[test]
fn flows_made_late_and_given_up_come_to_the_same() {
    let many =
        [("flow.bulk.count", "1200"), ("flow.bulk.start_spread", "15 s"), ("flow.bulk.transfer", "30 KB")];
    for (path, more) in [
        ("rate=50Mbit/s,rtt=40ms,queue=50packets,loss=1%,duration=20s,sample=5s", ("seed", "1")),
        ("rate=50Mbit/s,rtt=40ms,duration=20s,sample=5s", ("flow.bulk.time_wait", "100 ms")),
        ("rate=50Mbit/s,rtt=40ms,duration=20s,sample=5s", ("link.path.down.queue", "fq_codel")),
        ("rate=50Mbit/s,rtt=40ms,duration=20s,sample=5s", ("warmup", "6 s")),
        ("rate=5Mbit/s,rtt=40ms,queue=50packets,duration=20s,sample=5s,profile=plain", ("seed", "2")),
        ("hasegawa,duration=20s,sample=5s", ("flow.bulk.transfer", "2 KB")),
    ] {
        let scenario = scenario(path, &[&many[..], &[more]].concat());
        let kept = run_observed(&scenario, 3, Observation { probes: true, ..Observation::default() }).0;
        assert_eq!(run(&scenario, 3), kept, "{path} {more:?}");
        assert!(kept.flows.iter().filter(|flow| flow.account.completed.is_some()).count() > 100, "{path}");
    }
}

#[test]
fn little_is_kept_of_what_is_over() {
    let settings =
        [("flow.bulk.count", "1200"), ("flow.bulk.stagger", "10 ms"), ("flow.bulk.transfer", "30 KB")];
    let scenario = scenario("rate=50Mbit/s,rtt=40ms,queue=50packets,loss=1%,duration=20s", &settings);
    let mut engine = assemble(&scenario, 1);
    for (second, least, most) in [(0, 0, 0), (6, 500, 600), (20, 1150, 1200)] {
        engine.run_until(Time::ZERO + Duration::from_secs(second));
        let is_there = |flow: &u32| engine.endpoints(FlowId(*flow)).is_some();
        let given_up = (0..1200).filter(|flow| engine.released(FlowId(*flow)).is_some()).count();
        assert!((least..=most).contains(&given_up), "{second} s: {given_up}");
        assert!((0..1200).filter(is_there).count() < 60, "{second} s: too many connections exist");
    }
}

/// With a round trip of 200 ms, some 10,000 packets are in flight. Connections that have ended must still be released,
/// in groups of 4096 or more, and the results must be the same.
#[test]
fn connections_end_beside_very_many_packets() {
    let settings =
        [("flow.bulk.count", "12000"), ("flow.bulk.start_spread", "2 s"), ("flow.bulk.transfer", "30 KB")];
    let scenario = scenario("rate=10Gbit/s,rtt=200ms,duration=4s,sample=1s", &settings);
    let mut engine = assemble(&scenario, 1);
    engine.run_until(Time::ZERO + Duration::from_secs(4));
    let released = (0..12_000).filter(|flow| engine.released(FlowId(*flow)).is_some()).count();
    assert!(released >= 2 * 4096, "{released}");
    let kept = run_observed(&scenario, 1, Observation { probes: true, ..Observation::default() }).0;
    assert_eq!(run(&scenario, 1), kept);
}
