//! Verus: learns how the delay depends on the window, and looks up the window for a delay that rises and falls by 1 or 2
//! ms per epoch.
//!
//! The **delay profile** stores for each number of segments in flight the mean RTT (EWMA) of segments sent at that
//! number. An epoch has 5 ms. Dmax is the largest RTT of an epoch, smoothed (EWMA), and Dmin is the smallest RTT of the
//! connection. After each epoch, the target delay D changes:
//!
//! * If Dmax / Dmin exceeds `ratio` (R), D falls by 2 ms (δ2).
//! * Otherwise, if Dmax has grown, D falls by 1 ms (δ1).
//! * Otherwise, D rises by 2 ms (δ2).
//!
//! D is at least Dmin. cwnd W is the window with the delay D in the profile. With n = RTT / 5 ms epochs per round trip
//! and F segments in flight, an epoch sends `S = W - F (n - 2) / (n - 1)` segments. The pacing rate is S per
//! epoch, but at least W / RTT.
//!
//! **Slow start** adds a segment per delivered segment, until a loss or until the RTT exceeds 15 Dmin. cwnd then becomes
//! 0.7 W, where W is the number of segments in flight when the segment was sent.
//!
//! **Loss**: cwnd becomes 0.7 W of the lost segment. In the following recovery, each delivered segment adds 1 / cwnd,
//! and the profile does not change. Recovery ends at an ACK for a segment that was sent with at most cwnd segments in
//! flight. D then is the delay of cwnd in the profile.
//!
//! # Choices and differences
//! * The paper fits cubic splines with penalties. Here the profile is piecewise linear: through the means of groups of at
//!   most 15 windows, as many as one spline section has in the authors' program. A mean below the mean of a smaller
//!   window is raised to that mean. Below the first point and above the last point, the profile is a line through the
//!   origin: delay and window of a full link are proportional.
//! * The window in the profile is the number of segments in flight, not the intended window.
//! * R = 2 and the bound of 15 Dmin are the paper's (from memory). The authors' program has R = 6 and a bound of 500 ms.
//! * Epochs end when an ACK arrives, because only ACKs change D. In epochs without an ACK, Dmax is at least the time
//!   since the last ACK.
//! * A timeout restarts slow start from one segment. Slow start then ends at 0.7 W.
//! * cwnd is at least two segments, because receivers delay ACKs. If cwnd stays at two segments while D is Dmin, Dmin
//!   grows by 10 ms per epoch (a rule of the authors' program): the base RTT has grown.
//! * A congestion mark counts as a loss.
//!
//! # Effects
//! * If the RTT is shorter than an epoch, a step of 2 ms can exceed R Dmin. The RTT then exceeds R Dmin by some steps.
//! * Slow start fills up to 15 Dmin of a deep queue before D falls by 400 ms per second.

use super::{AckEvent, Build, CongestionControl, LossEvent, LostSegment, Nature, RateHooks, Recovered};
use super::{SentEvent, Start, segments};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Rate, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "verus",
        summary: "learns the delay of each window, and sets the window by a delay that rises and falls in steps of 1 or 2 ms",
        source: "Zaki et al., SIGCOMM 2015 (rules and constants of the authors' program; R and slow start from memory)",
        parameters: &[Parameter {
            name: "ratio",
            unit: Unit::Number(1.0, 100.0),
            default: Some("2"),
            doc: "largest tolerated ratio of Dmax to Dmin (R); a larger ratio gives more goodput and more delay",
        }],
        ..Info::PLAIN
    },
    build: &|values, start| Box::new(Verus::new(values.number("ratio"), &start)),
};

