//! Tests of QUIC flows in the simulator: transfers, losses, shares of a link, and repetition.

use lasthop_base::{Choice, Duration, Time};
use lasthop_engine::{Engine, FlowSide, NoEndpoint, StackFlow, Traffic};
use lasthop_quic::{Congestion, Settings, pair};
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::assemble::assemble_with;
use lasthop_stack::quic::{self, Library};
use lasthop_tcp::Config;
use lasthop_tcp::sender::congestion;
use lasthop_wire::{FlowId, LossReason};
use std::sync::Arc;

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
        let ends = pair(settings, false);
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

/// Settings of a stack of this library.
fn stack(library: Library) -> quic::Settings {
    quic::Settings { implementation: library, ..quic::Settings::default() }
}

/// Returns settings of each library with each of its own controls, and settings of noq with three controls of
/// `lasthop-tcp`.
fn all_stacks() -> Vec<(String, Settings)> {
    let mut all = Vec::new();
    for library in [Library::Noq, Library::Quinn] {
        for (name, congestion) in Congestion::OWN {
            let settings = Settings { stack: stack(library), congestion, ..Settings::default() };
            all.push((format!("{library:?} {name}"), settings));
        }
    }
    for name in ["reno", "cubic", "bbr", "bbr3", "vegas"] {
        let congestion = Congestion::Lasthop(Arc::new(Config {
            congestion: Choice::named(congestion::ALL, name),
            ..Config::default()
        }));
        all.push((format!("Noq, Lasthop's {name}"), Settings { congestion, ..Settings::default() }));
    }
    all
}

/// The names of the libraries' own controls must be those that the catalogue has for QUIC.
#[test]
fn controls_have_the_names_of_the_catalogue() {
    let catalogue = lasthop_scenario::Catalogue::default();
    let mechanisms = &catalogue.tcp.congestion.info().mechanisms;
    let mut names: Vec<&str> = mechanisms.iter().filter_map(|info| info.quic_name).collect();
    let mut own = Congestion::OWN.map(|(name, _)| name);
    names.sort_unstable();
    own.sort_unstable();
    assert_eq!(names, own);
}

/// Without losses, a download must fill the link. A datagram of 1472 bytes has 1500 bytes on the link and at least 1435
/// bytes of payload. The difference of 37 bytes is a short header (at most 13), a stream frame's header (8) and the tag
/// (16).
#[test]
fn a_download_fills_a_clean_link() {
    let scenario = scenario("rate=10Mbit/s,rtt=60ms,queue=1bdp,duration=20s", &[]);
    for (name, settings) in all_stacks() {
        let engine = run(&scenario, &settings, None);
        let share = delivered(&engine) as f64 * 8.0 / 20.0 / 10e6;
        assert!(share > 0.93 * 1435.0 / 1500.0 && share < 1456.0 / 1500.0, "{name}: {share}");
    }
}

/// Every byte must arrive over paths with losses, copies, damage and reordering, and no datagram may be left in flight.
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
        for (stack, settings) in all_stacks() {
            for seed in 1..=4 {
                let settings = Settings { seed, ..settings.clone() };
                let engine = run(&scenario, &settings, Some(300_000));
                let flow = engine.stack_flow(FlowId(0)).expect("stacks");
                assert_eq!((flow.failure(), flow.delivered()[0]), (None, 300_000), "{name}, {stack}, {seed}");
                assert!(engine.account(FlowId(0)).completed.is_some(), "{name}, {stack}, {seed}");
                assert_eq!(flow.in_flight(), 0, "{name}, {stack}, {seed}");
            }
        }
    }
}

/// Runs with equal seeds must be equal. Runs with different seeds must differ in their connection identifiers.
#[test]
fn runs_repeat() {
    let scenario = scenario("rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,duration=20s", &[]);
    for (name, settings) in all_stacks() {
        let once = |seed| {
            let engine = run(&scenario, &Settings { seed, ..settings.clone() }, None);
            let flow = engine.stack_flow(FlowId(0)).expect("stacks");
            (flow.delivered(), flow.sent(), flow.in_flight())
        };
        assert_eq!(once(3), once(3), "{name}");
        assert_ne!(once(3), once(4), "{name}");
    }
}

/// A QUIC flow and a TCP flow share a link. Each flow must get at least 1 Mbit/s, and the link must stay full.
#[test]
fn quic_and_tcp_share_a_link() {
    let scenario = scenario("rate=10Mbit/s,rtt=40ms,queue=1bdp,duration=60s,count=2,congestion=cubic", &[]);
    let engine = run(&scenario, &Settings::default(), None);
    let quic = delivered(&engine) as f64 * 8.0 / 60.0;
    let (_, destination) = engine.endpoints(FlowId(1)).expect("TCP");
    let tcp = destination.delivered() as f64 * 8.0 / 60.0;
    assert!(quic > 1e6 && tcp > 1e6 && quic + tcp > 9e6, "{quic} {tcp}");
}

