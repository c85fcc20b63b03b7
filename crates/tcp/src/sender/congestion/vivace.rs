//! PCC Vivace: the pacing rate ascends the gradient of a utility, which depends on the rate, RTT growth and losses.
//!
//! The pacing rate is constant in each monitor interval (MI). x is the rate in Mbit/s, `dRTT/dt` the slope of the RTT
//! (linear regression over the MI), and L the share of lost bytes. The utility is
//!
//! ```text
//! u = x^0.9 - 900 x dRTT/dt - 11.35 x L
//! ```
//!
//! **Starting**: the rate doubles until the utility falls, and then returns to the previous rate.
//!
//! **Learning**: two MIs have the rates r (1 + ε) and r (1 - ε) in random order, where r is the current rate and ε =
//! 0.05. The gradient is `γ = (u₊ - u₋) / (2 ε r)`. The rate changes by m γ Mbit/s, but by at most ω r. The amplifier m
//! grows with the number of successive changes in the same direction. The bound ω begins at 0.05, grows by 0.1 with
//! each change that reaches the bound, and shrinks with smaller changes.
//!
//! Slopes below `tolerance` count as 0. If the delay of a link varies within an RTT (LTE, UMTS), larger slopes outweigh
//! the other terms of the utility. The rate then changes at random; a larger `tolerance` helps. cwnd is twice the rate
//! times SRTT, so that pacing limits the sender.
//!
//! # Our choices
//! * An MI has at least ten segments.
//! * The rate stays r until the results of an MI are known. The results are known when the data of the MI is
//!   acknowledged, or 1.5 SRTT after the end of the MI.
//! * A timeout halves the rate. cwnd then grows from one segment as in slow start.
//! * A falling RTT does not raise the utility while starting.

use super::{
    AckEvent, Build, CongestionControl, LossEvent, LostSegment, Nature, RateHooks, Recovered, SentEvent,
    Start,
};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Rate, Stream, Time, Unit};
use std::collections::{BTreeMap, VecDeque};

const WEIGHT: Unit = Unit::Number(0.0, 1e6);

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "vivace",
        summary: "tries rates 5 % up and down, and ascends the utility of rate, RTT growth and loss",
        source: "Dong et al., NSDI 2018 §4 (from descriptions; amplifier and bound from memory)",
        parameters: &[
            Parameter {
                name: "latency",
                unit: WEIGHT,
                default: Some("900"),
                doc: "weight of RTT growth in the utility; 0: Vivace-Loss",
            },
            Parameter {
                name: "loss",
                unit: WEIGHT,
                default: Some("11.35"),
                doc: "weight of the loss rate in the utility",
            },
            Parameter {
                name: "tolerance",
                unit: Unit::Number(0.0, 1.0),
                default: Some("0.01"),
                doc: "RTT growth that counts as 0, in s per s: a filter of jitter",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, start| {
        let [latency, loss, tolerance] = ["latency", "loss", "tolerance"].map(|name| values.number(name));
        Box::new(Vivace::new(Weights { latency, loss, tolerance }, start))
    },
};

/// Exponent of the rate in the utility.
const EXPONENT: f64 = 0.9;
/// Share ε by which the rates of a trial differ from the current rate.
const EPSILON: f64 = 0.05;
/// Initial bound ω: largest change of the rate, as a share of the rate.
const BOUND: f64 = 0.05;
/// Growth δ of the bound ω.
const BOUND_STEP: f64 = 0.1;
/// Smallest number of segments of an MI.
const SMALLEST_INTERVAL: u64 = 10;
/// Smallest pacing rate, segments per SRTT.
const SMALLEST_RATE: f64 = 2.0;
/// Smallest cwnd, segments.
const SMALLEST_WINDOW: f64 = 4.0;
/// Value in place of SRTT before the first RTT sample.
const UNKNOWN_RTT: Duration = Duration::from_millis(100);

#[derive(Clone, Copy)]
struct Weights {
    latency: f64,
    loss: f64,
    tolerance: f64,
}

impl Weights {
    /// Returns the utility of `rate`, Mbit/s. `slope`: dRTT/dt. `loss`: share of lost bytes.
    fn utility(self, rate: f64, slope: f64, loss: f64) -> f64 {
        let slope = if slope.abs() < self.tolerance { 0.0 } else { slope };
        libm::pow(rate, EXPONENT) - self.latency * rate * slope - self.loss * rate * loss
    }
}

struct Vivace {
    weights: Weights,
    mss: u64,
    random: Stream,
    srtt: Option<Duration>,
    first_window: u64,
    /// Rate r, Mbit/s; 0 before the first transmission.
    rate: f64,
    phase: Phase,
    /// Intervals with outstanding results. The last interval is the current one.
    intervals: VecDeque<Interval>,
    /// Map from the first byte of each outstanding segment to the number of the interval in which the segment was last
    /// sent.
    outstanding: BTreeMap<u64, u64>,
    /// Number of intervals begun so far.
    count: u64,
    /// Number of the first interval of the current phase.
    first: u64,
    step: Step,
    /// cwnd after a timeout, bytes; `None` once slow start has reached the cwnd that the rate requires.
    restart: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Rate and utility of the previous interval, if any. The rate doubles in each interval.
    Starting(Option<(f64, f64)>),
    /// Utilities of a trial: at the higher rate, then at the lower rate.
    Learning([Option<f64>; 2]),
}

/// Reason for an interval's rate.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Purpose {
    /// The results of earlier intervals are outstanding.
    Waiting,
    Starting,
    Trial {
        is_higher: bool,
    },
}