/// Length of an epoch.
const EPOCH: Duration = Duration::from_millis(5);
/// Decrease δ1 of the target delay per epoch, seconds.
const DELTA_1: f64 = 0.001;
/// Increase and faster decrease δ2 of the target delay per epoch, seconds.
const DELTA_2: f64 = 0.002;
/// Weight of the previous value in the EWMA of Dmax.
const MAX_WEIGHT: f64 = 0.2;
/// Smallest growth of Dmax that counts as growth, seconds.
const SMALLEST_GROWTH: f64 = 1e-7;
/// Weight of the previous value in the profile's EWMA.
const PROFILE_WEIGHT: f64 = 0.875;
/// Time between updates of the profile's points.
const PROFILE_INTERVAL: Duration = Duration::from_secs(1);
/// Largest number of windows in a group of the profile.
const LARGEST_GROUP: usize = 15;
/// Smallest number of groups of the profile.
const GROUPS: usize = 5;
/// Largest window of the profile, segments.
const LARGEST_WINDOW: usize = 40_000;
/// Multiple of Dmin that ends slow start.
const SLOW_START_DELAY: f64 = 15.0;
/// Multiplicative decrease M.
const DECREASE: f64 = 0.7;
/// Smallest cwnd, segments.
const SMALLEST: f64 = 2.0;
/// Growth of Dmin per epoch if the base RTT has grown, seconds.
const MIN_STEP: f64 = 0.01;
/// Largest number of epochs that are evaluated for one ACK.
const MOST_EPOCHS: u64 = 1000;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// Slow start up to a window in segments.
    SlowStart(f64),
    /// The target delay sets cwnd.
    Delay,
    /// Recovery after a loss.
    Recovery,
}

struct Verus {
    ratio: f64,
    mss: f64,
    phase: Phase,
    /// cwnd W, segments.
    cwnd: f64,
    profile: Profile,
    /// Target delay D, seconds.
    target: f64,
    /// Dmin, seconds; infinite before the first RTT sample.
    smallest: f64,
    /// Dmax (EWMA), seconds.
    largest: Option<f64>,
    epoch: Epoch,
    last_ack: Time,
    /// Smoothed RTT, seconds.
    srtt: f64,
    /// S, segments per epoch; `None` if S is not limited.
    per_epoch: Option<f64>,
    /// Segments in flight when the last lost segment was sent.
    lost_at: Option<f64>,
}

/// The current epoch.
#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    began: Time,
    /// Largest RTT, seconds; `None` before the first sample.
    largest: Option<f64>,
    /// Whether cwnd must not grow.
    is_held: bool,
}

/// Delay as a function of the number of segments in flight.
#[derive(Debug, Default)]
struct Profile {
    /// Mean RTT (EWMA) in seconds for each number of segments; 0 without a sample.
    delays: Vec<f64>,
    /// Points (segments, seconds) with ascending windows and delays that do not fall.
    points: Vec<(f64, f64)>,
    updated: Time,
}

impl Profile {
    fn record(&mut self, segments: f64, delay: f64) {
        let index = (segments.max(1.0) as usize).min(LARGEST_WINDOW);
        if index >= self.delays.len() {
            self.delays.resize(index + 1, 0.0);
        }
        let mean = &mut self.delays[index];
        *mean = if *mean > 0.0 { PROFILE_WEIGHT * *mean + (1.0 - PROFILE_WEIGHT) * delay } else { delay };
    }

    /// Computes the points from the means of groups of windows.
    fn update(&mut self, now: Time) {
        self.updated = now;
        self.points.clear();
        let size = (self.delays.len().saturating_sub(1) / GROUPS).clamp(1, LARGEST_GROUP);
        let mut highest = 0.0_f64;
        for (number, group) in self.delays.chunks(size).enumerate() {
            let (mut count, mut windows, mut delays) = (0.0, 0.0, 0.0);
            for (offset, delay) in group.iter().enumerate().filter(|(_, delay)| **delay > 0.0) {
                (count, delays) = (count + 1.0, delays + delay);
                windows += (number * size + offset) as f64;
            }
            if count > 0.0 {
                highest = highest.max(delays / count);
                self.points.push((windows / count, highest));
            }
        }
    }

    /// Returns the smallest window with the delay `delay`, segments; `None` for an empty profile.
    fn window(&self, delay: f64) -> Option<f64> {
        let index = self.points.partition_point(|point| point.1 < delay);
        let (first, last) = (self.points.first()?, self.points.last()?);
        Some(match (index, self.points.get(index)) {
            (0, _) => first.0 * delay / first.1,
            (_, None) => last.0 * delay / last.1,
            (_, Some(above)) => {
                let below = self.points[index - 1];
                below.0 + (above.0 - below.0) * (delay - below.1) / (above.1 - below.1)
            }
        })
    }