/// With an initial MTU of 1200 and no discovery, packets of 1228 bytes on the link carry at least 1200 - 37 bytes of
/// payload.
#[test]
fn small_datagrams_have_their_overhead() {
    let scenario = scenario("rate=10Mbit/s,rtt=60ms,queue=1bdp,duration=20s", &[]);
    let of = |datagram, discovers_mtu| {
        let stack = quic::Settings { discovers_mtu, ..quic::Settings::default() };
        delivered(&run(&scenario, &Settings { stack, datagram, ..Settings::default() }, None)) as f64
    };
    let (small, discovered, full) = (of(1200, false), of(1472, true), of(1472, false));
    let expected = (1163.0 / 1228.0) / (1435.0 / 1500.0);
    assert!((small / full / expected - 1.0).abs() < 0.01, "{}", small / full);
    assert!(discovered > 0.99 * full, "{}", discovered / full);
}

/// If the sender requests an ACK for every tenth packet instead of every second, the destination must send a fifth of
/// the datagrams.
#[test]
fn the_sender_requests_fewer_acks() {
    let scenario = scenario("rate=10Mbit/s,rtt=60ms,queue=1bdp,duration=20s", &[]);
    for library in [Library::Noq, Library::Quinn] {
        let of = |packets_per_ack, max_ack_delay| {
            let max_ack_delay = Duration::from_millis(max_ack_delay);
            let stack = quic::Settings { packets_per_ack, max_ack_delay, ..stack(library) };
            let engine = run(&scenario, &Settings { stack, ..Settings::default() }, None);
            let [data, acks] = engine.stack_flow(FlowId(0)).expect("stacks").sent();
            data as f64 / acks as f64
        };
        let (usual, rare, timed) = (of(2, 25), of(10, 25), of(1000, 1));
        assert!((usual - 2.0).abs() < 0.1 && rare > 8.0, "{library:?}: {usual}, {rare} packets per ACK");
        // A full datagram takes 1.2 ms on the link, so the maximum ACK delay of 1 ms ends before the next packet
        // arrives.
        assert!(timed < 1.5, "{library:?}: {timed} packets per ACK");
    }
}

/// A flow control window below the BDP must limit goodput to at most one window per RTT.
#[test]
fn a_flow_control_window_limits_goodput() {
    let scenario = scenario("rate=10Mbit/s,rtt=100ms,queue=1bdp,duration=20s", &[]);
    for library in [Library::Noq, Library::Quinn] {
        let stack = quic::Settings { receive_window: 50_000, ..stack(library) };
        let bytes = delivered(&run(&scenario, &Settings { stack, ..Settings::default() }, None)) as f64;
        let windows = bytes / 50_000.0 / (20.0 / 0.1);
        assert!(windows > 0.6 && windows <= 1.0, "{library:?}: {windows} windows per RTT");
    }
}

/// An initial window of 40 datagrams sent at once overflows a queue of 20 packets. Paced datagrams must overflow the
/// queue rarely (BBR begins with 2.77 windows per RTT) or not at all.
#[test]
fn pacing_spreads_the_initial_window() {
    let scenario = scenario("rate=10Mbit/s,rtt=60ms,queue=20packets,duration=10s", &[]);
    for (name, settings) in
        all_stacks().into_iter().filter(|(_, settings)| settings.stack.implementation == Library::Noq)
    {
        let overflows = |is_paced| {
            let stack = quic::Settings { is_paced, ..settings.stack };
            let settings = Settings { stack, initial_window: Some(40 * 1472), ..settings.clone() };
            let engine = run(&scenario, &settings, Some(50_000));
            assert!(engine.account(FlowId(0)).completed.is_some(), "{name}");
            engine.account(FlowId(0)).lost[LossReason::QueueFull]
        };
        let (paced, burst) = (overflows(true), overflows(false));
        assert!(4 * paced < burst, "{name}: {paced} with pacing, {burst} without");
    }
}

/// A control of `lasthop-tcp` must have a similar goodput under noq and under TCP. TCP's Reno counts an ACK of two
/// segments as one (RFC 5681), so the test uses byte counting, with which both grow equally fast.
#[test]
fn a_control_has_a_similar_goodput_under_both_transports() {
    let path = "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,duration=120s";
    for name in ["reno", "cubic", "bbr"] {
        let settings = [("congestion", name), ("ack_counting", "bytes"), ("reduction", "at_once")];
        let goodput = |kind: &str| -> f64 {
            let scenario = scenario(
                path,
                &[&settings[..], &[("flow.bulk.kind", kind), ("flow.bulk.stack.control", "lasthop")]]
                    .concat(),
            );
            let outcome = lasthop_sim::run(&scenario, 1);
            outcome.flows[0].delivered_bytes as f64
        };
        let (tcp, quic) = (goodput("tcp"), goodput("quic"));
        assert!((quic / tcp - 1.0).abs() < 0.25, "{name}: {tcp} bytes by TCP, {quic} by QUIC");
    }
}
