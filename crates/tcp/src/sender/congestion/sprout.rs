//! Sprout: infers the link's rate from deliveries, and sends as many segments as the link will very probably deliver
//! within 100 ms.
//!
//! **Model.** The link delivers packets as a Poisson process. Its rate λ performs a Brownian motion with σ = 200
//! packets/s per √s between 0 and 1000 packets/s. Rate 0 is an outage, which ends with rate λz = 1 per s. The belief is
//! a probability for each of 256 values of λ.
//!
//! After each tick of 20 ms, the belief evolves by a tick of Brownian motion. The belief is then multiplied by the
//! Poisson probability of the number of segments delivered in the tick (Bayes), and normalised.
//!
//! **Forecast.** cwnd is the 5th percentile of the number of segments that the link delivers in the next five ticks
//! (`ticks`). With a probability of 95 %, the segments in flight are therefore delivered within 100 ms.
//!
//! Neither losses nor congestion marks change cwnd. After a timeout, cwnd is one segment until the next tick ends.
//!
//! # Differences from the paper
//! * In the paper, the receiver observes arrivals and sends forecasts to the sender. Here the sender observes the
//!   deliveries that ACKs report. The observation is therefore later by the delay of the ACK, and includes the jitter of
//!   the path of the ACKs.
//! * In the paper, the sender announces pauses, so that the receiver does not take a pause for an outage. Here the
//!   sender knows its pauses. A tick without deliveries counts only if a segment is outstanding that should have been
//!   acknowledged before the tick: the segment was sent at least the smallest RTT of the last ten seconds earlier. A
//!   tick in which the application limited the sender does not count.
//! * Ticks end when an ACK arrives. The forecast thus always begins now, and no forecast of the rest of eight ticks is
//!   needed.
//! * The paper combines the distributions of successive ticks as if they were independent. Here the forecast is exact
//!   for the model.
//! * cwnd is at least two segments, in place of the paper's heartbeats.
//!
//! # Effects
//! * Segments in flight include the segments in propagation. The certain share of 100 ms is about 79 ms of deliveries at
//!   10 Mbit/s, and about 50 ms at 2 Mbit/s. If the base RTT is longer, cwnd cannot fill the path. The observed rate
//!   then falls, and cwnd with the rate, down to two segments (as on the ready path `umts`). At 10 Mbit/s, a larger
//!   `ticks` helps.
//! * λ is at most 1000 packets/s (12 Mbit/s of packets of 1500 bytes). Faster links are full only if cwnd, at most about
//!   85 segments, fills the path.

use super::windowed_min::WindowedMin;
use super::{AckEvent, Build, CongestionControl, LossEvent, Nature, RateHooks, Recovered, Start, segments};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use std::collections::VecDeque;
use std::sync::OnceLock;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "sprout",
        summary: "infers the rate of a cellular link, and sends what the link delivers within 100 ms with 95 % probability",
        source: "Winstein, Sivaraman and Balakrishnan, NSDI 2013 §3 (constants and model of the authors' program)",
        parameters: &[Parameter {
            name: "ticks",
            unit: Unit::Count(1, MOST_TICKS as u64),
            default: Some("5"),
            doc: "number of ticks of 20 ms in which the segments in flight are delivered with 95 % probability",
        }],
        ..Info::PLAIN
    },
    build: &|values, start| Box::new(Sprout::new(values.count("ticks") as usize, &start)),
};

