//! Flows between stacks in the simulator. The check of the interface is this workspace's TCP with real packets: behind the
//! interface, a flow must have the numbers of the same flow without packets.

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

/// Runs the scenario with the traffic of `make` in place of its first flow.
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

/// Our TCP with real packets behind the interface must have the goodput of the native flow: with losses, with a full
/// queue, and with a pacing control. The sender's application writes through a socket of 4 MiB, which limits nothing.
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

/// A transfer ends when the destination has read its last byte. The bytes of all datagrams are freed at the end, also
/// after losses, copies and damage.
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

/// A window of 20 datagrams of 1000 bytes and a round trip of 40 ms plus transmission: 20 x 1000 bytes per round trip. The
/// datagram has 1037 bytes on the wire (9 bytes of its own header, 28 of UDP and IPv4).
#[test]
fn a_window_stack_has_its_window_per_round_trip() {
    let scenario = scenario("rate=10Mbit/s,rtt=40ms,queue=50packets,duration=20s,headers=real", &[]);
    let engine = run(&scenario, 1, || stacks(Toy::pair(20, Fault::None), None));
    let round_trip = 0.040 + 1037.0 * 8.0 / 10e6 + 37.0 * 8.0 / 10e6;
    let expected = 20.0 * 8.0 / round_trip;
    let found = goodput_kbps(&scenario, &engine);
    assert!((found / expected - 1.0).abs() < 0.01, "{found} kbit/s, {expected} expected");
}

/// A stack that panics, sends without end, sends too large a datagram, or requests a deadline in the past ends its own
/// flow with a message. The other flow goes on with the rest of the link.
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

/// The same seed gives the same delivery and the same number of datagrams.
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
