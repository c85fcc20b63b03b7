//! Properties of every congestion control under random ACKs and congestion signals: bounds of cwnd, and reproducible
//! results.

use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_tcp::sender::ack_counting::{self, AckCounting};
use lasthop_tcp::sender::congestion::{
    self, AckEvent, CongestionControl, Level, LossEvent, LossPhase, Recovered, Start,
};
use lasthop_tcp::sender::recovery::AckNews;
use proptest::prelude::*;

const MSS: u64 = 1000;

#[derive(Clone, Debug)]
enum Op {
    Ack { millis: u64, acked: u64, flight: u64, rtt: Option<u64>, phase: u8, held: bool, clock: Option<u64> },
    Duplicate { millis: u64, clock: Option<u64> },
    Loss { flight: u64, marked: bool },
    Restart(u64),
    Timeout { flight: u64, first: bool, still_in_flight: u64 },
    Mark(u64),
    LeaveSlowStart,
    Idle(u64),
    Segment(u64),
    Reordered(u64),
    Recovered(u8, u64),
}

fn op() -> impl Strategy<Value = Op> {
    let size = || prop_oneof![0..5000u64, 0..3_000_000u64];
    let time = || prop_oneof![0..200u64, Just(86_400_000)];
    let clock = || prop::option::of(0..1_000_000_000u64);
    let ack =
        (time(), size(), size(), prop::option::of(0..100_000u64), 0..3u8, prop::bool::weighted(0.1), clock());
    prop_oneof![
        12 => ack.prop_map(|(millis, acked, flight, rtt, phase, held, clock)| {
            Op::Ack { millis, acked, flight, rtt, phase, held, clock }
        }),
        3 => (time(), clock()).prop_map(|(millis, clock)| Op::Duplicate { millis, clock }),
        1 => (size(), any::<bool>()).prop_map(|(flight, marked)| Op::Loss { flight, marked }),
        1 => size().prop_map(Op::Restart),
        1 => (size(), any::<bool>(), size()).prop_map(|(flight, first, still_in_flight)| Op::Timeout { flight, first, still_in_flight }),
        1 => size().prop_map(Op::Mark),
        1 => Just(Op::LeaveSlowStart),
        1 => (1000..100_000u64).prop_map(Op::Idle),
        1 => (500..2000u64).prop_map(Op::Segment),
        1 => (1000..100_000u64).prop_map(Op::Reordered),
        2 => (0..3u8, 2000..(1u64 << 30)).prop_map(|(kind, window)| Op::Recovered(kind, window)),
    ]
}

fn play(control: &mut dyn CongestionControl, ack_counting: &mut dyn AckCounting, ops: &[Op]) -> Vec<u64> {
    let (mut now, mut mss) = (Time::ZERO, MSS);
    // Congestion controls that model the path, follow the delay or are scalable may change cwnd in any direction with
    // any ACK.
    let nature = control.nature();
    let is_plain = !nature.uses_rate_samples && !nature.is_scalable && !nature.follows_delay;
    let mut windows = Vec::new();
    control.on_open(Some(Duration::from_millis(100)));
    for op in ops {
        let before = control.window();
        let loss = |flight: u64| LossEvent { now, flight, window: flight, ..LossEvent::default() };
        let mut may_rise = false;
        match *op {
            Op::Ack { millis, acked, flight, rtt, phase, held, clock } => {
                now += Duration::from_millis(millis);
                let (rtt, clock) = (rtt.map(Duration::from_millis), clock.map(Time::from_nanos));
                if nature.observes {
                    control.observe(&AckNews { now, acked, rtt, clock, mss, ..AckNews::default() });
                }
                let ack = AckEvent {
                    now,
                    phase: [LossPhase::Open, LossPhase::Recovery, LossPhase::Restart][usize::from(phase)],
                    acked,
                    segments: acked.div_ceil(mss) as u32,
                    delivered: acked,
                    rtt,
                    srtt: rtt,
                    in_flight: flight,
                    held,
                    ..AckEvent::default()
                };
                control.on_ack(&ack, ack_counting);
                assert!(!is_plain || control.window() >= before, "an ACK has lowered cwnd");
                may_rise = true;
            }
            Op::Duplicate { millis, clock } => {
                now += Duration::from_millis(millis);
                let clock = clock.map(Time::from_nanos);
                if nature.observes {
                    let news = AckNews { now, duplicate: true, clock, mss, ..AckNews::default() };
                    control.observe(&news);
                }
                control.on_ack(&AckEvent { now, ..AckEvent::default() }, ack_counting);
            }
            Op::Loss { flight, marked } => control.on_loss(&LossEvent { marked, ..loss(flight) }),
            Op::Restart(flight) => control.on_restart(&loss(flight)),
            Op::Timeout { flight, first, still_in_flight } => {
                control.on_timeout(&LossEvent { still_in_flight, ..loss(flight) }, first);
                // Orders from outside hold through a timeout.
                assert!(
                    nature.takes_orders || control.window() <= mss + still_in_flight,
                    "cwnd after a timeout exceeds one segment plus the data in flight"
                );
                may_rise = true;
            }
            Op::Mark(flight) => control.on_mark(&loss(flight)),
            Op::LeaveSlowStart => control.leave_slow_start(),
            Op::Idle(window) => control.on_idle(window),
            Op::Segment(bytes) => {
                mss = bytes;
                control.on_segment(bytes);
            }
            Op::Reordered(window) => control.on_reordered(Level { window, ssthresh: window }),
            Op::Recovered(kind, window) => {
                let from = Level { window: control.window(), ssthresh: control.ssthresh() };
                let to = Level { window, ssthresh: window };
                let all = [Recovered::Kept, Recovered::Revised { from, to }, Recovered::Probed { window }];
                control.on_recovered(window, all[usize::from(kind)]);
                may_rise = true;
            }
        }
        if is_plain && !may_rise {
            // A loss may raise cwnd to two segments, the minimum of ssthresh (RFC 5681, Eq. 4).
            assert!(
                control.window() <= before.max(2 * mss),
                "{op:?} has raised cwnd from {before} to {}",
                control.window()
            );
        }
        let window = control.window();
        assert!(window > 0 && window <= (1 << 30) + (1 << 24), "{op:?}: cwnd {window} is 0 or too large");
        windows.push(window);
    }
    windows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// cwnd stays within its bounds, and only ACKs and an undo increase cwnd. The same signals give the same values of
    /// cwnd.
    #[test]
    fn any_signals(
        ops in prop::collection::vec(op(), 1..200),
        ack_counting in prop::sample::select(vec!["per_ack", "rfc5681", "bytes", "packets", "delivered"]),
    ) {
        for mechanism in congestion::ALL {
            let choice = Choice::of(mechanism);
            let run = || {
                let random = Stream::named(1, "sender");
                let start = Start { window: 10 * MSS, ssthresh: 1 << 30, mss: MSS, selective: true, random };
                let ack_counting = Choice::named(ack_counting::ALL, ack_counting);
                let mut ack_counting = (ack_counting.build)(&ack_counting.values);
                play(&mut *(choice.build)(&choice.values, start), &mut *ack_counting, &ops)
            };
            prop_assert_eq!(run(), run(), "{}: two equal runs differ", mechanism.info.name);
        }
    }
}