/// Number of values of the rate λ.
const RATES: usize = 256;
/// Largest rate λ, packets per second.
const LARGEST_RATE: f64 = 1000.0;
/// Length of a tick.
const TICK: Duration = Duration::from_millis(20);
/// Length of a tick, seconds.
const TICK_SECS: f64 = 0.02;
/// Standard deviation σ of the change of λ in a second, packets per second.
const SIGMA: f64 = 200.0;
/// Rate λz at which outages end, per second.
const ESCAPE: f64 = 1.0;
/// Probability that the link delivers fewer segments than the forecast.
const QUANTILE: f64 = 0.05;
/// Largest number of ticks of a forecast.
const MOST_TICKS: usize = 8;
/// Largest change of λ in a tick, in steps between neighbouring rates. A standard deviation is 7.2 steps.
const REACH: usize = 37;
/// Largest number of deliveries per tick in the tables. At the largest rate, the mean is 20.
const MOST_COUNTS: usize = 60;
/// Number of ticks without an ACK after which the belief restarts.
const LONGEST_GAP: u64 = 1024;
/// Time for which an RTT sample counts for the smallest RTT.
const MIN_WINDOW: Duration = Duration::from_secs(10);
/// Smallest cwnd, segments.
const SMALLEST: f64 = 2.0;

/// Probability of each rate λ.
type Belief = [f64; RATES];

/// Returns the mean number of deliveries in a tick at the rate with number `index`.
fn mean(index: usize) -> f64 {
    LARGEST_RATE * TICK_SECS * index as f64 / (RATES - 1) as f64
}

/// Change of λ in one tick. Changes beyond the smallest or largest rate end at that rate.
struct Motion {
    /// Probabilities of the changes by -`REACH` to `REACH` rates.
    kernel: [f64; 2 * REACH + 1],
    /// Probability that an outage continues.
    stays: f64,
}

impl Motion {
    fn new() -> Motion {
        // Standard deviation in steps between neighbouring rates.
        let sigma = SIGMA * libm::sqrt(TICK_SECS) * (RATES - 1) as f64 / LARGEST_RATE;
        let below = |steps: f64| 0.5 * libm::erfc(-steps / (sigma * std::f64::consts::SQRT_2));
        let offset = |index: usize| index as f64 - REACH as f64;
        let mut kernel: [f64; 2 * REACH + 1] =
            std::array::from_fn(|index| below(offset(index) + 0.5) - below(offset(index) - 0.5));
        let total: f64 = kernel.iter().sum();
        kernel.iter_mut().for_each(|probability| *probability /= total);
        Motion { kernel, stays: libm::exp(-ESCAPE * TICK_SECS) }
    }

    /// Returns the belief one tick later.
    fn evolve(&self, belief: &Belief) -> Belief {
        let mut moving = *belief;
        moving[0] *= 1.0 - self.stays;
        // Rate `index` of the belief is at `index + REACH`.
        let mut wide = [0.0; RATES + 2 * REACH];
        for (index, probability) in self.kernel.iter().enumerate() {
            let sums = wide[index..index + RATES].iter_mut();
            sums.zip(&moving).for_each(|(sum, weight)| *sum += weight * probability);
        }
        let mut later: Belief = std::array::from_fn(|index| wide[index + REACH]);
        later[0] += wide[..REACH].iter().sum::<f64>() + belief[0] * self.stays;
        later[RATES - 1] += wide[REACH + RATES..].iter().sum::<f64>();
        later
    }

    /// Returns, for each rate, the mean of `values` one tick later.
    fn expect(&self, values: &Belief) -> Belief {
        let wide: [f64; RATES + 2 * REACH] =
            std::array::from_fn(|index| values[index.saturating_sub(REACH).min(RATES - 1)]);
        let mut expected = [0.0; RATES];
        for (index, probability) in self.kernel.iter().enumerate() {
            let later = &wide[index..index + RATES];
            expected.iter_mut().zip(later).for_each(|(mean, value)| *mean += value * probability);
        }
        expected[0] = self.stays * values[0] + (1.0 - self.stays) * expected[0];
        expected
    }
}

/// Tables that depend on no connection.
struct Model {
    motion: Motion,
    /// Logarithm of the mean number of deliveries per tick, for each rate.
    log_means: Belief,
    /// Probability of at most n deliveries in the ticks of the forecast, for each n and each current rate.
    at_most: Vec<Belief>,
}

