//! Tests of smoltcp's TCP in the simulator.

use lasthop_scenario::Catalogue;
use lasthop_sim::Outcome;
use lasthop_smoltcp::SMOLTCP;

fn run(path: &str, settings: &[(&str, &str)]) -> Outcome {
    let mut catalogue = Catalogue::default();
    catalogue.transport.stack.add(&SMOLTCP);
    let mut draft = catalogue.load(path).expect("a path");
    for (key, value) in [&[("flow.bulk.kind", "quic"), ("stack", "smoltcp")], settings].concat() {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    lasthop_sim::run(&draft.check().expect("a scenario"), 3)
}

/// A packet of 1500 bytes has 1460 bytes of payload: smoltcp sends no timestamps. The queue has room for the whole receive
/// window of 1 MB, because smoltcp recovers slowly from many losses in
/// one window: its sender ignores SACK blocks.
#[test]
fn a_clean_link_is_filled() {
    let flow = &run("rate=10Mbit/s,rtt=60ms,queue=1000packets,duration=20s", &[]).flows[0];
    assert_eq!(flow.failure, None);
    let share = flow.goodput_kbps() / (1460.0 / 1500.0 * 10_000.0);
    assert!(share > 0.95 && share <= 1.0, "{share}");
}

#[test]
fn transfers_complete_over_losses() {
    for control in ["cubic", "reno"] {
        let path = "rate=10Mbit/s,rtt=40ms,loss=5%,transfer=1MB,duration=300s";
        let flow = &run(path, &[("stack.control", control)]).flows[0];
        assert_eq!((flow.delivered_bytes, &flow.failure), (1_000_000, &None), "{control}");
        assert!(flow.account.completed.is_some(), "{control}");
    }
}

/// With requests, the destination opens the connection.
#[test]
fn requests_are_answered() {
    let path = "rate=10Mbit/s,rtt=40ms,request=400bytes,response=20KB,think=100ms,exchanges=10,duration=30s";
    let flow = &run(path, &[]).flows[0];
    let responses = flow.exchanges.as_deref().expect("requests");
    assert!(responses.len() == 10 && responses.iter().all(|it| it.is_complete), "{responses:?}");
}

/// Equal seeds give equal runs.
#[test]
fn runs_repeat() {
    let of = || run("rate=10Mbit/s,rtt=40ms,loss=1%,duration=10s", &[]).flows[0].delivered_bytes;
    assert_eq!(of(), of());
}