/// Monitor interval. A loss or an RTT sample belongs to the interval in which the segment was last sent.
#[derive(Debug)]
struct Interval {
    purpose: Purpose,
    /// Pacing rate, Mbit/s.
    rate: f64,
    began: Time,
    ended: Option<Time>,
    number: u64,
    /// SND.NXT at the end of the interval.
    until: u64,
    /// Bytes sent, including retransmissions.
    sent: u64,
    /// Part of `sent` that was lost, bytes.
    lost: u64,
    is_limited: bool,
    slope: Regression,
}

/// Linear regression of the RTT over the sending time, with sums in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Regression {
    count: f64,
    time: f64,
    rtt: f64,
    time_squared: f64,
    product: f64,
}

impl Regression {
    fn add(&mut self, time: f64, rtt: f64) {
        self.count += 1.0;
        self.time += time;
        self.rtt += rtt;
        self.time_squared += time * time;
        self.product += time * rtt;
    }

    fn slope(&self) -> f64 {
        let spread = self.count * self.time_squared - self.time * self.time;
        if spread > 1e-18 { (self.count * self.product - self.time * self.rtt) / spread } else { 0.0 }
    }
}

/// Amplifier m and bound ω for changes of the rate.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    is_up: bool,
    /// Number of successive changes in the same direction.
    same: u32,
    /// Number of times that the bound has grown by δ.
    growths: u32,
}

impl Step {
    /// Returns the amplifier m after `same` successive changes in the same direction.
    fn amplifier(same: u32) -> f64 {
        let same = f64::from(same);
        match same {
            _ if same <= 3.0 => same,
            _ if same <= 6.0 => 2.0 * same - 3.0,
            _ if same <= 9.0 => 4.0 * same - 15.0,
            _ => 9.0 * same - 60.0,
        }
    }

    /// Returns the change of the rate for `gradient`, Mbit/s.
    fn change(&mut self, gradient: f64, rate: f64) -> f64 {
        let is_up = gradient > 0.0;
        if is_up != self.is_up || self.same == 0 {
            *self = Step { is_up, same: 0, growths: 0 };
        }
        self.same += 1;
        let wanted = Step::amplifier(self.same) * gradient.abs();
        let bound = |growths: u32| (BOUND + BOUND_STEP * f64::from(growths)) * rate;
        let size = wanted.min(bound(self.growths));
        if wanted > bound(self.growths) {
            self.growths += 1;
        } else {
            while self.growths > 0 && wanted <= bound(self.growths - 1) {
                self.growths -= 1;
            }
        }
        if is_up { size } else { -size }
    }
}