impl Model {
    /// Returns the tables for a forecast of `ticks` ticks. The tables are computed once per process.
    fn shared(ticks: usize) -> &'static Model {
        static MODELS: [OnceLock<Model>; MOST_TICKS] = [const { OnceLock::new() }; MOST_TICKS];
        let ticks = ticks.clamp(1, MOST_TICKS);
        MODELS[ticks - 1].get_or_init(|| Model::new(ticks))
    }

    fn new(ticks: usize) -> Model {
        let motion = Motion::new();
        let poisson: Vec<Belief> = (0..=MOST_COUNTS)
            .map(|count| std::array::from_fn(|index| probability(count as f64, mean(index))))
            .collect();
        // exactly[n][rate]: probability of n deliveries in the ticks considered so far.
        let mut exactly: Vec<Belief> = vec![[1.0; RATES]];
        for tick in 1..=ticks {
            let later: Vec<Belief> = exactly.iter().map(|values| motion.expect(values)).collect();
            // The 5th percentile is below the mean, which is at most 20 per tick.
            let most = (LARGEST_RATE * TICK_SECS) as usize * tick;
            exactly = (0..=most).map(|count| convolve(&poisson, &later, count)).collect();
        }
        let mut at_most = exactly;
        for count in 1..at_most.len() {
            let smaller = at_most[count - 1];
            at_most[count].iter_mut().zip(smaller).for_each(|(sum, smaller)| *sum += smaller);
        }
        Model { motion, log_means: std::array::from_fn(|index| libm::log(mean(index))), at_most }
    }

    /// Returns the 5th percentile of the number of deliveries.
    fn forecast(&self, belief: &Belief) -> usize {
        let is_below = |at_most: &Belief| {
            let share: f64 = at_most.iter().zip(belief).map(|(share, weight)| share * weight).sum();
            share < QUANTILE
        };
        self.at_most.partition_point(is_below)
    }

    /// Multiplies `belief` by the probability of `count` deliveries in a tick, and normalises `belief`.
    fn observe(&self, belief: &mut Belief, count: f64) {
        let logarithm = |index: usize| match index {
            0 if count > 0.0 => f64::NEG_INFINITY,
            0 => 0.0,
            _ => count * self.log_means[index] - mean(index),
        };
        let logarithms: Belief = std::array::from_fn(logarithm);
        let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (weight, logarithm) in belief.iter_mut().zip(logarithms) {
            *weight *= libm::exp(logarithm - largest);
        }
        normalise(belief);
    }
}

/// Returns, for each rate, the probability of `count` deliveries: k in the current tick and `count` - k later.
fn convolve(now: &[Belief], later: &[Belief], count: usize) -> Belief {
    let mut sum = [0.0; RATES];
    for k in count.saturating_sub(later.len() - 1)..=count.min(MOST_COUNTS) {
        let (now, later) = (&now[k], &later[count - k]);
        sum.iter_mut().zip(now.iter().zip(later)).for_each(|(sum, (now, later))| *sum += now * later);
    }
    sum
}

/// Returns the Poisson probability of `count` events for the mean `mean`.
fn probability(count: f64, mean: f64) -> f64 {
    if mean == 0.0 {
        return if count == 0.0 { 1.0 } else { 0.0 };
    }
    libm::exp(count * libm::log(mean) - mean - libm::lgamma(count + 1.0))
}

/// Scales `belief` to the sum 1. Without any probability, all rates become equally probable.
fn normalise(belief: &mut Belief) {
    let sum: f64 = belief.iter().sum();
    if sum > 1e-200 {
        belief.iter_mut().for_each(|weight| *weight /= sum);
    } else {
        *belief = UNIFORM;
    }
}

const UNIFORM: Belief = [1.0 / RATES as f64; RATES];

struct Sprout {
    model: &'static Model,
    mss: f64,
    /// cwnd, segments.
    cwnd: f64,
    belief: Belief,
    /// Start of the current tick; `None` before the first ACK.
    began: Option<Time>,
    /// Segments delivered in the current tick.
    count: f64,
    /// Whether the application limited the sender in the current tick.
    is_limited: bool,
    smallest: WindowedMin,
    una: u64,
    nxt: u64,
    /// SND.NXT at the starts of recent ticks.
    sent: VecDeque<(Time, u64)>,
    /// Next byte to send at the newest time from which data should have been acknowledged before the current tick.
    overdue: u64,
}