    /// Returns the delay of a window of `segments`, seconds; `None` for an empty profile.
    fn delay(&self, segments: f64) -> Option<f64> {
        let index = self.points.partition_point(|point| point.0 < segments);
        let (first, last) = (self.points.first()?, self.points.last()?);
        Some(match (index, self.points.get(index)) {
            (0, _) => first.1,
            (_, None) => last.1 * segments / last.0,
            (_, Some(above)) => {
                let below = self.points[index - 1];
                below.1 + (above.1 - below.1) * (segments - below.0) / (above.0 - below.0)
            }
        })
    }
}

impl Verus {
    fn new(ratio: f64, start: &Start) -> Verus {
        let mss = start.mss as f64;
        Verus {
            ratio,
            mss,
            phase: Phase::SlowStart(start.ssthresh as f64 / mss),
            cwnd: (start.window as f64 / mss).max(SMALLEST),
            profile: Profile::default(),
            target: 0.0,
            smallest: f64::INFINITY,
            largest: None,
            epoch: Epoch::default(),
            last_ack: Time::ZERO,
            srtt: 0.0,
            per_epoch: None,
            lost_at: None,
        }
    }

    /// Ends the epochs before `now`. `in_flight`: segments in flight.
    fn end_epochs(&mut self, now: Time, in_flight: f64) {
        let elapsed = now.since(self.epoch.began).as_nanos() / EPOCH.as_nanos();
        if elapsed == 0 {
            return;
        }
        for _ in 0..elapsed.min(MOST_EPOCHS) {
            self.epoch.began += EPOCH;
            self.end_epoch();
        }
        self.epoch.began += EPOCH * elapsed.saturating_sub(MOST_EPOCHS);
        self.epoch.is_held = false;
        if now.since(self.profile.updated) >= PROFILE_INTERVAL && self.phase == Phase::Delay {
            self.profile.update(now);
        }
        if self.phase == Phase::Delay {
            self.cwnd = self.profile.window(self.target).unwrap_or(self.cwnd).max(SMALLEST);
        }
        self.spread(in_flight);
    }

    /// Changes Dmax and the target delay at the end of an epoch.
    fn end_epoch(&mut self) {
        let silence = self.epoch.began.since(self.last_ack).as_secs();
        let before = self.largest;
        let largest =
            self.epoch.largest.take().unwrap_or_else(|| before.map_or(silence, |it| it.max(silence)));
        let before = before.unwrap_or(largest);
        let smoothed = MAX_WEIGHT * before + (1.0 - MAX_WEIGHT) * largest;
        self.largest = Some(smoothed);
        if self.phase != Phase::Delay {
            return;
        }
        if smoothed > self.ratio * self.smallest {
            self.target -= DELTA_2;
            if self.target <= self.smallest && self.cwnd <= SMALLEST {
                self.smallest += MIN_STEP;
            }
        } else if smoothed - before > SMALLEST_GROWTH {
            self.target -= DELTA_1;
        } else if !self.epoch.is_held {
            self.target += DELTA_2;
        }
        self.target = self.target.max(self.smallest);
    }

    /// Computes the number S of segments for the next epoch.
    fn spread(&mut self, in_flight: f64) {
        let epochs = libm::ceil(self.srtt / EPOCH.as_secs());
        self.per_epoch = (epochs > 1.0 && self.phase == Phase::Delay).then(|| {
            let sent = self.cwnd - in_flight * (epochs - 2.0) / (epochs - 1.0);
            sent.max(self.cwnd / epochs)
        });
    }

    /// Ends slow start or recovery with the current cwnd.
    fn follow_delay(&mut self, now: Time) {
        if matches!(self.phase, Phase::SlowStart(_)) {
            self.profile.update(now);
        }
        self.phase = Phase::Delay;
        self.epoch.largest = None;
        self.aim();
    }

    /// Sets the target delay to the delay of cwnd in the profile.
    fn aim(&mut self) {
        if let Some(delay) = self.profile.delay(self.cwnd) {
            self.target = if self.smallest.is_finite() { delay.max(self.smallest) } else { delay };
        }
    }

