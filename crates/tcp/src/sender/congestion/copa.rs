//! Copa: approaches a target rate of `1 / (δ dq)` segments per second, where dq is the queueing delay and δ is the
//! parameter `delta`.
//!
//! RTTmin is the smallest RTT of the last ten seconds. RTTstanding is the smallest RTT of the last half of a smoothed
//! RTT. The queueing delay is `dq = RTTstanding - RTTmin`, and the current rate is λ = cwnd / RTTstanding. An ACK adds
//! `v / (δ cwnd)` segments to cwnd if λ is at most the target rate; otherwise the ACK subtracts this number.
//!
//! The velocity v is 1 after cwnd has changed its direction. After three round trips in the same direction, v doubles
//! in each round trip. Slow start doubles cwnd in each round trip until λ exceeds the target rate. The pacing rate is 2
//! cwnd / RTTstanding.
//!
//! **Mode switching.** The flow competes if other flows have kept the queue full for five round trips. The queue is
//! full while dq stays above a tenth of `RTTmax - RTTmin`, where RTTmax is the largest RTT of the last four round
//! trips. In competition, 1/δ is halved at a loss and grows by 1 in a round trip without a loss. When the queue is
//! nearly empty again, δ returns to `delta`.
//!
//! Apart from this change of δ in competition, a loss has no effect. If other flows keep the queue full for ten
//! seconds, RTTmin includes the queueing delay, because earlier RTT samples have expired. The flow then measures no
//! queueing delay and sends as fast as losses permit.
//!
//! # Choices that the paper leaves open
//! * A timeout restarts slow start from one segment.
//! * cwnd is at least two segments.
//! * The velocity is limited, so that an ACK changes cwnd by at most the segments that the ACK delivers.

use super::windowed_min::WindowedMin;
use super::{
    AckEvent, Build, CongestionControl, LossEvent, LossPhase, Nature, RateHooks, Recovered, Start, segments,
};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Rate, Time, Unit, Values};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "copa",
        summary: "paces towards a rate of 1 / (0.5 × queueing delay); competes like TCP while others fill the queue",
        source: "Arun and Balakrishnan, NSDI 2018 §2 (from descriptions)",
        parameters: &[
            Parameter {
                name: "delta",
                unit: Unit::Number(0.001, 100.0),
                default: Some("0.5"),
                doc: "weight of delay beside throughput: about 1 / delta segments of each flow are queued",
            },
            Parameter {
                name: "mode_switching",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "compete with flows that fill the queue",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, start| Box::new(Copa::new(values, &start)),
};

/// Time for which an RTT sample counts for RTTmin.
const MIN_WINDOW: Duration = Duration::from_secs(10);
/// Smallest cwnd, segments.
const SMALLEST: f64 = 2.0;
/// Number of successive round trips in which cwnd must move in the same direction before the velocity doubles.
const STEADY: u32 = 3;
/// Number of round trips without a nearly empty queue after which the flow competes.
const FULL_ROUNDS: u32 = 5;
/// Share of RTTmax - RTTmin below which a queueing delay counts as a nearly empty queue.
const NEARLY_EMPTY: f64 = 0.1;
/// Number of round trips over which RTTmax is measured.
const MAX_ROUNDS: usize = 4;

struct Copa {
    delta: f64,
    switches: bool,
    mss: f64,
    /// cwnd, segments.
    cwnd: f64,
    is_slow_start: bool,
    smallest: WindowedMin,
    standing: WindowedMin,
    srtt: Option<Duration>,
    velocity: f64,
    round: Round,
    mode: Mode,
}

/// A round trip: begins when a byte is sent and ends when that byte is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Next byte to send (SND.NXT) at the start of the round.
    until: u64,
    /// cwnd at the start of the round, segments.
    cwnd: f64,
    is_up: bool,
    /// Number of rounds in which cwnd has moved in the same direction.
    steady: u32,
}

/// State of mode switching: whether other flows keep the queue full.
#[derive(Clone, Copy, Debug)]
struct Mode {
    /// Largest RTT of each of the last rounds. The current round is the last entry.
    largest: [Duration; MAX_ROUNDS],
    was_nearly_empty: bool,
    full_rounds: u32,
    /// Whether a loss or a mark has halved 1/δ in the current round.
    is_halved: bool,
    /// 1/δ while the flow competes; `None` in the default mode.
    competes: Option<f64>,
}

