//! QUIC flows in the simulator: transfers, losses, shares, repetition.

use lasthop_base::Time;
use lasthop_engine::{Engine, FlowSide, NoEndpoint, StackFlow, Traffic};
use lasthop_quic::{Congestion, Quic, Settings};
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::assemble::assemble_with;
use lasthop_wire::FlowId;

fn scenario(path: &str, settings: &[(&str, &str)]) -> Scenario {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem}"))
}

/// Runs the scenario with a QUIC download in place of its first flow: the destination opens the connection.
fn run(scenario: &Scenario, settings: &Settings, bytes: Option<u64>) -> Engine {
    let make = || {
        let ends = Quic::pair(settings, false);
        Traffic::NoEndpoint(NoEndpoint::Stack(Box::new(StackFlow::new(ends, FlowSide::Destination, bytes))))
    };
    let mut engine = assemble_with(scenario, settings.seed, &|flow| (flow == 0).then(make));
    engine.run_until(Time::ZERO + scenario.duration);
    engine
}

fn delivered(engine: &Engine) -> u64 {
    let flow = engine.stack_flow(FlowId(0)).expect("a flow between stacks");
    assert_eq!(flow.failure(), None);
    flow.delivered()[0]
}

/// Every congestion control with a name in QUIC stacks is one of quinn-proto's controls.
#[test]
fn controls_have_the_names_of_the_catalogue() {
    let catalogue = lasthop_scenario::Catalogue::default();
    let mechanisms = &catalogue.tcp.congestion.info().mechanisms;
    let names: Vec<&str> = mechanisms.iter().filter_map(|info| info.quic_name).collect();
    assert_eq!(names.len(), Congestion::ALL.len());
    assert!(names.iter().all(|name| Congestion::named(name).is_some()), "{names:?}");
}

/// Without losses, a download fills the link. A datagram of 1472 bytes has 1500 bytes on the link and at least 1435 bytes
/// of payload: 37 bytes are a short header (at most 13), a stream frame's header (8) and the tag (16).
#[test]
fn a_download_fills_a_clean_link() {
    let scenario = scenario("rate=10Mbit/s,rtt=60ms,queue=1bdp,duration=20s", &[]);
    let engine = run(&scenario, &Settings::default(), None);
    let share = delivered(&engine) as f64 * 8.0 / 20.0 / 10e6;
    assert!(share > 0.93 * 1435.0 / 1500.0 && share < 1456.0 / 1500.0, "{share}");
}

/// Every byte arrives over paths with losses, copies, damage and reordering, and no datagram is left in flight.
#[test]
fn transfers_complete_over_hostile_paths() {
    for (name, settings) in [
        (
            "losses both ways",
            &[
                ("path.down.channel", "iid"),
                ("path.down.channel.loss", "0.2"),
                ("path.up.channel", "iid"),
                ("path.up.channel.loss", "0.2"),
            ][..],
        ),
        ("copies", &[("path.down.duplicate", "0.1"), ("path.up.duplicate", "0.1")]),
        ("reordering", &[("path.down.jitter", "random"), ("path.down.corrupt", "0.02")]),
    ] {
        let scenario = scenario("rate=10Mbit/s,rtt=40ms,queue=50packets,duration=900s", settings);
        for seed in 1..=8 {
            for congestion in [Congestion::Cubic, Congestion::NewReno] {
                let settings = Settings { seed, congestion, ..Settings::default() };
                let engine = run(&scenario, &settings, Some(300_000));
                let flow = engine.stack_flow(FlowId(0)).expect("stacks");
                assert_eq!(
                    (flow.failure(), flow.delivered()[0]),
                    (None, 300_000),
                    "{name}, {seed}, {congestion:?}"
                );
                assert!(engine.account(FlowId(0)).completed.is_some(), "{name}, {seed}");
                assert_eq!(flow.in_flight(), 0, "{name}, {seed}");
            }
        }
    }
}

/// Equal seeds give equal runs, and other seeds other connection identifiers.
#[test]
fn runs_repeat() {
    let scenario = scenario("rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,duration=20s", &[]);
    let once = |seed| {
        let engine = run(&scenario, &Settings { seed, ..Settings::default() }, None);
        let flow = engine.stack_flow(FlowId(0)).expect("stacks");
        (flow.delivered(), flow.sent(), flow.in_flight())
    };
    assert_eq!(once(3), once(3));
    assert_ne!(once(3), once(4));
}

/// A QUIC flow and a TCP flow share a link: both get a part, and the link stays full.
#[test]
fn quic_and_tcp_share_a_link() {
    let scenario = scenario("rate=10Mbit/s,rtt=40ms,queue=1bdp,duration=60s,count=2,congestion=cubic", &[]);
    let engine = run(&scenario, &Settings::default(), None);
    let quic = delivered(&engine) as f64 * 8.0 / 60.0;
    let (_, destination) = engine.endpoints(FlowId(1)).expect("TCP");
    let tcp = destination.delivered() as f64 * 8.0 / 60.0;
    assert!(quic > 1e6 && tcp > 1e6 && quic + tcp > 9e6, "{quic} {tcp}");
}

/// An initial MTU of 1200 without discovery leaves 1200 - 37 bytes of payload in 1228 bytes on the link, at least.
#[test]
fn small_datagrams_have_their_overhead() {
    let scenario = scenario("rate=10Mbit/s,rtt=60ms,queue=1bdp,duration=20s", &[]);
    let of = |initial_mtu, largest_mtu| {
        let settings = Settings { initial_mtu, largest_mtu, ..Settings::default() };
        delivered(&run(&scenario, &settings, None)) as f64
    };
    let (small, discovered, full) = (of(1200, 1200), of(1200, 1472), of(1472, 1472));
    let expected = (1163.0 / 1228.0) / (1435.0 / 1500.0);
    assert!((small / full / expected - 1.0).abs() < 0.01, "{}", small / full);
    assert!(discovered > 0.99 * full, "{}", discovered / full);
}