    /// Reduces cwnd after a loss. `segments`: segments in flight when the lost segment was sent.
    fn decrease(&mut self, now: Time, segments: f64) {
        if matches!(self.phase, Phase::SlowStart(_)) {
            self.profile.update(now);
        }
        self.cwnd = self.cwnd.min(DECREASE * segments).max(SMALLEST);
        (self.phase, self.per_epoch) = (Phase::Recovery, None);
        self.aim();
    }

    /// Handles the RTT sample `rtt` in seconds of a segment sent at `sent_at` segments in flight.
    fn measure(&mut self, now: Time, rtt: f64, sent_at: f64) {
        self.smallest = self.smallest.min(rtt);
        match self.phase {
            Phase::SlowStart(_) if rtt > SLOW_START_DELAY * self.smallest => self.decrease(now, sent_at),
            Phase::Recovery if sent_at <= self.cwnd => self.follow_delay(now),
            _ => {}
        }
        self.epoch.largest = Some(self.epoch.largest.map_or(rtt, |largest| largest.max(rtt)));
        if self.phase != Phase::Recovery {
            self.profile.record(sent_at, rtt);
        }
    }
}

impl CongestionControl for Verus {
    fn window(&self) -> u64 {
        segments::bytes(self.cwnd, self.mss)
    }

    fn ssthresh(&self) -> u64 {
        match self.phase {
            Phase::SlowStart(limit) => (limit * self.mss) as u64,
            Phase::Delay | Phase::Recovery => self.window(),
        }
    }

    fn nature(&self) -> Nature {
        Nature { uses_rate_samples: true, conserves: true, follows_delay: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn AckCounting) {
        self.srtt = ack.srtt.map_or(self.srtt, |srtt| srtt.as_secs());
        self.end_epochs(ack.now, ack.in_flight as f64 / self.mss);
        self.last_ack = ack.now;
        self.epoch.is_held |= ack.held;
        if let Some((rtt, sent_at)) = ack.rate.and_then(|rate| Some((rate.rtt?, rate.in_flight))) {
            self.measure(ack.now, rtt.as_secs(), sent_at as f64 / self.mss);
        }
        let delivered = ack.delivered as f64 / self.mss;
        match self.phase {
            Phase::SlowStart(limit) if !ack.held => {
                self.cwnd += delivered;
                if self.cwnd >= limit && self.smallest.is_finite() {
                    self.cwnd = limit.max(SMALLEST);
                    self.follow_delay(ack.now);
                }
            }
            Phase::Recovery if !ack.held => self.cwnd += delivered / self.cwnd,
            _ => {}
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let segments = self.lost_at.take().unwrap_or(loss.flight as f64 / self.mss);
        if self.phase != Phase::Recovery {
            self.decrease(loss.now, segments);
        }
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.on_timeout(loss, true);
    }

    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        if first {
            self.phase = Phase::SlowStart((DECREASE * self.cwnd).max(SMALLEST));
        }
        (self.cwnd, self.per_epoch) = (1.0 + loss.still_in_flight as f64 / self.mss, None);
    }

    fn on_mark(&mut self, loss: &LossEvent) {
        self.on_loss(loss);
    }

    fn leave_slow_start(&mut self) {
        if matches!(self.phase, Phase::SlowStart(_)) {
            self.follow_delay(self.last_ack);
        }
    }

    fn on_idle(&mut self, window: u64) {
        self.cwnd = segments::after_idle(self.cwnd, window, self.mss);
        self.aim();
    }

    fn on_segment(&mut self, mss: u64) {
        self.cwnd *= self.mss / mss as f64;
        self.mss = mss as f64;
    }

    fn on_recovered(&mut self, _: u64, recovered: Recovered) {
        self.cwnd = segments::after_recovery(self.cwnd, recovered, self.mss);
        if let Recovered::Revised { .. } = recovered {
            self.follow_delay(self.last_ack);
        }
    }
}

impl RateHooks for Verus {
    fn on_sent(&mut self, sent: &SentEvent) {
        if sent.in_flight != sent.bytes {
            return;
        }
        // The time without data in flight has no epochs. An epoch with samples ends, but a shorter pause ends no epoch.
        self.last_ack = sent.now;
        if sent.now.since(self.epoch.began) >= EPOCH {
            if self.epoch.largest.is_some() {
                self.end_epoch();
            }
            self.epoch = Epoch { began: sent.now, ..Epoch::default() };
        }
    }