impl Copa {
    fn new(values: &Values, start: &Start) -> Copa {
        let mss = start.mss as f64;
        let largest = [Duration::ZERO; MAX_ROUNDS];
        Copa {
            delta: values.number("delta"),
            switches: values.flag("mode_switching"),
            mss,
            cwnd: (start.window as f64 / mss).max(SMALLEST),
            is_slow_start: true,
            smallest: WindowedMin::new(),
            standing: WindowedMin::new(),
            srtt: None,
            velocity: 1.0,
            round: Round::default(),
            mode: Mode { largest, was_nearly_empty: true, full_rounds: 0, is_halved: false, competes: None },
        }
    }

    fn delta(&self) -> f64 {
        self.mode.competes.map_or(self.delta, |inverse| 1.0 / inverse)
    }

    /// Queueing delay dq, seconds.
    fn queueing(&self) -> f64 {
        self.standing.get().as_secs() - self.smallest.get().as_secs()
    }

    fn is_below_aim(&self) -> bool {
        // Compares λ = cwnd / RTTstanding with the target rate 1 / (δ dq), but does not divide by a delay of 0.
        self.cwnd * self.delta() * self.queueing().max(0.0) <= self.standing.get().as_secs()
    }

    fn measure(&mut self, now: Time, rtt: Duration) {
        self.smallest.record(now, rtt, MIN_WINDOW);
        let half = self.srtt.unwrap_or(rtt).divided_by(2);
        self.standing.record(now, rtt, half);
        let newest = &mut self.mode.largest[MAX_ROUNDS - 1];
        *newest = rtt.max(*newest);
        let largest = self.mode.largest.iter().max().map_or(0.0, |largest| largest.as_secs());
        let range = largest - self.smallest.get().as_secs();
        self.mode.was_nearly_empty |= self.queueing() < NEARLY_EMPTY * range || range <= 0.0;
    }

    fn end_round(&mut self, nxt: u64) {
        let is_up = self.cwnd >= self.round.cwnd;
        let steady = if is_up == self.round.is_up { self.round.steady + 1 } else { 0 };
        self.velocity = match steady {
            0 => 1.0,
            _ if steady >= STEADY => (2.0 * self.velocity).min(self.delta() * self.cwnd * self.cwnd),
            _ => self.velocity,
        };
        self.velocity = self.velocity.max(1.0);
        self.round = Round { until: nxt, cwnd: self.cwnd, is_up, steady };
        self.switch_mode();
    }

    fn switch_mode(&mut self) {
        let mode = &mut self.mode;
        mode.largest.rotate_left(1);
        mode.largest[MAX_ROUNDS - 1] = Duration::ZERO;
        mode.full_rounds = if mode.was_nearly_empty { 0 } else { mode.full_rounds + 1 };
        mode.was_nearly_empty = false;
        let is_full = self.switches && !self.is_slow_start && mode.full_rounds >= FULL_ROUNDS;
        mode.competes = match (is_full, mode.competes) {
            (false, _) => None,
            (true, None) => Some(1.0 / self.delta),
            (true, Some(inverse)) if mode.is_halved => Some(inverse),
            (true, Some(inverse)) => Some(inverse + 1.0),
        };
        mode.is_halved = false;
    }

    fn move_window(&mut self, segments: f64) {
        let is_below = self.is_below_aim();
        if self.is_slow_start {
            if is_below {
                self.cwnd += segments;
                return;
            }
            self.is_slow_start = false;
            self.round.cwnd = self.cwnd;
        }
        // If cwnd turns against the direction of the last round, the velocity returns to 1 at once.
        if is_below != self.round.is_up && self.velocity > 1.0 {
            (self.velocity, self.round.is_up, self.round.steady) = (1.0, is_below, 0);
        }
        let step = (segments * self.velocity / (self.delta() * self.cwnd)).min(segments);
        self.cwnd = if is_below { self.cwnd + step } else { (self.cwnd - step).max(SMALLEST) };
    }
}

