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

    const WEIGHTS: Weights = Weights { latency: 900.0, loss: 11.35, tolerance: 0.01 };

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// A control with a first window of 10 segments on a path of 50 ms. The first rate is 10 segments per RTT: 80 kbit /
    /// 50 ms = 1.6 Mbit/s.
    fn opened() -> Vivace {
        let mut vivace = Vivace::new(WEIGHTS, Rounds::start(10, 1 << 20));
        vivace.on_open(Some(Duration::from_millis(50)));
        vivace
    }

    /// Sends one segment that begins at `start`.
    fn send(vivace: &mut Vivace, now: u64, start: u64, limited: bool) {
        let (bytes, nxt) = (MSS, start + MSS);
        vivace.on_sent(&SentEvent { now: at(now), una: 1, nxt, start, bytes, in_flight: MSS, limited });
    }

    fn acknowledge(vivace: &mut Vivace, now: u64, una: u64, rtt: u64) {
        let rtt = Some(Duration::from_millis(rtt));
        let mut counting = (crate::sender::ack_counting::DEFAULT.build)(&lasthop_base::Values::new());
        let ack = AckEvent { now: at(now), una, rtt, srtt: rtt, delivered: MSS, ..AckEvent::default() };
        vivace.on_ack(&ack, &mut *counting);
    }

    fn purposes(vivace: &Vivace) -> Vec<(u64, Purpose)> {
        vivace.intervals.iter().map(|it| (it.number, it.purpose)).collect()
    }

    /// u = x^0.9 - 900 x dRTT/dt - 11.35 x L. At 10 Mbit/s, the terms are 7.943, 900 x 10 x 0.02 = 180 and 11.35 x 10 x
    /// 0.1 = 11.35. Slopes below 0.01 count as 0.
    #[test]
    fn the_utility_has_three_terms() {
        let close =
            |value: f64, expected: f64| assert!((value - expected).abs() < 1e-3, "{value} {expected}");
        close(WEIGHTS.utility(10.0, 0.0, 0.0), 7.943);
        close(WEIGHTS.utility(10.0, 0.02, 0.0), 7.943 - 180.0);
        close(WEIGHTS.utility(10.0, -0.02, 0.0), 7.943 + 180.0);
        close(WEIGHTS.utility(10.0, 0.0, 0.1), 7.943 - 11.35);
        close(WEIGHTS.utility(10.0, 0.009, 0.0), 7.943);
        close(WEIGHTS.utility(10.0, -0.009, 0.0), 7.943);
        close(WEIGHTS.utility(10.0, 0.01, 0.0), 7.943 - 90.0);
    }

    /// The amplifier grows by 1 up to 3 changes, by 2 up to 6, by 4 up to 9, and then by 9.
    #[test]
    fn the_amplifier_grows_faster_and_faster() {
        let amplifiers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(Step::amplifier);
        assert_eq!(amplifiers, [1.0, 2.0, 3.0, 5.0, 7.0, 9.0, 13.0, 17.0, 21.0, 30.0, 39.0, 48.0]);
    }

    /// At 10 Mbit/s, the bounds are 0.5, 1.5 and 2.5 Mbit/s. Small changes shrink the bound to the smallest bound that
    /// does not limit them.
    #[test]
    fn small_changes_shrink_the_bound() {
        let mut step = Step::default();
        let mut change = |gradient: f64| {
            let change = step.change(gradient, 10.0);
            (change, step.growths, step.same)
        };
        let close = |(change, growths, same): (f64, u32, u32), expected: (f64, u32, u32)| {
            assert!(
                (change - expected.0).abs() < 1e-9 && (growths, same) == (expected.1, expected.2),
                "{change}"
            );
        };
        close(change(9.0), (0.5, 1, 1));
        close(change(9.0), (1.5, 2, 2));
        close(change(0.3), (0.9, 1, 3));
        close(change(0.02), (0.1, 0, 4));
        close(change(-9.0), (-0.5, 1, 1));
        close(change(-9.0), (-1.5, 2, 2));
        close(change(-0.01), (-0.03, 0, 3));
        close(change(0.0), (0.0, 0, 4));
        close(change(0.2), (0.2, 0, 1));
    }

    /// Without a spread of sending times, there is no slope. RTTs of 50, 50 and 80 ms at 0, 10 and 20 ms have the slope
    /// 1.5.
    #[test]
    fn slopes_need_a_spread() {
        let slope = |points: &[(f64, f64)]| {
            let mut regression = Regression::default();
            points.iter().for_each(|(time, rtt)| regression.add(*time, *rtt));
            regression.slope()
        };
        assert_eq!((slope(&[]), slope(&[(0.1, 0.05)]), slope(&[(0.1, 0.05), (0.1, 0.07)])), (0.0, 0.0, 0.0));
        assert!((slope(&[(0.0, 0.05), (0.01, 0.05), (0.02, 0.08)]) - 1.5).abs() < 1e-9);
        assert!((slope(&[(1.0, 0.08), (1.01, 0.05), (1.02, 0.05)]) + 1.5).abs() < 1e-6);
    }

    /// The first transmission begins the first interval. The interval ends with the first segment after an RTT (50 ms)
    /// and after ten segments. The rate then waits for the results.
    #[test]
    fn an_interval_lasts_an_rtt_and_ten_segments() {
        let mut vivace = opened();
        assert_eq!((vivace.pacing_rate(), vivace.window()), (None, 10 * MSS));
        for number in 0..9 {
            send(&mut vivace, 100 + number, 1 + number * MSS, false);
        }
        assert!(vivace.pacing_rate().expect("a rate").bps().abs_diff(1_600_000) <= 1);
        assert_eq!(purposes(&vivace), [(1, Purpose::Starting)]);
        let interval = &vivace.intervals[0];
        assert_eq!((interval.began, interval.sent, interval.until), (at(100), 9 * MSS, 1 + 9 * MSS));
        send(&mut vivace, 149, 1 + 9 * MSS, false);
        assert_eq!(vivace.intervals.len(), 1, "the RTT has not passed");
        send(&mut vivace, 150, 1 + 10 * MSS, false);
        assert_eq!(purposes(&vivace), [(1, Purpose::Starting), (2, Purpose::Waiting)]);
        assert_eq!((vivace.intervals[0].ended, vivace.intervals[1].ended), (Some(at(150)), None));
        let mut slow = opened();
        (0..9).for_each(|number| send(&mut slow, 100 + 50 * number, 1 + number * MSS, false));
        assert_eq!(slow.intervals.len(), 1, "nine segments are too few");
        send(&mut slow, 550, 1 + 9 * MSS, false);
        assert_eq!(slow.intervals.len(), 2);
    }

    /// Starting: the rate doubles as long as the utility grows. Utilities are 1.6^0.9 = 1.53, and 3.2^0.9 = 2.85 at the
    /// double rate. At 6.4 Mbit/s, half of the data is lost, so the utility falls, and the rate returns to 3.2 Mbit/s.
    #[test]
    fn the_rate_doubles_until_the_utility_falls() {
        let mut vivace = opened();
        let (mut now, mut start) = (100, 1);
        let mut rates = Vec::new();
        for loses in [false, false, true] {
            rates.push(vivace.rate);
            let first = start;
            for _ in 0..11 {
                send(&mut vivace, now, start, false);
                (now, start) = (now + 5, start + MSS);
            }
            if loses {
                for number in 0..5 {
                    let range = Range { start: first + number * MSS, end: first + (number + 1) * MSS };
                    let lost = LostSegment { range, in_flight: 1, lost: 1, delivered: 1, app_limited: false };
                    vivace.on_lost(at(now), &lost);
                }
            }
            acknowledge(&mut vivace, now, start, 50);
        }
        rates.push(vivace.rate);
        assert_eq!(rates[0], 0.0);
        for (rate, expected) in rates[1..].iter().zip([3.2, 6.4, 3.2]) {
            assert!((rate - expected).abs() < 1e-9, "{rates:?}");
        }
        assert!(matches!(vivace.phase, Phase::Learning([None, None])));
        assert!(matches!(vivace.intervals.back().map(|it| it.purpose), Some(Purpose::Trial { .. })));
        assert_eq!(vivace.ssthresh(), vivace.window());
    }

    /// Learning: a trial has the rates 10 x 1.05 and 10 x 0.95 Mbit/s, in random order, and then waits. Without losses
    /// and RTT growth, the gradient is (10.5^0.9 - 9.5^0.9) / (2 x 0.05 x 10) = 0.715, so the rate grows to the bound of
    /// 10.5 Mbit/s.
    #[test]
    fn a_trial_has_two_rates() {
        let mut vivace = opened();
        (vivace.rate, vivace.phase) = (10.0, Phase::Learning([None; 2]));
        vivace.begin_phase(at(100));
        let (mut now, mut start) = (100, 1);
        for _ in 0..22 {
            send(&mut vivace, now, start, false);
            (now, start) = (now + 5, start + MSS);
        }
        let kinds = purposes(&vivace);
        let [(1, Purpose::Trial { is_higher }), (2, second), (3, Purpose::Waiting)] = kinds[..] else {
            panic!("{kinds:?}")
        };
        assert_eq!(second, Purpose::Trial { is_higher: !is_higher });
        let mut rates: Vec<f64> = vivace.intervals.iter().map(|it| it.rate).collect();
        if is_higher {
            rates.swap(0, 1);
        }
        let close =
            |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} {expected}");
        rates.iter().zip([9.5, 10.5, 10.0]).for_each(|(rate, expected)| close(*rate, expected));
        acknowledge(&mut vivace, now, start, 50);
        close(vivace.rate, 10.5);
        assert_eq!((vivace.first, vivace.count), (4, 4));
        // A gradient of -0.715 lowers the rate by 5 %, but not below two segments per SRTT: 0.32 Mbit/s.
        vivace.learn(at(now), 7.5814, 8.2965);
        close(vivace.rate, 10.5 * 0.95);
        vivace.rate = 0.33;
        vivace.learn(at(now), 0.0, 1e6);
        close(vivace.rate, 0.32);
    }

    /// Results of an interval are known when its data is acknowledged, or 1.5 x 50 ms after its end.
    #[test]
    fn results_are_known_after_the_acknowledgement_or_a_while() {
        let known = |now, una| {
            let mut vivace = opened();
            (0..11).for_each(|number| send(&mut vivace, 100 + 5 * number, 1 + number * MSS, false));
            assert_eq!(vivace.intervals[0].ended, Some(at(150)));
            vivace.evaluate(at(now), una);
            vivace.rate > 3.0
        };
        assert_eq!([known(160, 11_000), known(160, 11_001)], [false, true]);
        assert_eq!([known(224, 1), known(225, 1)], [false, true]);
    }

    /// Each RTT sample belongs to the interval in which its segment was sent: from the start of the interval until
    /// before its end. Losses belong to the interval of the last transmission.
    #[test]
    fn samples_belong_to_intervals() {
        let mut vivace = opened();
        (0..11).for_each(|number| send(&mut vivace, 100 + 5 * number, 1 + number * MSS, false));
        send(&mut vivace, 155, 1 + 11 * MSS, false);
        for (now, rtt) in [(149, 50), (150, 50), (199, 50), (200, 50)] {
            acknowledge(&mut vivace, now, 1, rtt);
        }
        // The segments were sent at 99, 100, 149 and 150 ms. The first was sent before the first interval.
        assert_eq!([0, 1].map(|index| vivace.intervals[index].slope.count), [2.0, 1.0]);
        let lose = |vivace: &mut Vivace, number: u64, bytes: u64| {
            let range = Range { start: 1 + number * MSS, end: 1 + number * MSS + bytes };
            let lost = LostSegment { range, in_flight: 1, lost: 1, delivered: 1, app_limited: false };
            vivace.on_lost(at(200), &lost);
        };
        lose(&mut vivace, 3, MSS);
        lose(&mut vivace, 3, 500);
        lose(&mut vivace, 11, MSS);
        lose(&mut vivace, 12, MSS);
        assert_eq!([0, 1].map(|index| vivace.intervals[index].lost), [1500, 1000]);
        send(&mut vivace, 160, 1 + 3 * MSS, false);
        lose(&mut vivace, 3, MSS);
        assert_eq!([0, 1].map(|index| vivace.intervals[index].lost), [1500, 2000]);
        lose(&mut vivace, 3, 9000);
        assert_eq!(vivace.intervals[1].lost, vivace.intervals[1].sent, "no more than the sent bytes");
        acknowledge(&mut vivace, 205, 1 + 4 * MSS, 50);
        assert_eq!(vivace.outstanding.len(), 8);
    }

    /// A timeout halves the rate, but not below two segments per SRTT. cwnd grows from the data in flight and one
    /// segment by the delivered bytes, until cwnd reaches twice the rate times SRTT: 2 x 1 MB/s x 50 ms = 100 kB.
    #[test]
    fn a_timeout_halves_the_rate() {
        let mut vivace = opened();
        send(&mut vivace, 100, 1, false);
        vivace.rate = 16.0;
        vivace.on_restart(&LossEvent { now: at(300), still_in_flight: 3000, ..LossEvent::default() });
        assert_eq!((vivace.rate, vivace.window()), (8.0, 4000));
        assert!(matches!(vivace.phase, Phase::Learning(_)) && vivace.intervals.len() == 1);
        acknowledge(&mut vivace, 310, 1, 50);
        assert_eq!(vivace.window(), 5000);
        vivace.intervals.clear();
        (vivace.restart, vivace.rate) = (Some(98_500), 8.0);
        acknowledge(&mut vivace, 320, 1, 50);
        assert_eq!((vivace.window(), vivace.restart), (99_500, Some(99_500)));
        acknowledge(&mut vivace, 330, 1, 50);
        assert_eq!((vivace.window(), vivace.restart), (100_000, None));
        vivace.rate = 0.4;
        vivace.on_timeout(&LossEvent { now: at(400), ..LossEvent::default() }, true);
        assert!((vivace.rate - 0.32).abs() < 1e-9);
        vivace.on_recovered(0, Recovered::Probed { window: 2500 });
        assert_eq!(vivace.window(), 2500);
        let level = super::super::Level { window: 1, ssthresh: 1 };
        vivace.on_recovered(0, Recovered::Kept);
        assert_eq!(vivace.window(), 2500);
        vivace.on_recovered(0, Recovered::Revised { from: level, to: level });
        // 2 x 0.32 Mbit/s x 50 ms = 4 kB (the rate of the trial differs by 5 %), which is the smallest window.
        assert!((4000..=4200).contains(&vivace.window()), "{}", vivace.window());
        vivace.on_segment(2000);
        assert_eq!(vivace.window(), 8000);
    }

    /// Waiting intervals, empty intervals and intervals of an earlier phase have no results. A limited interval restarts
    /// the phase.
    #[test]
    fn intervals_without_results() {
        let result = |purpose, sent, number, is_limited| {
            let mut vivace = opened();
            send(&mut vivace, 100, 1, false);
            (vivace.first, vivace.count) = (5, 9);
            let done = Interval {
                purpose,
                rate: 1.6,
                began: at(0),
                ended: Some(at(50)),
                number,
                until: 0,
                sent,
                lost: 0,
                is_limited,
                slope: Regression::default(),
            };
            vivace.handle(at(200), &done);
            (vivace.rate > 1.7, vivace.count)
        };
        assert_eq!(result(Purpose::Starting, 1000, 5, false), (true, 10));
        assert_eq!(result(Purpose::Starting, 1000, 4, false), (false, 9));
        assert_eq!(result(Purpose::Starting, 0, 5, false), (false, 9));
        assert_eq!(result(Purpose::Waiting, 1000, 5, false), (false, 9));
        assert_eq!(result(Purpose::Starting, 1000, 5, true), (false, 10));
    }
}