impl Sprout {
    fn new(ticks: usize, start: &Start) -> Sprout {
        let mss = start.mss as f64;
        Sprout {
            model: Model::shared(ticks),
            mss,
            cwnd: (start.window as f64 / mss).max(SMALLEST),
            belief: UNIFORM,
            began: None,
            count: 0.0,
            is_limited: false,
            smallest: WindowedMin::new(),
            una: 0,
            nxt: 0,
            sent: VecDeque::new(),
            overdue: 0,
        }
    }

    /// Ends the ticks before `now`. Returns whether a tick has ended.
    fn end_ticks(&mut self, now: Time) -> bool {
        let began = *self.began.get_or_insert(now);
        let elapsed = now.since(began).as_nanos() / TICK.as_nanos();
        if elapsed > LONGEST_GAP {
            (self.belief, self.count, self.is_limited) = (UNIFORM, 0.0, false);
            self.sent.clear();
        } else {
            (0..elapsed).for_each(|tick| self.end_tick(began + TICK * tick));
        }
        self.began = Some(began + TICK * elapsed);
        elapsed > 0
    }

    /// Ends the tick that began at `began`.
    fn end_tick(&mut self, began: Time) {
        while let Some((time, nxt)) = self.sent.front().copied() {
            if time + self.smallest.get() > began {
                break;
            }
            self.overdue = nxt;
            self.sent.pop_front();
        }
        self.sent.push_back((began + TICK, self.nxt));
        self.belief = self.model.motion.evolve(&self.belief);
        let is_observed = if self.count > 0.0 { !self.is_limited } else { self.una < self.overdue };
        if is_observed {
            let count = if self.count > 0.0 { libm::round(self.count).max(1.0) } else { 0.0 };
            self.model.observe(&mut self.belief, count);
        }
        (self.count, self.is_limited) = (0.0, false);
    }
}

impl CongestionControl for Sprout {
    fn window(&self) -> u64 {
        segments::bytes(self.cwnd, self.mss)
    }

    fn ssthresh(&self) -> u64 {
        self.window()
    }

