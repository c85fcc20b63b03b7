//! CUBIC with random sequences of ACKs and congestion signals.

mod fluid;

use fluid::{MSS, cubic};
use lasthop_base::{Choice, Duration, Time, Value};
use lasthop_tcp::sender::ack_counting::{self, AckCounting};
use lasthop_tcp::sender::congestion::{AckEvent, CongestionControl, Level, LossEvent, LossPhase, Recovered};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Ack { millis: u64, acked: u64, flight: u64, rtt: Option<u64>, phase: u8, held: bool },
    Loss(u64),
    Restart(u64),
    Timeout(u64, bool),
    Mark(u64),
    Idle(u64),
    Recovered(u8, u64),
}

fn op() -> impl Strategy<Value = Op> {
    let size = || prop_oneof![0..5000u64, 0..3_000_000u64, Just(1 << 31)];
    let time = prop_oneof![0..200u64, Just(86_400_000), Just(1 << 43)];
    let ack = (time, size(), size(), prop::option::of(0..100_000u64), 0..3u8, prop::bool::weighted(0.1));
    prop_oneof![
        12 => ack.prop_map(|(millis, acked, flight, rtt, phase, held)| Op::Ack { millis, acked, flight, rtt, phase, held }),
        1 => size().prop_map(Op::Loss),
        1 => size().prop_map(Op::Restart),
        1 => (size(), any::<bool>()).prop_map(|(flight, first)| Op::Timeout(flight, first)),
        1 => size().prop_map(Op::Mark),
        1 => (1000..100_000u64).prop_map(Op::Idle),
        2 => (0..3u8, 1000..(1u64 << 30)).prop_map(|(kind, window)| Op::Recovered(kind, window)),
    ]
}

fn play(control: &mut dyn CongestionControl, ack_counting: &mut dyn AckCounting, ops: &[Op]) -> Vec<u64> {
    let mut now = Time::ZERO;
    let mut windows = Vec::new();
    for op in ops {
        let before = control.window();
        let loss = |flight: u64| LossEvent { now, flight, window: flight, ..LossEvent::default() };
        match *op {
            Op::Ack { millis, acked, flight, rtt, phase, held } => {
                now = Time::from_nanos(now.as_nanos().saturating_add(millis * 1_000_000));
                let rtt = rtt.map(Duration::from_millis);
                let ack = AckEvent {
                    now,
                    phase: [LossPhase::Open, LossPhase::Recovery, LossPhase::Restart][usize::from(phase)],
                    acked,
                    segments: acked.div_ceil(MSS) as u32,
                    delivered: acked,
                    rtt,
                    srtt: rtt,
                    in_flight: flight,
                    held,
                    ..AckEvent::default()
                };
                control.on_ack(&ack, ack_counting);
                assert!(control.window() >= before, "an ACK has lowered cwnd");
            }
            Op::Loss(flight) => control.on_loss(&loss(flight)),
            Op::Restart(flight) => control.on_restart(&loss(flight)),
            Op::Timeout(flight, first) => control.on_timeout(&loss(flight), first),
            Op::Mark(flight) => control.on_mark(&loss(flight)),
            Op::Idle(window) => control.on_idle(window),
            Op::Recovered(kind, window) => {
                let from = Level { window: control.window(), ssthresh: control.ssthresh() };
                let to = Level { window, ssthresh: window.max(2 * MSS) };
                let all = [Recovered::Kept, Recovered::Revised { from, to }, Recovered::Probed { window }];
                control.on_recovered(window, all[usize::from(kind)]);
            }
        }
        if !matches!(op, Op::Ack { .. } | Op::Recovered(1 | 2, _)) {
            assert!(control.window() <= before.max(2 * MSS), "{op:?} has raised cwnd");
        }
        assert!(control.window() >= MSS && control.ssthresh() >= 2 * MSS);
        assert!(control.window() <= (1 << 30) + (1 << 31), "{}", control.window());
        windows.push(control.window());
    }
    windows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// cwnd stays within bounds. ACKs never decrease cwnd, and congestion signals never increase it above two segments.
    /// The same signals give the same results.
    #[test]
    fn any_signals(
        ops in prop::collection::vec(op(), 1..300),
        name in prop::sample::select(vec!["per_ack", "rfc5681", "bytes", "packets"]),
        c in prop::sample::select(vec![0.001, 0.4, 1000.0]),
        beta in prop::sample::select(vec![0.1, 0.5, 0.7, 0.99]),
        fast: bool,
        friendly: bool,
    ) {
        let values = [
            ("c", Value::Number(c)),
            ("beta", Value::Number(beta)),
            ("fast_convergence", Value::Flag(fast)),
            ("reno_friendly", Value::Flag(friendly)),
        ];
        let run = || {
            let ack_counting = Choice::named(ack_counting::ALL, name);
            let mut ack_counting = (ack_counting.build)(&ack_counting.values);
            play(&mut *cubic(&values, 10, 1 << 20), &mut *ack_counting, &ops)
        };
        prop_assert_eq!(run(), run());
    }
}