    fn on_lost(&mut self, _: Time, lost: &LostSegment) {
        self.lost_at = Some(lost.in_flight as f64 / self.mss);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let bps = 8.0 * self.per_epoch? * self.mss / EPOCH.as_secs();
        Some(Rate::from_bps(bps.clamp(1.0, 1e15) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::RateSample;
    use super::super::bottleneck::Bottleneck;
    use super::super::rounds::{MSS, Rounds};
    use super::*;
    use lasthop_base::Choice;

    const SECOND: u64 = 1_000_000_000;

    fn verus(ratio: f64) -> Verus {
        Verus::new(ratio, &Rounds::start(10, 1 << 20))
    }

    /// Acknowledges a segment at `millis` with the RTT `rtt` in ms. The segment was sent with `sent_at` segments in
    /// flight.
    fn ack(verus: &mut Verus, millis: u64, rtt: u64, sent_at: u64) {
        let rtt = Some(Duration::from_millis(rtt));
        let rate = RateSample {
            delivered: MSS,
            interval: EPOCH,
            reliable: true,
            prior: 0,
            total: 0,
            app_limited: false,
            in_flight: sent_at * MSS,
            lost: 0,
            rtt,
        };
        let ack = AckEvent {
            now: Time::ZERO + Duration::from_millis(millis),
            delivered: MSS,
            rtt,
            srtt: rtt,
            in_flight: sent_at * MSS,
            rate: Some(&rate),
            ..AckEvent::default()
        };
        let counting = Choice::of(&crate::sender::ack_counting::DEFAULT);
        verus.on_ack(&ack, &mut *(counting.build)(&counting.values));
    }

    /// Fills the profile with the delays of a link of `per_second` segments per second and a base RTT of 50 ms.
    fn learn(verus: &mut Verus, per_second: f64) {
        (1..=200).for_each(|segments| {
            let segments = f64::from(segments);
            verus.profile.record(segments, (segments / per_second).max(0.05));
        });
        verus.smallest = 0.05;
        verus.profile.update(Time::from_nanos(SECOND));
    }

    /// The rule of R: D falls while Dmax exceeds R Dmin. The mean RTT therefore stays below R Dmin, and the queue is
    /// never empty for long. 833 segments of 1500 bytes per second are 10 Mbit/s.
    #[test]
    fn the_delay_stays_below_the_ratio() {
        for base_rtt in [0.02, 0.05, 0.1] {
            let measured = Bottleneck::steady(|_| 833.0, base_rtt).run(&MECHANISM);
            assert!(measured.share > 0.95, "{base_rtt}: {}", measured.share);
            assert!(measured.mean_queueing() < base_rtt, "{base_rtt}: {}", measured.mean_queueing());
        }
    }

    /// With a base RTT of 1 ms, each epoch has several flights, and cwnd is often acknowledged completely. These pauses
    /// must not end the epochs: D rises in steps of 2 ms, until the link is full.
    #[test]
    fn flights_shorter_than_an_epoch_do_not_stop_the_growth() {
        let mut verus = verus(2.0);
        learn(&mut verus, 1000.0);
        (verus.phase, verus.target, verus.largest) = (Phase::Delay, 0.05, Some(0.05));
        for millis in (1000..1100).step_by(2) {
            let now = Time::ZERO + Duration::from_millis(millis);
            verus.on_sent(&SentEvent { now, bytes: MSS, in_flight: MSS, ..SentEvent::default() });
            ack(&mut verus, millis + 1, 50, 1);
        }
        // Between 16 and 20 epochs of 5 to 6 ms.
        assert!((0.08..=0.092).contains(&verus.target), "{}", verus.target);
        let measured = Bottleneck::steady(|_| 833.0, 0.001).run(&MECHANISM);
        assert!(measured.share > 0.9, "{}", measured.share);
    }

    /// A larger R permits more delay (SIGCOMM 2015 §5): the queueing delay at R = 4 is between one and three times
    /// Dmin, and therefore above the bound for R = 2.
    #[test]
    fn a_larger_ratio_gives_more_delay() {
        let mut choice = Choice::of(&MECHANISM);
        choice.values.set("ratio", lasthop_base::Value::Number(4.0));
        let control = (choice.build)(&choice.values, Rounds::start(10, 1 << 20));
        let mean = Bottleneck::steady(|_| 833.0, 0.05).run_control(control).mean_queueing();
        assert!((0.05..0.15).contains(&mean), "{mean}");
    }

    /// A rate that changes between 10 and 3 Mbit/s every 5 s: W follows the delay. After each fall of the rate, a queue
    /// of at most R Dmin grows by the factor 833 / 250, and then drains.
    #[test]
    fn the_window_follows_a_changing_rate() {
        let rate = |time: f64| if time % 10.0 < 5.0 { 833.0 } else { 250.0 };
        let measured = Bottleneck::steady(rate, 0.05).run(&MECHANISM);
        assert!(measured.share > 0.9, "{}", measured.share);
        let bound = 2.0 * 0.05 * 833.0 / 250.0;
        assert!(
            measured.queueing.last().is_some_and(|largest| *largest < bound),
            "{:?}",
            measured.queueing.last()
        );
        assert!(measured.share_within(0.05) > 0.75, "{}", measured.share_within(0.05));
    }

    /// D rises by 2 ms per epoch while Dmax is constant, and falls by 1 ms if Dmax grows. If Dmax exceeds 2 Dmin, D
    /// falls by 2 ms.
    #[test]
    fn the_target_moves_by_one_or_two_milliseconds() {
        let mut verus = verus(2.0);
        learn(&mut verus, 1000.0);
        (verus.phase, verus.target, verus.cwnd) = (Phase::Delay, 0.08, 80.0);
        let mut epoch = |largest: f64| {
            let before = verus.target;
            verus.epoch.largest = Some(largest);
            verus.end_epoch();
            1000.0 * (verus.target - before)
        };
        let changes = [0.06, 0.06, 0.07, 0.05, 0.2, 0.2].map(&mut epoch);
        for (change, expected) in changes.into_iter().zip([2.0, 2.0, -1.0, 2.0, -2.0, -2.0]) {
            assert!((change - expected).abs() < 1e-9, "{changes:?}");
        }
        verus.target = verus.smallest;
        verus.epoch.largest = Some(0.2);
        verus.end_epoch();
        assert_eq!(verus.target, 0.05, "D is at least Dmin");
    }

    /// A full link delays by W / rate. The profile finds this line, also above the largest window.
    #[test]
    fn the_profile_is_the_line_of_a_full_link() {
        let mut verus = verus(2.0);
        learn(&mut verus, 1000.0);
        for (segments, delay) in [(100.0, 0.1), (150.0, 0.15), (400.0, 0.4)] {
            let (window, found) = (verus.profile.window(delay), verus.profile.delay(segments));
            assert!(window.is_some_and(|window| (window - segments).abs() < 0.01 * segments), "{window:?}");
            assert!(found.is_some_and(|found| (found - delay).abs() < 0.01 * delay), "{found:?}");
        }
        assert_eq!(Profile::default().window(0.1), None);
    }

    /// The profile's EWMA keeps 0.875 of the previous value. A point that lies below an earlier point is raised.
    #[test]
    fn the_profile_smooths() {
        let mut profile = Profile::default();
        profile.record(1.0, 0.08);
        profile.record(1.0, 0.16);
        assert!((profile.delays[1] - 0.09).abs() < 1e-12);
        profile.record(2.0, 0.05);
        profile.record(3.0, 0.2);
        profile.update(Time::ZERO);
        let delays: Vec<f64> = profile.points.iter().map(|point| (100.0 * point.1).round()).collect();
        assert_eq!(delays, [9.0, 9.0, 20.0]);
    }

    #[test]
    fn slow_start_doubles() {
        let mut path = Rounds::with_ssthresh(&MECHANISM, 10, 1 << 20);
        assert_eq!([path.round(100.0), path.round(100.0)], [20.0, 40.0]);
    }

    /// An RTT above 15 Dmin ends slow start. A segment that was sent with 100 segments in flight gives a cwnd of 70.
    #[test]
    fn a_long_delay_ends_slow_start() {
        let mut verus = verus(2.0);
        (1..=100).for_each(|number| ack(&mut verus, 50 + number, 50, number));
        ack(&mut verus, 800, 750, 100);
        assert!(matches!(verus.phase, Phase::SlowStart(_)));
        ack(&mut verus, 801, 751, 100);
        assert_eq!((verus.phase, verus.window()), (Phase::Recovery, 70 * MSS + MSS / 70));
    }

    /// A loss at 100 segments in flight reduces cwnd to 70. In recovery, a delivered segment adds 1 / cwnd, and the
    /// profile stays. An ACK for a segment that was sent with 70 in flight ends recovery; D then is the delay of 70
    /// segments: 70 ms at 1000 segments per second.
    #[test]
    fn a_loss_decreases_the_window_and_freezes_the_profile() {
        let mut verus = verus(2.0);
        learn(&mut verus, 1000.0);
        (verus.phase, verus.cwnd) = (Phase::Delay, 120.0);
        let range = crate::ranges::Range { start: 1, end: 1 + MSS };
        let lost = LostSegment { range, in_flight: 100 * MSS, lost: MSS, delivered: 0, app_limited: false };
        verus.on_lost(Time::ZERO, &lost);
        verus.on_loss(&LossEvent::default());
        assert_eq!(verus.window(), 70 * MSS);
        let before = verus.profile.delays.clone();
        ack(&mut verus, 10, 300, 100);
        assert!((verus.cwnd - (70.0 + 1.0 / 70.0)).abs() < 1e-12);
        assert_eq!(verus.profile.delays, before);
        verus.on_loss(&LossEvent { flight: 10 * MSS, ..LossEvent::default() });
        assert!(verus.cwnd > 70.0, "further losses belong to the same recovery");
        ack(&mut verus, 11, 80, 70);
        assert_eq!(verus.phase, Phase::Delay);
        assert!((verus.target - 0.07).abs() < 1e-3, "{}", verus.target);
    }

    /// With an RTT of 50 ms (n = 10 epochs) and W in flight, S = W - 8/9 W = W / 9.
    #[test]
    fn an_epoch_sends_a_ninth_of_the_window() {
        let mut verus = verus(2.0);
        (verus.phase, verus.cwnd, verus.srtt) = (Phase::Delay, 90.0, 0.05);
        verus.spread(90.0);
        assert!(
            verus.per_epoch.is_some_and(|segments| (segments - 10.0).abs() < 1e-9),
            "{:?}",
            verus.per_epoch
        );
    }

    /// A single loss at 12 s: the link stays full.
    #[test]
    fn a_single_loss_costs_little() {
        let path = Bottleneck { loss_at: 12.0, ..Bottleneck::steady(|_| 833.0, 0.05) };
        let measured = path.run(&MECHANISM);
        assert!(measured.share > 0.95, "{}", measured.share);
        assert!(measured.mean_queueing() < 0.05, "{}", measured.mean_queueing());
    }

    /// If the base RTT has grown from 50 to 200 ms, every RTT exceeds 2 Dmin. After D has reached Dmin, Dmin grows, so
    /// that cwnd leaves two segments.
    #[test]
    fn a_longer_path_raises_the_smallest_delay() {
        let mut verus = verus(2.0);
        (1..=100).for_each(|number| verus.profile.record(f64::from(number), 0.2));
        (verus.phase, verus.smallest, verus.target, verus.cwnd) = (Phase::Delay, 0.05, 0.05, SMALLEST);
        for _ in 0..5 {
            verus.epoch.largest = Some(0.2);
            verus.end_epoch();
        }
        assert!((verus.smallest - 0.1).abs() < 1e-9, "{}", verus.smallest);
    }
}