impl Vivace {
    fn new(weights: Weights, start: Start) -> Vivace {
        Vivace {
            weights,
            mss: start.mss,
            random: start.random,
            srtt: None,
            first_window: start.window,
            rate: 0.0,
            phase: Phase::Starting(None),
            intervals: VecDeque::new(),
            outstanding: BTreeMap::new(),
            count: 0,
            first: 0,
            step: Step::default(),
            restart: None,
        }
    }

    fn rtt(&self) -> Duration {
        self.srtt.unwrap_or(UNKNOWN_RTT)
    }

    fn smallest_rate(&self) -> f64 {
        SMALLEST_RATE * 8e-6 * self.mss as f64 / self.rtt().as_secs().max(1e-6)
    }

    /// Ends the current interval, if any, and begins an interval for `purpose`.
    fn begin(&mut self, now: Time, purpose: Purpose) {
        let rate = match purpose {
            Purpose::Trial { is_higher: true } => self.rate * (1.0 + EPSILON),
            Purpose::Trial { is_higher: false } => self.rate * (1.0 - EPSILON),
            Purpose::Waiting | Purpose::Starting => self.rate,
        };
        self.count += 1;
        if let Some(current) = self.intervals.back_mut() {
            current.ended.get_or_insert(now);
        }
        self.intervals.push_back(Interval {
            purpose,
            rate,
            began: now,
            ended: None,
            number: self.count,
            until: 0,
            sent: 0,
            lost: 0,
            is_limited: false,
            slope: Regression::default(),
        });
    }

    fn begin_phase(&mut self, now: Time) {
        self.first = self.count + 1;
        match self.phase {
            Phase::Starting(_) => self.begin(now, Purpose::Starting),
            Phase::Learning(_) => {
                self.phase = Phase::Learning([None; 2]);
                let is_higher = self.random.uniform() < 0.5;
                self.begin(now, Purpose::Trial { is_higher });
            }
        }
    }

    /// Evaluates the intervals whose losses are known: all data of the interval is acknowledged, or 1.5 SRTT have
    /// passed since the end of the interval.
    fn evaluate(&mut self, now: Time, una: u64) {
        let patience = self.rtt() * 3;
        while let Some(front) = self.intervals.front() {
            let Some(ended) = front.ended else { return };
            if una < front.until && now.since(ended) * 2 < patience {
                return;
            }
            let Some(done) = self.intervals.pop_front() else { return };
            self.handle(now, &done);
        }
    }

    fn handle(&mut self, now: Time, done: &Interval) {
        // Waiting intervals, empty intervals and intervals of an earlier phase have no results.
        if done.purpose == Purpose::Waiting || done.sent == 0 || done.number < self.first {
            return;
        }
        if done.is_limited {
            // The application limited the rate, so that the phase restarts.
            return self.begin_phase(now);
        }
        let slope = done.slope.slope();
        let slope = if matches!(self.phase, Phase::Starting(_)) { slope.max(0.0) } else { slope };
        let utility = self.weights.utility(done.rate, slope, done.lost as f64 / done.sent as f64);
        match (&mut self.phase, done.purpose) {
            (Phase::Starting(before), Purpose::Starting) => {
                match *before {
                    Some((rate, former)) if utility < former => {
                        self.rate = rate;
                        self.phase = Phase::Learning([None; 2]);
                    }
                    _ => {
                        *before = Some((self.rate, utility));
                        self.rate *= 2.0;
                    }
                }
                self.begin_phase(now);
            }
            (Phase::Learning(utilities), Purpose::Trial { is_higher }) => {
                utilities[usize::from(!is_higher)] = Some(utility);
                if let [Some(higher), Some(lower)] = *utilities {
                    self.learn(now, higher, lower);
                }
            }
            _ => {}
        }
    }

    fn learn(&mut self, now: Time, higher: f64, lower: f64) {
        let gradient = (higher - lower) / (2.0 * EPSILON * self.rate);
        self.rate = (self.rate + self.step.change(gradient, self.rate)).max(self.smallest_rate());
        self.begin_phase(now);
    }

