//! Tests of TLS 1.3 in place of null cryptography: `cargo test -p lasthop-quic --features tls --test tls`.
#![cfg(feature = "tls")]

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::Draft;
use lasthop_sim::{Observation, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};

/// Sizes on the link of the datagrams that each end sends, with their times.
#[derive(Default)]
struct Sizes(Vec<(Time, bool, u32)>);

impl Observer for Sizes {
    fn on_packet(&mut self, now: Time, _: PipeId, packet: &Packet, _: Fate) {
        self.0.push((now, packet.forward, packet.wire_bytes));
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

/// Runs a transfer of 300 KB over a path with losses. Returns the sizes of all datagrams, and the completion time in s.
fn run(stack: &str, crypto: &str) -> (Vec<(Time, bool, u32)>, f64) {
    let mut draft =
        Draft::load("rate=10Mbit/s,rtt=60ms,queue=50packets,loss=1%,duration=20s").expect("a path");
    for (key, value) in [("kind", "quic"), ("transfer", "300 KB"), ("stack", stack), ("stack.crypto", crypto)]
    {
        draft.set(&format!("flow.bulk.{key}"), value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    let observers: Vec<Box<dyn Observer>> = vec![Box::new(Sizes::default())];
    let observation = Observation { observers, ..Observation::default() };
    let (outcome, _, mut observers) = run_observed(&draft.check().expect("a scenario"), 1, observation);
    let flow = &outcome.flows[0];
    assert_eq!(flow.failure, None, "{stack}, {crypto}");
    assert!(flow.account.completed.is_some(), "{stack}, {crypto}");
    let observer: Box<dyn std::any::Any> = observers.remove(0);
    let sizes = observer.downcast::<Sizes>().unwrap_or_else(|_| panic!("the observer"));
    (sizes.0, flow.active_s)
}

/// Keys are random, but sizes are not: equal runs have datagrams of equal sizes at equal times.
#[test]
fn sizes_and_times_repeat() {
    for stack in ["noq", "quinn"] {
        let (first, _) = run(stack, "tls");
        assert!(first.len() > 300, "{stack}");
        assert!(first == run(stack, "tls").0, "{stack}");
    }
}

/// Null cryptography has the flights of TLS: as many datagrams, and as many bytes except for the server's certificate
/// (shorter here than the null cryptography's 900 bytes of messages) and session tickets (165 bytes more). A difference
/// of at most 100 bytes before the data takes 0.08 ms at 10 Mbit/s.
#[test]
fn null_cryptography_has_the_sizes_of_tls() {
    for stack in ["noq", "quinn"] {
        let ((tls, tls_s), (null, null_s)) = (run(stack, "tls"), run(stack, "null"));
        assert_eq!((tls.len(), tls[0]), (null.len(), null[0]), "{stack}");
        for (forward, most) in [(true, 100), (false, 300)] {
            let bytes = |all: &[(Time, bool, u32)]| -> u32 {
                all.iter().filter(|it| it.1 == forward).map(|it| it.2).sum()
            };
            let difference = bytes(&tls).abs_diff(bytes(&null));
            assert!(difference <= most, "{stack}: {difference} bytes");
        }
        assert!((tls_s - null_s).abs() < 0.000_08, "{stack}: {tls_s} {null_s}");
    }
}