impl CongestionControl for Copa {
    fn window(&self) -> u64 {
        segments::bytes(self.cwnd, self.mss)
    }

    fn ssthresh(&self) -> u64 {
        if self.is_slow_start { u64::MAX >> 2 } else { self.window() }
    }

    fn nature(&self) -> Nature {
        Nature { uses_rate_samples: true, conserves: true, follows_delay: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn AckCounting) {
        self.srtt = ack.srtt.or(self.srtt);
        if let Some(rtt) = ack.rtt {
            self.measure(ack.now, rtt);
        }
        if ack.delivered == 0 || self.smallest.get() == Duration::MAX {
            return;
        }
        if ack.una > self.round.until {
            self.end_round(ack.nxt);
        }
        let is_limited = ack.held && self.is_below_aim();
        if !is_limited && ack.phase != LossPhase::Restart {
            self.move_window(ack.delivered as f64 / self.mss);
        } else if ack.phase == LossPhase::Restart {
            self.cwnd += ack.delivered as f64 / self.mss;
        }
    }

    fn on_loss(&mut self, _: &LossEvent) {
        if let Some(inverse) = &mut self.mode.competes {
            *inverse = (*inverse / 2.0).max(1.0 / self.delta);
            self.mode.is_halved = true;
        }
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.on_timeout(loss, true);
    }

    fn on_timeout(&mut self, loss: &LossEvent, _: bool) {
        self.on_loss(loss);
        self.cwnd = 1.0 + loss.still_in_flight as f64 / self.mss;
        (self.is_slow_start, self.velocity, self.round.steady) = (true, 1.0, 0);
    }

    fn on_mark(&mut self, loss: &LossEvent) {
        self.on_loss(loss);
    }

    fn leave_slow_start(&mut self) {
        self.is_slow_start = false;
    }

    fn on_idle(&mut self, window: u64) {
        self.cwnd = segments::after_idle(self.cwnd, window, self.mss);
    }

    fn on_segment(&mut self, mss: u64) {
        self.cwnd *= self.mss / mss as f64;
        self.mss = mss as f64;
    }

    fn on_recovered(&mut self, _: u64, recovered: Recovered) {
        self.cwnd = segments::after_recovery(self.cwnd, recovered, self.mss);
    }
}

impl RateHooks for Copa {
    fn pacing_rate(&self) -> Option<Rate> {
        let standing = self.standing.get();
        if standing == Duration::MAX {
            return None;
        }
        let bps = 8.0 * 2.0 * self.cwnd * self.mss / standing.as_secs().max(1e-9);
        Some(Rate::from_bps(bps.clamp(1.0, 1e15) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Rounds;
    use super::*;

    /// Returns the RTT, ms, at a cwnd of `window` segments. The bottleneck sends `capacity` segments per 100 ms, with a
    /// base RTT of 100 ms and an unlimited queue.
    fn rtt(window: f64, capacity: f64) -> f64 {
        100.0 * (window / capacity).max(1.0)
    }

    /// NSDI 2018 §2.1, §3.1: in equilibrium, a flow has 1/δ = 2 segments queued on average. At a bandwidth-delay
    /// product of 200 segments, a cwnd of 202 segments gives the target rate λ = 1 / (δ dq). cwnd oscillates around 202
    /// segments.
    #[test]
    fn about_two_segments_are_queued() {
        let mut path = Rounds::new((MECHANISM.build)(&MECHANISM.info.defaults(), Rounds::start(10, 2)));
        let mut windows = Vec::new();
        for round in 0..400 {
            let window = path.segments();
            path.round(rtt(window, 200.0));
            if round >= 200 {
                windows.push(path.segments());
            }
        }
        let mean = windows.iter().sum::<f64>() / windows.len() as f64;
        assert!((195.0..=215.0).contains(&mean), "{mean}");
    }

    #[test]
    fn slow_start_doubles() {
        let mut path = Rounds::new((MECHANISM.build)(&MECHANISM.info.defaults(), Rounds::start(10, 2)));
        assert_eq!([path.round(100.0), path.round(100.0), path.round(100.0)], [20.0, 40.0, 80.0]);
    }

    /// F-RTO (RFC 5682 §2.1 step 3 a): cwnd has room for two new segments. Their ACKs show
    /// whether the timeout was spurious.
    #[test]
    fn f_rto_sets_the_window() {
        let mut copa = Copa::new(&MECHANISM.info.defaults(), &Rounds::start(10, 2));
        copa.on_timeout(&LossEvent::default(), true);
        copa.on_recovered(0, Recovered::Probed { window: 13_000 });
        assert_eq!(copa.window(), 13_000);
    }

    /// A queue that stays full for five round trips makes the flow compete. 1/δ then grows by one per round trip.
    #[test]
    fn a_full_queue_switches_the_mode() {
        let mut copa = Copa::new(&MECHANISM.info.defaults(), &Rounds::start(10, 2));
        copa.is_slow_start = false;
        let (mut now, mut una) = (Time::ZERO, 1);
        let mut round = |copa: &mut Copa, rtt: u64| {
            let rtt = Duration::from_millis(rtt);
            now += rtt;
            una += 10_000;
            let ack = AckEvent {
                now,
                una,
                nxt: una + 9_999,
                acked: 10_000,
                delivered: 10_000,
                rtt: Some(rtt),
                srtt: Some(rtt),
                ..AckEvent::default()
            };
            let mut counting = (crate::sender::ack_counting::DEFAULT.build)(
                &crate::sender::ack_counting::DEFAULT.info.defaults(),
            );
            copa.on_ack(&ack, &mut *counting);
            copa.mode.competes
        };
        round(&mut copa, 100);
        let modes: Vec<Option<f64>> = (0..9).map(|_| round(&mut copa, 200)).collect();
        assert_eq!(modes[..4], [None; 4]);
        assert!(modes[8].is_some_and(|inverse| inverse > 2.0), "{modes:?}");
        copa.on_loss(&LossEvent::default());
        let halved = modes[8].map(|inverse| (inverse / 2.0).max(2.0));
        assert_eq!(copa.mode.competes, halved);
        assert_eq!(round(&mut copa, 200), halved, "1/δ does not grow in a round with a loss");
        assert_eq!(round(&mut copa, 200), halved.map(|inverse| inverse + 1.0));
        for _ in 0..3 {
            round(&mut copa, 100);
        }
        assert_eq!(copa.mode.competes, None);
    }

    /// A path with a base RTT of 0.5 s, a standing RTT of `standing` s, and a cwnd of `cwnd` segments.
    fn queued(standing: f64, cwnd: f64) -> Copa {
        let mut copa = Copa::new(&MECHANISM.info.defaults(), &Rounds::start(10, 2));
        (copa.srtt, copa.cwnd, copa.is_slow_start) = (Some(Duration::from_millis(500)), cwnd, false);
        copa.measure(Time::ZERO, Duration::from_millis(500));
        copa.measure(Time::ZERO + Duration::from_millis(300), Duration::from_secs_f64(standing));
        copa
    }

    /// The target rate is 1 / (δ dq). At a standing RTT of 0.625 s and δ = 0.5, the target is 16 segments per second,
    /// which a cwnd of 10 segments reaches. The pacing rate is 2 cwnd / RTTstanding.
    #[test]
    fn the_aim_is_two_segments_in_the_queue() {
        assert_eq!([9.9, 10.0, 10.1].map(|cwnd| queued(0.625, cwnd).is_below_aim()), [true, true, false]);
        assert!((queued(0.625, 10.0).queueing() - 0.125).abs() < 1e-12);
        assert!(queued(0.5, 1e9).is_below_aim());
        assert_eq!(queued(0.625, 10.0).pacing_rate(), Some(Rate::from_bps(256_000)));
        assert_eq!(Copa::new(&MECHANISM.info.defaults(), &Rounds::start(10, 2)).pacing_rate(), None);
        let mut competes = queued(0.625, 40.0);
        competes.mode.competes = Some(8.0);
        assert!(competes.is_below_aim(), "with δ = 1/8, four times as many segments");
    }

    /// cwnd moves by v / (δ cwnd) segments for each acknowledged segment, at most by the acknowledged segments: 1 / (0.5
    /// x 8) = 0.25 upwards, and 1 / (0.5 x 16) = 0.125 downwards.
    #[test]
    fn steps_depend_on_velocity_and_window() {
        let moved = |standing, cwnd: f64, velocity, is_up, segments| {
            let mut copa = queued(standing, cwnd);
            (copa.velocity, copa.round.is_up, copa.round.steady) = (velocity, is_up, 5);
            copa.move_window(segments);
            (copa.cwnd - cwnd, copa.velocity, copa.round.steady)
        };
        assert_eq!(moved(0.625, 8.0, 1.0, true, 1.0), (0.25, 1.0, 5));
        assert_eq!(moved(0.625, 16.0, 1.0, false, 1.0), (-0.125, 1.0, 5));
        assert_eq!(moved(0.625, 8.0, 2.0, true, 2.0), (1.0, 2.0, 5));
        assert_eq!(moved(0.625, 8.0, 32.0, true, 2.0), (2.0, 32.0, 5));
        assert_eq!(moved(0.625, 8.0, 32.0, false, 1.0), (0.25, 1.0, 0), "a turn resets the velocity");
        assert_eq!(moved(0.625, 16.0, 32.0, true, 1.0), (-0.125, 1.0, 0));
        let least = 2.1 + moved(20.0, 2.1, 1.0, false, 1.0).0;
        assert!((least - 2.0).abs() < 1e-9, "at least two segments: {least}");
    }

    /// Slow start adds the acknowledged segments while the rate is below the target.
    #[test]
    fn slow_start_ends_at_the_target() {
        let mut copa = queued(0.625, 8.0);
        copa.is_slow_start = true;
        assert_eq!(copa.ssthresh(), u64::MAX >> 2);
        copa.move_window(3.0);
        assert_eq!((copa.cwnd, copa.is_slow_start), (11.0, true));
        copa.round.is_up = true;
        copa.move_window(1.0);
        assert_eq!((copa.is_slow_start, copa.round.cwnd), (false, 11.0));
        assert!((copa.cwnd - (11.0 - 1.0 / 5.5)).abs() < 1e-12 && copa.ssthresh() == copa.window());
    }

    /// The velocity doubles from the third round in the same direction on, up to δ cwnd^2, and returns to 1 with a turn.
    #[test]
    fn the_velocity_doubles_in_one_direction() {
        let mut copa = queued(0.625, 10.0);
        copa.round = Round { until: 0, cwnd: 10.0, is_up: true, steady: 0 };
        let mut after = |cwnd| {
            copa.cwnd = cwnd;
            copa.end_round(77);
            (copa.velocity, copa.round.steady)
        };
        let up = [10.0, 11.0, 12.0, 13.0, 14.0].map(&mut after);
        assert_eq!(up, [(1.0, 1), (1.0, 2), (2.0, 3), (4.0, 4), (8.0, 5)]);
        assert_eq!([13.0, 12.0, 11.0, 10.0].map(&mut after), [(1.0, 0), (1.0, 1), (1.0, 2), (2.0, 3)]);
        assert_eq!((copa.round.until, copa.round.cwnd, copa.round.is_up), (77, 10.0, false));
        (copa.velocity, copa.cwnd, copa.mode.competes, copa.mode.full_rounds) = (30.0, 8.0, None, 0);
        copa.end_round(78);
        assert_eq!(copa.velocity, 32.0, "0.5 x 8 x 8");
        copa.cwnd = 1.0;
        copa.end_round(79);
        assert_eq!(copa.velocity, 1.0);
    }

    /// Five rounds without a nearly empty queue make the flow compete, with 1/δ of 2 at first and one more in each
    /// further round without a loss. A loss halves 1/δ, to at least 2.
    #[test]
    fn a_full_queue_raises_the_inverse_of_delta() {
        let mut copa = queued(0.625, 10.0);
        let mut round = |is_nearly_empty| {
            copa.mode.was_nearly_empty = is_nearly_empty;
            copa.switch_mode();
            copa.mode.competes
        };
        assert_eq!([true, false, false, false, false].map(&mut round), [None; 5]);
        assert_eq!([round(false), round(false), round(false)], [Some(2.0), Some(3.0), Some(4.0)]);
        copa.mode.competes = Some(7.0);
        copa.on_loss(&LossEvent::default());
        assert_eq!((copa.mode.competes, copa.delta()), (Some(3.5), 1.0 / 3.5));
        copa.switch_mode();
        assert_eq!(copa.mode.competes, Some(3.5));
        copa.switch_mode();
        assert_eq!(copa.mode.competes, Some(4.5));
        copa.mode.competes = Some(3.0);
        copa.on_mark(&LossEvent::default());
        assert_eq!(copa.mode.competes, Some(2.0));
        copa.mode.was_nearly_empty = true;
        copa.switch_mode();
        assert_eq!((copa.mode.competes, copa.mode.full_rounds, copa.delta()), (None, 0, 0.5));
        copa.mode.full_rounds = 9;
        copa.is_slow_start = true;
        copa.switch_mode();
        assert_eq!(copa.mode.competes, None);
    }

    /// A queue is nearly empty below a tenth of RTTmax - RTTmin. RTTmax covers four rounds.
    #[test]
    fn a_nearly_empty_queue() {
        let is_nearly_empty = |standing| {
            let mut copa = queued(1.5, 10.0);
            copa.mode.was_nearly_empty = false;
            copa.measure(Time::ZERO + Duration::from_millis(700), Duration::from_secs_f64(standing));
            copa.mode.was_nearly_empty
        };
        assert_eq!([0.59, 0.61].map(is_nearly_empty), [true, false]);
        let mut copa = queued(1.5, 10.0);
        (0..3).for_each(|_| copa.switch_mode());
        assert_eq!(copa.mode.largest[0], Duration::from_millis(1500));
        copa.switch_mode();
        assert_eq!(copa.mode.largest, [Duration::ZERO; 4]);
    }

    /// Timeouts, restarts from idle and other segment sizes change cwnd.
    #[test]
    fn other_events_set_the_window() {
        let mut copa = queued(0.625, 10.0);
        copa.on_segment(500);
        assert_eq!((copa.cwnd, copa.window()), (20.0, 10_000));
        copa.on_idle(4000);
        assert_eq!(copa.cwnd, 8.0);
        copa.on_idle(100);
        assert_eq!(copa.cwnd, 1.0);
        (copa.velocity, copa.round.steady) = (8.0, 4);
        copa.on_restart(&LossEvent { still_in_flight: 3000, ..LossEvent::default() });
        assert_eq!((copa.cwnd, copa.velocity, copa.round.steady, copa.is_slow_start), (7.0, 1.0, 0, true));
        let level = |window| super::super::Level { window, ssthresh: 1 };
        copa.on_recovered(0, Recovered::Revised { from: level(1), to: level(9000) });
        assert_eq!(copa.cwnd, 18.0);
        copa.on_recovered(0, Recovered::Revised { from: level(1), to: level(100) });
        assert_eq!(copa.cwnd, 18.0);
        copa.on_recovered(0, Recovered::Kept);
        copa.leave_slow_start();
        assert_eq!((copa.cwnd, copa.is_slow_start), (18.0, false));
    }

    /// After a timeout, cwnd grows by the delivered data. An unused window does not grow below the target rate.
    #[test]
    fn restarts_and_unused_windows() {
        let mut counting = (crate::sender::ack_counting::DEFAULT.build)(&Values::new());
        let mut after = |phase, held, delivered| {
            let mut copa = queued(0.625, 8.0);
            (copa.round.until, copa.round.is_up) = (u64::MAX, true);
            copa.on_ack(&AckEvent { phase, held, delivered, ..AckEvent::default() }, &mut *counting);
            copa.cwnd
        };
        assert_eq!(after(LossPhase::Restart, false, 2000), 10.0);
        assert_eq!(after(LossPhase::Restart, true, 2000), 10.0);
        assert_eq!([after(LossPhase::Open, true, 1000), after(LossPhase::Open, false, 1000)], [8.0, 8.25]);
        assert_eq!(after(LossPhase::Recovery, false, 1000), 8.25);
        assert_eq!(after(LossPhase::Open, false, 0), 8.0);
    }
}