    fn nature(&self) -> Nature {
        // An ACK lowers cwnd if few segments were delivered in a tick, as under a growing delay.
        Nature { conserves: true, follows_delay: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn AckCounting) {
        if self.end_ticks(ack.now) {
            self.cwnd = (self.model.forecast(&self.belief) as f64).max(SMALLEST);
        }
        if let Some(rtt) = ack.rtt {
            self.smallest.record(ack.now, rtt, MIN_WINDOW);
        }
        self.count += ack.delivered as f64 / self.mss;
        self.is_limited |= ack.held;
        (self.una, self.nxt) = (ack.una, ack.nxt);
    }

    fn on_loss(&mut self, _: &LossEvent) {}

    fn on_restart(&mut self, loss: &LossEvent) {
        self.on_timeout(loss, true);
    }

    fn on_timeout(&mut self, loss: &LossEvent, _: bool) {
        self.cwnd = 1.0 + loss.still_in_flight as f64 / self.mss;
    }

    fn on_mark(&mut self, _: &LossEvent) {}

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

impl RateHooks for Sprout {}

#[cfg(test)]
mod tests {
    use super::super::bottleneck::Bottleneck;
    use super::super::rounds::{MSS, Rounds};
    use super::*;
    use lasthop_base::Choice;

    /// Returns the belief that λ is the rate with number `index`.
    fn certain(index: usize) -> Belief {
        std::array::from_fn(|other| if other == index { 1.0 } else { 0.0 })
    }

    /// Returns mean and variance of the number of the rate.
    fn moments(belief: &Belief) -> (f64, f64) {
        let moment = |power: i32| -> f64 {
            belief.iter().enumerate().map(|(index, weight)| (index as f64).powi(power) * weight).sum()
        };
        (moment(1), moment(2) - moment(1) * moment(1))
    }

    fn sprout() -> Sprout {
        Sprout::new(5, &Rounds::start(10, 1 << 20))
    }

    /// Acknowledges `delivered` segments at `millis`. `una` and `nxt` count segments.
    fn ack(sprout: &mut Sprout, millis: u64, delivered: u64, una: u64, nxt: u64) {
        let ack = AckEvent {
            now: Time::ZERO + Duration::from_millis(millis),
            una: una * MSS,
            nxt: nxt * MSS,
            delivered: delivered * MSS,
            rtt: Some(Duration::from_millis(40)),
            ..AckEvent::default()
        };
        let counting = Choice::of(&crate::sender::ack_counting::DEFAULT);
        sprout.on_ack(&ack, &mut *(counting.build)(&counting.values));
    }

    /// NSDI 2013 §3: 95 % of the segments wait less than 100 ms, the propagation included. 833 segments of 1500 bytes
    /// per second are 10 Mbit/s. 66 of 83 segments per 100 ms are 95 % certain, which fills a path of less than 79 ms.
    #[test]
    fn segments_arrive_within_a_hundred_milliseconds() {
        for base_rtt in [0.02, 0.04, 0.06] {
            let measured = Bottleneck::steady(|_| 833.0, base_rtt).run(&MECHANISM);
            assert!(measured.share > 0.95, "{base_rtt}: {}", measured.share);
            let within = measured.share_within(0.1 - base_rtt);
            assert!(within >= 0.95, "{base_rtt}: {within}");
        }
    }

    /// A base RTT of 100 ms at 10 Mbit/s needs 83 segments in flight, but only 66 of 83 deliveries are certain in 100 ms.
    /// In 160 ms, 133 segments are delivered on average. Their variance is 133 + σ² τ³ (1 + 4 + … + 49) = 178, so that
    /// 111 deliveries are certain. These fill the path.
    #[test]
    fn a_long_path_needs_a_longer_forecast() {
        let path = Bottleneck::steady(|_| 833.0, 0.1);
        let share = |ticks| path.run_control(Box::new(Sprout::new(ticks, &Rounds::start(10, 1 << 20)))).share;
        let (five, eight) = (share(5), share(8));
        assert!(five < 66.0 / 83.0 && eight > 0.95, "{five} {eight}");
    }

    /// A rate that falls from 10 to 3 Mbit/s every 10 s: the belief follows within some ticks.
    #[test]
    fn the_belief_follows_a_changing_rate() {
        let rate = |time: f64| if time % 10.0 < 5.0 { 833.0 } else { 250.0 };
        let measured = Bottleneck::steady(rate, 0.04).run(&MECHANISM);
        assert!(measured.share > 0.9, "{}", measured.share);
        assert!(measured.share_within(0.06) >= 0.95, "{}", measured.share_within(0.06));
    }

    /// A Poisson distribution with mean 20 has P(N ≤ 12) = 0.039 and P(N ≤ 13) = 0.066.
    #[test]
    fn the_forecast_of_a_tick_is_a_poisson_percentile() {
        assert_eq!(Model::shared(1).forecast(&certain(RATES - 1)), 13);
        assert_eq!(Model::shared(1).forecast(&certain(0)), 0);
    }

    /// At λ = 500 packets/s, five ticks deliver 50 packets on average. The variance is 50 (Poisson) plus the variance of
    /// the Brownian motion, σ² τ³ (1 + 4 + 9 + 16) = 9.6. The normal approximation of the 5th percentile is 50 - 1.645
    /// √59.6 = 37.3.
    #[test]
    fn the_forecast_includes_the_motion_of_the_rate() {
        let forecast = Model::shared(5).forecast(&certain(128));
        assert!((37..=38).contains(&forecast), "{forecast}");
        let forecasts: Vec<usize> =
            (1..=8).map(|ticks| Model::shared(ticks).forecast(&certain(128))).collect();
        assert!(forecasts.is_sorted(), "{forecasts:?}");
    }

    /// A tick adds the variance σ² τ = 800 (packets/s)², or 800 (255 / 1000)² = 52 squared steps. Rounding to steps adds
    /// 1/12.
    #[test]
    fn the_motion_has_the_stated_variance() {
        let motion = Model::shared(5).motion.evolve(&certain(128));
        let (mean, variance) = moments(&motion);
        assert!((mean - 128.0).abs() < 1e-9 && (variance - 52.1).abs() < 0.1, "{mean} {variance}");
        assert!((motion.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    /// An outage continues for a tick with probability exp(-0.02). In half of the other cases, the motion leads below
    /// the rate 0, and the outage continues, too.
    #[test]
    fn outages_are_sticky() {
        let later = Model::shared(5).motion.evolve(&certain(0));
        let stays = libm::exp(-0.02);
        assert!(later[0] > stays + 0.5 * (1.0 - stays) && later[0] < 1.0, "{}", later[0]);
        assert!((later.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    /// Ten packets in each of 50 ticks: the posterior of a constant rate is a gamma distribution with its mode at 500
    /// packets/s and the standard deviation √501 / (50 x 0.02 s) = 22.4 packets/s.
    #[test]
    fn observations_are_poisson() {
        let mut belief = UNIFORM;
        (0..50).for_each(|_| Model::shared(5).observe(&mut belief, 10.0));
        let (mean, variance) = moments(&belief);
        let step = LARGEST_RATE / (RATES - 1) as f64;
        assert!((mean * step - 501.0).abs() < 1.0, "{mean}");
        assert!((libm::sqrt(variance) * step - 22.4).abs() < 0.1, "{variance}");
    }

    /// A silence of 500 ms with outstanding data is an outage: cwnd is two segments. Without outstanding data, the
    /// silence is a pause. The belief then spreads by σ √0.5 s = 141 packets/s, so that 500 packets/s are 3.5 standard
    /// deviations above an outage.
    #[test]
    fn a_pause_is_no_outage() {
        let window = |outstanding: u64| {
            let mut sprout = sprout();
            (0..100).for_each(|tick| ack(&mut sprout, 20 * tick, 10, 10 * tick, 10 * tick + 20));
            let before = sprout.cwnd;
            ack(&mut sprout, 2000, 10, 1000, 1000 + outstanding);
            ack(&mut sprout, 2500, 1, 1001, 1010);
            (before, sprout.cwnd, sprout.belief[0])
        };
        let (before, outage, probability) = window(20);
        assert!((30.0..=38.0).contains(&before), "{before}");
        assert!(outage == SMALLEST && probability > 0.5, "{outage} {probability}");
        let (_, pause, probability) = window(0);
        assert!(pause > SMALLEST && pause < before && probability < 0.01, "{pause} {probability}");
    }

    /// A timeout leaves one segment beside those still in flight. The next tick restores the forecast.
    #[test]
    fn a_timeout_holds_for_a_tick() {
        let mut sprout = sprout();
        (0..100).for_each(|tick| ack(&mut sprout, 20 * tick, 10, 10 * tick, 10 * tick + 20));
        let before = sprout.cwnd;
        sprout.on_loss(&LossEvent::default());
        assert_eq!(sprout.cwnd, before, "a loss changes nothing");
        sprout.on_timeout(&LossEvent { still_in_flight: 3 * MSS, ..LossEvent::default() }, true);
        assert_eq!(sprout.window(), 4 * MSS);
        ack(&mut sprout, 2000, 10, 1000, 1020);
        assert_eq!(sprout.cwnd, before);
    }

    #[test]
    fn impossible_observations_restart_the_belief() {
        let mut belief = certain(0);
        Model::shared(5).observe(&mut belief, 5.0);
        assert!((belief.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        Model::shared(5).observe(&mut belief, 1e9);
        assert!(belief.iter().all(|weight| weight.is_finite()));
    }
}
