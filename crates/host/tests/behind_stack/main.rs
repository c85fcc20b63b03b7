//! Tests of flows between protocol stacks (trait `Stack`) in the simulator. The main test runs Lasthop's own TCP as a
//! stack that sends real packets. The goodput of this flow must equal the goodput of a native flow, which is simulated
//! without real packets.

mod own;
mod toy;

use lasthop_base::{Duration, Time};
use lasthop_engine::{Engine, FlowSide, NoEndpoint, StackFlow, Traffic};
use lasthop_scenario::{Draft, Scenario, Traffic as ScenarioTraffic};
use lasthop_sim::assemble::assemble_with;
use lasthop_stack::Stack;
use lasthop_wire::FlowId;
use own::Own;
use toy::{Fault, Toy};

fn scenario(path: &str, settings: &[(&str, &str)]) -> Scenario {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem}"))
}

fn stacks(ends: [Box<dyn Stack>; 2], bytes: Option<u64>) -> Traffic {
    Traffic::NoEndpoint(NoEndpoint::Stack(Box::new(StackFlow::new(ends, FlowSide::Source, bytes))))
}

/// Runs the scenario. The traffic that `make` returns replaces the first flow of the scenario.
fn run(scenario: &Scenario, seed: u64, make: impl Fn() -> Traffic) -> Engine {
    let mut engine = assemble_with(scenario, seed, &|flow| (flow == 0).then(&make));
    engine.run_until(Time::ZERO + scenario.duration);
    engine
}

fn goodput_kbps(scenario: &Scenario, engine: &Engine) -> f64 {
    let flow = engine.stack_flow(FlowId(0)).expect("a flow between stacks");
    assert_eq!(flow.failure(), None);
    flow.delivered()[0] as f64 * 8e-3 / scenario.duration.as_secs()
}

/// Lasthop's TCP as a stack with real packets must have the goodput of the native flow: with a full queue, with losses,
/// and with congestion control that paces. The send buffer of 4 MiB is too large to limit the goodput.
#[test]
fn our_tcp_behind_the_interface_is_our_tcp() {
    for (settings, tolerance) in [
        (&[("congestion", "cubic")][..], 1e-3),
        (&[("congestion", "cubic"), ("loss", "0.5%")], 1e-3),
        (&[("congestion", "reno"), ("loss", "0.5%")], 1e-3),
        (&[("congestion", "bbr"), ("loss", "0.5%")], 1e-3),
    ] {
        let path = "rate=10Mbit/s,rtt=60ms,queue=50packets,duration=20s";
        let scenario = scenario(path, settings);
        let ScenarioTraffic::Tcp { source, destination, .. } = &scenario.flows[0].traffic else {
            panic!("TCP")
        };
        let mtu = source.segment as u16 + 52;
        let make = || stacks(Own::pair([source, destination], mtu, 1), None);
        let behind = goodput_kbps(&scenario, &run(&scenario, 1, make));
        let native = lasthop_sim::run(&scenario, 1).flows[0].goodput_kbps();
        assert!((behind / native - 1.0).abs() < tolerance, "{settings:?}: {behind} behind, {native} native");
    }
}

/// A transfer ends when the destination has read the last byte. At the end, the simulator has freed all datagrams, even
/// if the path loses, duplicates or corrupts datagrams.
#[test]
fn a_transfer_completes_over_a_hostile_path() {
    let settings = [
        ("loss", "10%"),
        ("path.down.duplicate", "0.05"),
        ("path.down.corrupt", "0.02"),
        ("path.down.jitter", "random"),
    ];
    let scenario = scenario("rate=10Mbit/s,rtt=40ms,queue=50packets,duration=300s", &settings);
    let ScenarioTraffic::Tcp { source, destination, .. } = &scenario.flows[0].traffic else { panic!("TCP") };
    for seed in 1..=5 {
        let engine = run(&scenario, seed, || {
            stacks(Own::pair([source, destination], source.segment as u16 + 52, seed), Some(300_000))
        });
        let flow = engine.stack_flow(FlowId(0)).expect("stacks");
        assert_eq!((flow.failure(), flow.delivered()[0], flow.in_flight()), (None, 300_000, 0), "{seed}");
        assert!(engine.account(FlowId(0)).completed.is_some());
        let engine = run(&scenario, seed, || stacks(Toy::pair(20, Fault::None), Some(300_000)));
        let flow = engine.stack_flow(FlowId(0)).expect("stacks");
        assert_eq!(
            (flow.failure(), flow.delivered()[0], flow.in_flight()),
            (None, 300_000, 0),
            "toy, {seed}"
        );
    }
}

/// A stack with a fixed window of 20 datagrams of 1000 bytes must deliver 20,000 bytes per round-trip time. The
/// round-trip time is 40 ms plus the transmission times of a datagram and an ACK. A datagram has 1037 bytes on the
/// wire: 1000 bytes of payload, 9 bytes of the stack's header, and 28 bytes of UDP and IPv4 headers.
#[test]
fn a_window_stack_has_its_window_per_round_trip() {
    let scenario = scenario("rate=10Mbit/s,rtt=40ms,queue=50packets,duration=20s,headers=real", &[]);
    let engine = run(&scenario, 1, || stacks(Toy::pair(20, Fault::None), None));
    let round_trip = 0.040 + 1037.0 * 8.0 / 10e6 + 37.0 * 8.0 / 10e6;
    let expected = 20.0 * 8.0 / round_trip;
    let found = goodput_kbps(&scenario, &engine);
    assert!((found / expected - 1.0).abs() < 0.01, "{found} kbit/s, {expected} expected");
}

/// If a stack panics, sends without end, sends too large a datagram, or returns a timeout in the past, its own flow
/// ends with an error message. The other flow continues and uses the whole link.
#[test]
fn a_faulty_stack_ends_its_own_flow() {
    for (fault, message) in [
        (Fault::Panic, "panic: no such state"),
        (Fault::SendsWithoutEnd, "without end"),
        (Fault::PastDeadline, "deadlines in the past"),
        (Fault::TooLarge, "a datagram of 65536 bytes"),
    ] {
        let scenario = scenario("rate=10Mbit/s,rtt=40ms,queue=50packets,duration=20s", &[("count", "2")]);
        let engine = run(&scenario, 1, || stacks(Toy::pair(20, fault), None));
        let (at, reason) = engine.stack_flow(FlowId(0)).expect("stacks").failure().expect("a failure");
        assert!(reason.contains(message), "{fault:?}: {reason}");
        assert!(at < Time::ZERO + Duration::from_secs(1), "{fault:?}: {at}");
        let (_, destination) = engine.endpoints(FlowId(1)).expect("a TCP flow");
        let kbps = destination.delivered() as f64 * 8e-3 / 20.0;
        assert!(kbps > 8000.0, "{fault:?}: the other flow has {kbps} kbit/s");
    }
}

/// Two runs with the same seed deliver the same number of bytes and send the same number of datagrams.
#[test]
fn runs_repeat() {
    let scenario = scenario("rate=10Mbit/s,rtt=40ms,queue=50packets,loss=1%,duration=10s", &[]);
    let ScenarioTraffic::Tcp { source, destination, .. } = &scenario.flows[0].traffic else { panic!("TCP") };
    let once = || {
        let engine = run(&scenario, 3, || {
            stacks(Own::pair([source, destination], source.segment as u16 + 52, 3), None)
        });
        let flow = engine.stack_flow(FlowId(0)).expect("stacks");
        (flow.delivered(), flow.sent())
    };
    assert_eq!(once(), once());
}
