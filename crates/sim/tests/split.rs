//! Tests of a connection split at the base station: retransmissions and RTTs of each half, and the data held by the
//! station.

use lasthop_base::{Duration, Time};
use lasthop_engine::{NodeId, Observer};
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::assemble::assemble;
use lasthop_sim::pcap::SourceCapture;
use lasthop_sim::trace::Trace;
use lasthop_sim::{FlowOutcome, Observation, run, run_observed};
use lasthop_wire::FlowId;
use std::any::Any;

/// Builds a path of a wired link (10 Mbit/s, RTT of 20 ms) and a radio link (2 Mbit/s, RTT of 100 ms). The transfer has
/// 2 MB.
fn path(settings: &[(&str, &str)]) -> Scenario {
    let text = r#"
        duration = "120 s"
        [link.wired]
        from = "server"
        to = "bs"
        rate = "10 Mbit/s"
        one_way_delay = "10 ms"
        [link.air]
        from = "bs"
        to = "client"
        rate = "2 Mbit/s"
        one_way_delay = "50 ms"
        [node.bs]
        middlebox = "split"
        [flow.bulk]
        from = "server"
        to = "client"
        transfer = "2 MB"
    "#;
    let mut draft = Draft::parse(text, "split.toml").expect("TOML");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem:?}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem:?}"))
}

const MIDDLEBOX: &str = "node.bs.middlebox";
const AIR: (&str, &str) = ("link.air.down.channel", "{ kind = \"iid\", loss = 0.03 }");
const AIR_UP: (&str, &str) = ("link.air.up.channel", "{ kind = \"iid\", loss = 0.03 }");
const WIRE: (&str, &str) = ("link.wired.down.channel", "{ kind = \"iid\", loss = 0.01 }");
const WIRE_UP: (&str, &str) = ("link.wired.up.channel", "{ kind = \"iid\", loss = 0.01 }");

fn flow(scenario: &Scenario, seed: u64) -> FlowOutcome {
    run(scenario, seed).flows.remove(0)
}

#[test]
fn every_byte_arrives_whatever_is_lost_and_both_ends_close() {
    for settings in [&[][..], &[(MIDDLEBOX, "{ kind = \"split\", handshake = \"near\" }")]] {
        for losses in [&[][..], &[AIR, AIR_UP], &[WIRE, WIRE_UP], &[AIR, AIR_UP, WIRE, WIRE_UP]] {
            let scenario = path(&[settings, losses].concat());
            for seed in 1..=5 {
                let mut engine = assemble(&scenario, seed);
                engine.run_until(Time::ZERO + scenario.duration);
                let (_, client) = engine.endpoints(FlowId(0)).expect("TCP");
                assert_eq!(client.delivered(), 2_000_000, "seed {seed}, {losses:?}");
                assert!(engine.is_done() && client.ended().is_some(), "seed {seed}, {losses:?}");
                assert!(engine.account(FlowId(0)).completed.is_some());
            }
        }
    }
}

#[test]
fn what_the_air_loses_is_not_sent_again_over_the_wire() {
    let (plain, split) = (
        path(&[AIR, (MIDDLEBOX, "none")]),
        path(&[
            AIR,
            (MIDDLEBOX, "{ kind = \"split\", buffer = \"4 MB\" }"),
            ("link.wired.down.queue", "unlimited"),
        ]),
    );
    for seed in 1..=5 {
        assert!(flow(&plain, seed).source.retransmitted > 20);
        let flow = flow(&split, seed);
        assert_eq!((flow.source.retransmitted, flow.source.recoveries, flow.source.timeouts), (0, 0, 0));
    }
}

#[test]
fn the_servers_round_trip_has_no_air_in_it() {
    let flow = flow(&path(&[AIR]), 1);
    // The server's RTT has three parts: 20 ms of propagation, at most 52 ms in the wired queue (64 KiB at 10 Mbit/s),
    // and sometimes a delayed ACK (200 ms). The radio link must not contribute.
    assert!(flow.smallest_rtt_s.expect("measured") < 0.0225);
    assert!(flow.mean_rtt_s.expect("measured") < 0.080);
}

/// The radio link carries nothing for 10 s. The receive window that the node advertises must close, so the node must
/// hold no more data than its buffer.
#[test]
fn the_node_holds_no_more_than_its_buffer() {
    let silent = ("link.air.down.plan", "2 Mbit/s for 3 s, 1 bit/s for 10 s, 2 Mbit/s for 107 s");
    let scenario = path(&[silent, ("link.air.down.queue", "unlimited")]);
    let mut engine = assemble(&scenario, 1);
    let (mut most, mut at) = (0, Time::ZERO);
    while at < Time::ZERO + scenario.duration {
        engine.run_until(at);
        let (server, client) = engine.endpoints(FlowId(0)).expect("TCP");
        let acknowledged = server.sender().scoreboard().una().saturating_sub(1).min(2_000_000);
        most = most.max(acknowledged.saturating_sub(client.delivered()));
        at += Duration::from_millis(10);
    }
    // The count includes data that has crossed the air but is not acknowledged yet. The data at the node must never
    // exceed the buffer, and must nearly fill it.
    assert!(most <= 65_536, "{most}");
    assert!(most > 50_000, "{most}");
    let (_, client) = engine.endpoints(FlowId(0)).expect("TCP");
    assert_eq!(client.delivered(), 2_000_000);
}

#[test]
fn all_that_comes_is_received_and_all_that_leaves_is_its_own() {
    let scenario = path(&[AIR]);
    let mut engine = assemble(&scenario, 1);
    engine.run_until(Time::ZERO + scenario.duration);
    let account = engine.node_account(NodeId(1)).expect("a box");
    assert_eq!((account.forwarded, account.repeated, account.dropped), (0, 0, 0));
    assert_eq!(account.received, account.arrived);
    assert!(account.created > 2_000_000 / 1448);
}

#[test]
fn captures_and_traces_know_the_node() {
    let scenario = path(&[AIR, ("duration", "5 s")]);
    let observers: Vec<Box<dyn Observer>> = vec![
        Box::new(SourceCapture::new(&scenario, Vec::new(), None).expect("memory")),
        Box::new(Trace::new(&scenario, Vec::new())),
    ];
    let (outcome, _, observers) =
        run_observed(&scenario, 1, Observation { observers, ..Observation::default() });
    let mut observers = observers.into_iter().map(|observer| observer as Box<dyn Any>);
    let capture =
        observers.next().and_then(|any| any.downcast::<SourceCapture<Vec<u8>>>().ok()).expect("first");
    let capture = String::from_utf8_lossy(&capture.finish().expect("memory")).into_owned();
    let account = &outcome.flows[0].account;
    // The capture must have one comment for each packet of the server that reached the node. Other packets were still
    // on the wire at the end.
    let received = capture.matches("received by the middlebox of bs").count() as u64;
    assert_eq!(received, account.received[0]);
    assert!(received > 100);
    let trace = observers.next().and_then(|any| any.downcast::<Trace<Vec<u8>>>().ok()).expect("second");
    let trace = String::from_utf8(trace.finish().expect("memory")).expect("text");
    let kind = |kind: &str| {
        trace.lines().filter(|line| line.contains(&format!("\"kind\":\"{kind}\""))).count() as u64
    };
    assert_eq!(kind("made"), account.created.iter().sum::<u64>());
    assert_eq!(kind("received"), account.received.iter().sum::<u64>());
    assert!(trace.contains("\"node\":\"bs\""));
}