    /// Returns a cwnd that does not limit the pacing rate, bytes.
    fn rate_window(&self) -> u64 {
        let mss = self.mss as f64;
        if self.srtt.is_none() || self.rate == 0.0 {
            return self.first_window;
        }
        let rate = self.intervals.back().map_or(self.rate, |current| current.rate);
        let bytes = 2.0 * rate * 1e6 / 8.0 * self.rtt().as_secs();
        bytes.clamp(SMALLEST_WINDOW * mss, (1u64 << 30) as f64) as u64
    }
}

impl CongestionControl for Vivace {
    fn window(&self) -> u64 {
        let window = self.rate_window();
        self.restart.map_or(window, |restart| restart.min(window))
    }

    fn ssthresh(&self) -> u64 {
        if matches!(self.phase, Phase::Starting(_)) { u64::MAX >> 2 } else { self.window() }
    }

    fn nature(&self) -> Nature {
        let fixed = Nature::FIXED;
        Nature { uses_rate_samples: true, conserves: true, follows_delay: true, draws: true, ..fixed }
    }

    fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn AckCounting) {
        self.srtt = ack.srtt.or(self.srtt);
        if let Some(restart) = self.restart {
            self.restart = Some(restart + ack.delivered).filter(|restart| *restart < self.rate_window());
        }
        if self.rate == 0.0 {
            return;
        }
        if let Some(rtt) = ack.rtt {
            let sent = ack.now.since(Time::ZERO).saturating_sub(rtt);
            let sent = Time::ZERO + sent;
            let is_own = |it: &&mut Interval| sent >= it.began && it.ended.is_none_or(|ended| sent < ended);
            if let Some(interval) = self.intervals.iter_mut().find(is_own) {
                interval.slope.add(sent.since(interval.began).as_secs(), rtt.as_secs());
            }
        }
        while self.outstanding.first_key_value().is_some_and(|(start, _)| *start < ack.una) {
            self.outstanding.pop_first();
        }
        self.evaluate(ack.now, ack.una);
    }

    fn on_loss(&mut self, _: &LossEvent) {}

    fn on_restart(&mut self, loss: &LossEvent) {
        self.on_timeout(loss, true);
    }

    fn on_timeout(&mut self, loss: &LossEvent, _: bool) {
        self.restart = Some(self.mss + loss.still_in_flight);
        if self.rate == 0.0 {
            return;
        }
        self.rate = (self.rate / 2.0).max(self.smallest_rate());
        self.intervals.clear();
        (self.phase, self.step) = (Phase::Learning([None; 2]), Step::default());
        self.begin_phase(loss.now);
    }

    fn on_mark(&mut self, _: &LossEvent) {}

    fn on_idle(&mut self, _: u64) {}

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

    fn on_recovered(&mut self, _: u64, recovered: Recovered) {
        match recovered {
            Recovered::Revised { .. } => self.restart = None,
            Recovered::Probed { window } => self.restart = Some(window),
            Recovered::Kept => {}
        }
    }
}

impl RateHooks for Vivace {
    fn on_sent(&mut self, sent: &SentEvent) {
        if self.rate == 0.0 {
            let rtt = self.rtt().as_secs().max(1e-6);
            self.rate = self.first_window as f64 * 8e-6 / rtt;
            self.begin_phase(sent.now);
        }
        let length = self.rtt();
        let smallest = SMALLEST_INTERVAL * self.mss;
        let Some(current) = self.intervals.back_mut() else { return };
        current.is_limited |= sent.limited;
        current.sent += sent.bytes;
        current.until = sent.nxt;
        self.outstanding.insert(sent.start, current.number);
        let is_over = sent.now.since(current.began) >= length && current.sent >= smallest;
        if is_over {
            match current.purpose {
                Purpose::Waiting => {}
                Purpose::Trial { is_higher } if current.number == self.first => {
                    self.begin(sent.now, Purpose::Trial { is_higher: !is_higher });
                }
                Purpose::Trial { .. } | Purpose::Starting => self.begin(sent.now, Purpose::Waiting),
            }
        }
    }

    fn on_open(&mut self, rtt: Option<Duration>) {
        self.srtt = rtt;
    }

    fn on_lost(&mut self, _: Time, lost: &LostSegment) {
        let Some(number) = self.outstanding.get(&lost.range.start) else { return };
        if let Some(interval) = self.intervals.iter_mut().find(|it| it.number == *number) {
            interval.lost = (interval.lost + lost.range.len()).min(interval.sent);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let current = self.intervals.back()?;
        Some(Rate::from_bps((current.rate * 1e6).clamp(1.0, 1e15) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::{MSS, Rounds};
    use super::*;
    use crate::ranges::Range;
    use lasthop_base::{Choice, Value};

    /// Simulates a bottleneck of `capacity` Mbit/s with a base RTT of 50 ms and an unlimited queue. The share `loss` of
    /// the segments is lost periodically. For the second half of `seconds`, returns the delivered share of the capacity
    /// and the mean queueing delay, seconds.
    fn on_a_bottleneck(capacity: f64, loss: f64, seconds: f64, values: &[(&'static str, f64)]) -> (f64, f64) {
        let mut choice = Choice::of(&MECHANISM);
        values.iter().for_each(|(name, value)| choice.values.set(name, Value::Number(*value)));
        let mut control = (choice.build)(&choice.values, Rounds::start(10, 1 << 20));
        let counting = Choice::of(&crate::sender::ack_counting::DEFAULT);
        let mut counting = (counting.build)(&counting.values);
        let at = |seconds: f64| Time::ZERO + Duration::from_secs_f64(seconds);
        control.on_open(Some(Duration::from_millis(50)));
        // Arrival times of ACKs, and RTTs; an RTT of `None` means that the segment is lost.
        let mut acks: VecDeque<(f64, Option<f64>)> = VecDeque::new();
        let (mut now, mut departure, mut free) = (0.0_f64, 0.0_f64, 0.0_f64);
        let (mut una, mut nxt, mut in_flight, mut credit) = (1, 1, 0, 0.0);
        let (mut delivered, mut waited, mut count) = (0.0, 0.0, 0.0);
        while now < seconds {
            let may_send = in_flight + MSS <= control.window();
            let next_ack = acks.front().map_or(f64::INFINITY, |(time, _)| *time);
            if may_send && departure.max(now) <= next_ack {
                now = departure.max(now);
                (nxt, in_flight) = (nxt + MSS, in_flight + MSS);
                let sent = SentEvent {
                    now: at(now),
                    una,
                    nxt,
                    start: nxt - MSS,
                    bytes: MSS,
                    in_flight,
                    limited: false,
                };
                control.on_sent(&sent);
                free = free.max(now) + MSS as f64 * 8e-6 / capacity;
                credit += loss;
                let is_lost = credit >= 1.0;
                credit -= if is_lost { 1.0 } else { 0.0 };
                let rtt = free - now + 0.05;
                acks.push_back((now + rtt, (!is_lost).then_some(rtt)));
                let rate = control.pacing_rate().expect("the control paces").bps() as f64;
                departure = now + MSS as f64 * 8.0 / rate;
                continue;
            }
            let Some((time, rtt)) = acks.pop_front() else { panic!("neither data nor ACKs") };
            now = time;
            let range = Range { start: una, end: una + MSS };
            (una, in_flight) = (una + MSS, in_flight - MSS);
            let Some(rtt) = rtt else {
                let lost = LostSegment { range, in_flight, lost: MSS, delivered: una, app_limited: false };
                control.on_lost(at(now), &lost);
                continue;
            };
            if now > seconds / 2.0 {
                (delivered, waited, count) = (delivered + MSS as f64, waited + rtt - 0.05, count + 1.0);
            }
            let rtt = Some(Duration::from_secs_f64(rtt));
            let ack = AckEvent {
                now: at(now),
                una,
                nxt,
                acked: MSS,
                delivered: MSS,
                segments: 1,
                rtt,
                srtt: rtt,
                in_flight,
                ..AckEvent::default()
            };
            control.on_ack(&ack, &mut *counting);
        }
        (delivered * 8e-6 / (seconds / 2.0) / capacity, waited / count)
    }

    /// NSDI 2018 §4.1: above the capacity, the RTT grows, and 900 x dRTT/dt outweighs x^0.9. The rate stays near the
    /// capacity, and the queueing delay stays below the base RTT.
    #[test]
    fn the_rate_finds_the_capacity() {
        for capacity in [5.0, 40.0] {
            let (share, delay) = on_a_bottleneck(capacity, 0.0, 60.0, &[]);
            assert!((0.85..=1.0).contains(&share), "{capacity}: {share}");
            assert!(delay < 0.05, "{capacity}: {delay}");
        }
    }

    /// Without queueing, du/dx = 0.9 x^-0.1 - 11.35 L. At 100 Mbit/s, a loss rate of up to 5.0 % does not lower the
    /// utility (NSDI 2018 §4.2). At 3 %, the rate stays near the capacity. At 12 %, the rate falls.
    #[test]
    fn random_losses_below_five_per_cent_are_tolerated() {
        let (share, _) = on_a_bottleneck(100.0, 0.03, 40.0, &[]);
        assert!(share > 0.75, "{share}");
        let (share, _) = on_a_bottleneck(100.0, 0.12, 40.0, &[]);
        assert!(share < 0.3, "{share}");
    }

    /// An application-limited interval restarts the phase once. The number of intervals therefore stays small.
    #[test]
    fn limited_intervals_are_repeated() {
        let mut vivace =
            Vivace::new(Weights { latency: 900.0, loss: 11.35, tolerance: 0.01 }, Rounds::start(10, 2));
        vivace.on_open(Some(Duration::from_millis(50)));
        let at = |millis: u64| Time::ZERO + Duration::from_millis(millis);
        let mut nxt: u64 = 1;
        let counting = Choice::of(&crate::sender::ack_counting::DEFAULT);
        let mut counting = (counting.build)(&counting.values);
        for millis in (0..2000).step_by(5) {
            let (start, una) = (nxt, nxt.saturating_sub(10 * MSS).max(1));
            nxt += MSS;
            let event =
                SentEvent { now: at(millis), una, nxt, start, bytes: MSS, in_flight: MSS, limited: true };
            vivace.on_sent(&event);
            let rtt = Some(Duration::from_millis(50));
            let ack =
                AckEvent { now: at(millis), una, nxt, acked: MSS, rtt, srtt: rtt, ..AckEvent::default() };
            vivace.on_ack(&ack, &mut *counting);
        }
        vivace.on_timeout(&LossEvent { now: at(2000), ..LossEvent::default() }, true);
        vivace.evaluate(at(4000), nxt);
        assert!(
            vivace.intervals.len() <= 3 && vivace.count < 100,
            "{} {}",
            vivace.intervals.len(),
            vivace.count
        );
    }

    #[test]
    fn changes_in_the_same_direction_grow() {
        assert_eq!([1, 3, 5, 8, 10].map(Step::amplifier), [1.0, 3.0, 7.0, 17.0, 30.0]);
        let mut step = Step::default();
        // The bound limits a steep gradient to 5 %, 15 % and 25 % of 10 Mbit/s.
        for bound in [0.5, 1.5, 2.5] {
            assert!((step.change(9.0, 10.0) - bound).abs() < 1e-9, "{bound}");
        }
        assert_eq!(step.change(-0.2, 10.0), -0.2, "a change of direction resets the amplifier and the bound");
    }

    /// RTTs of 0, 10 and 20 ms at 0, 1 and 2 s have the slope 0.01.
    #[test]
    fn the_slope_is_a_regression() {
        let mut slope = Regression::default();
        for (time, rtt) in [(0.0, 0.0), (1.0, 0.01), (2.0, 0.02)] {
            slope.add(time, rtt);
        }
        assert!((slope.slope() - 0.01).abs() < 1e-12);
    }
}
