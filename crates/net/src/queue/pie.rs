//! PIE: drops arriving packets with a probability from a proportional-integral controller of the delay (RFC 8033).
//!
//! Every `update`, the probability changes by `alpha` times the excess of the delay over the target, plus `beta` times
//! the growth of the delay. The smaller the probability, the smaller these changes are (§4.2). After a quiet time, a
//! burst passes without drops (§4.4). Between two drops, a minimum number of packets passes (§5.4). While the
//! probability is above a threshold, ECN-capable packets are dropped instead of marked (§5.1).
//!
//! The delay is the queueing delay of the last dequeued packet (§4.3; Linux's default). With `estimator =
//! "departure_rate"`, the delay is the backlog divided by the departure rate, which is measured over 16 KB at a time
//! (§5.2).
//!
//! # Differences from the RFC
//! PIE is always on (§5.3 allows switching PIE off while the queue is less than a third full). The probability is
//! updated only when a packet arrives or leaves, once for each update interval that has ended since the last update.

use super::fifo::{Front, PacketFifo};
use super::{Build, Dropped, Queue};
use crate::admission::mark;
use crate::discipline::Discipline;
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Stream, Time, Unit, Values};
use lasthop_wire::{Backlog, LossReason, Packet};

const LONGEST: Duration = Duration::from_secs(100);

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "pie",
        summary: "proportional integral controller enhanced: drops or marks at arrival, by the queueing delay",
        source: "RFC 8033",
        parameters: &[
            Parameter {
                name: "target",
                unit: Unit::Duration(Duration::from_micros(1), LONGEST),
                default: Some("15 ms"),
                doc: "target delay of the controller (QDELAY_REF)",
            },
            Parameter {
                name: "update",
                unit: Unit::Duration(Duration::from_micros(100), LONGEST),
                default: Some("15 ms"),
                doc: "time between two updates of the probability (T_UPDATE)",
            },
            Parameter {
                name: "alpha",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("0.125"),
                doc: "integral gain: change of the probability per update for each second by which the delay \
                      exceeds the target, Hz",
            },
            Parameter {
                name: "beta",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("1.25"),
                doc: "proportional gain: change of the probability per update for each second by which the delay \
                      has grown, Hz",
            },
            Parameter {
                name: "max_burst",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("150 ms"),
                doc: "time without drops after a quiet time (MAX_BURST)",
            },
            Parameter {
                name: "estimator",
                unit: Unit::Word(&["timestamp", "departure_rate"]),
                default: Some("timestamp"),
                doc: "delay estimate: delay of the last packet, or backlog divided by the departure rate",
            },
            Parameter {
                name: "marks",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "marks ECN-capable packets instead of dropping them",
            },
            Parameter {
                name: "mark_threshold",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0.1"),
                doc: "probability above which ECN-capable packets are dropped, too (MARK_ECNTH)",
            },
            Parameter {
                name: "packets",
                unit: Unit::Count(0, 1_000_000_000),
                default: Some("1000"),
                doc: "queue limit, packets, without the packet in transmission; 0: no limit",
            },
            Parameter {
                name: "mtu",
                unit: Unit::Bytes(1, 65_535),
                default: Some("1500 bytes"),
                doc: "packet size: no drops while at most two packets of this size wait (MEAN_PKTSIZE)",
            },
        ],
        only_if: &[OnlyIf { parameters: &["mark_threshold"], other: "marks", is: Is::This("true") }],
        ..Info::PLAIN
    },
    build: &|values, context| Discipline::scheduled(Pie::new(values, context.random)),
};

/// Number of bytes over which the departure rate is measured (DQ_THRESHOLD, RFC 8033 §5.2).
const THRESHOLD: u64 = 16_384;
/// Weight of the latest measurement in the average departure rate (RFC 8033 §5.2).
const WEIGHT: f64 = 0.25;

/// Pairs of a probability and a divisor. While the drop probability is below the pair's probability, the changes of the
/// drop probability are divided by the divisor (RFC 8033 §4.2).
const STEPS: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

struct Pie {
    target: f64,
    update: Duration,
    alpha: f64,
    beta: f64,
    max_burst: Duration,
    marks: bool,
    mark_threshold: f64,
    limit: usize,
    mtu: u64,
    random: Stream,
    waiting: PacketFifo,
    estimator: Estimator,
    probability: f64,
    /// Sum of the drop probabilities of the packets since the last drop. Two bounds on this sum set a minimum and a
    /// maximum for the gap between two drops.
    probability_sum: f64,
    /// Current delay, s.
    delay: f64,
    /// Delay at the last update, s.
    last_delay: f64,
    burst_left: Duration,
    updates_at: Time,
}

enum Estimator {
    Timestamp,
    DepartureRate {
        /// Start of the current measurement, and number of bytes that have left since then; `None` between
        /// measurements.
        cycle: Option<(Time, u64)>,
        /// Average time in s in which [`THRESHOLD`] bytes leave; `None` before the first measurement.
        average: Option<f64>,
    },
}

impl Pie {
    fn new(values: &Values, random: Stream) -> Pie {
        Pie {
            target: values.duration("target").as_secs(),
            update: values.duration("update"),
            alpha: values.number("alpha"),
            beta: values.number("beta"),
            max_burst: values.duration("max_burst"),
            marks: values.flag("marks"),
            mark_threshold: values.number("mark_threshold"),
            limit: match values.count("packets") {
                0 => usize::MAX,
                packets => packets as usize,
            },
            mtu: values.bytes("mtu"),
            random,
            waiting: PacketFifo::default(),
            estimator: match values.word("estimator") {
                "timestamp" => Estimator::Timestamp,
                _ => Estimator::DepartureRate { cycle: None, average: None },
            },
            probability: 0.0,
            probability_sum: 0.0,
            delay: 0.0,
            last_delay: 0.0,
            burst_left: values.duration("max_burst"),
            updates_at: Time::ZERO,
        }
    }

    fn advance(&mut self, now: Time) {
        while self.updates_at <= now {
            if let Estimator::DepartureRate { average: Some(average), .. } = &self.estimator {
                self.delay = self.waiting.bytes() as f64 / THRESHOLD as f64 * average;
            }
            self.update_controller();
            self.updates_at += self.update;
            if self.probability == 0.0
                && self.delay == 0.0
                && self.last_delay == 0.0
                && self.updates_at <= now
            {
                // The state stays constant until the next packet arrives, so the remaining updates are skipped.
                let missed = now.since(self.updates_at).as_nanos() / self.update.as_nanos();
                self.updates_at += self.update * missed;
            }
        }
    }

    /// Implements `calculate_drop_prob` (RFC 8033 §4.2, §4.4, §5.5).
    fn update_controller(&mut self) {
        let change = self.alpha * (self.delay - self.target) + self.beta * (self.delay - self.last_delay);
        let scale =
            STEPS.iter().find(|(below, _)| self.probability < *below).map_or(1.0, |(_, scale)| *scale);
        let mut change = change / scale;
        if self.probability >= 0.1 {
            change = change.min(0.02);
        }
        self.probability += change;
        if self.delay == 0.0 && self.last_delay == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let is_quiet = |delay: f64| delay < 0.5 * self.target;
        self.burst_left = if self.probability == 0.0 && is_quiet(self.delay) && is_quiet(self.last_delay) {
            self.max_burst
        } else {
            self.burst_left.saturating_sub(self.update)
        };
        self.last_delay = self.delay;
    }

    /// Implements `drop_early` (RFC 8033 §4.1, §5.4). Returns whether the arriving packet must be dropped or marked.
    fn should_drop(&mut self) -> bool {
        if self.burst_left > Duration::ZERO {
            return false;
        }
        let is_short = self.last_delay < 0.5 * self.target && self.probability < 0.2;
        if is_short || self.waiting.bytes() <= 2 * self.mtu {
            return false;
        }
        if self.probability == 0.0 {
            self.probability_sum = 0.0;
        }
        self.probability_sum += self.probability;
        match self.probability_sum {
            ..0.85 => false,
            8.5.. => true,
            _ => self.random.uniform() < self.probability,
        }
    }

    fn on_departure(&mut self, now: Time, arrived_at: Time, packet: &Packet) {
        let left = self.waiting.bytes();
        match &mut self.estimator {
            Estimator::Timestamp => {
                self.delay = if left == 0 { 0.0 } else { now.since(arrived_at).as_secs() }
            }
            Estimator::DepartureRate { cycle, average } => {
                if cycle.is_none() && left >= THRESHOLD {
                    // Counting begins with the next packet. The time from `now` to the n-th counted departure is then
                    // the time of n transmissions.
                    *cycle = Some((now, 0));
                    return;
                }
                let Some((since, bytes)) = cycle else { return };
                *bytes += u64::from(packet.wire_bytes);
                if *bytes >= THRESHOLD {
                    let took = now.since(*since).as_secs() * THRESHOLD as f64 / *bytes as f64;
                    *average = Some(average.map_or(took, |average| average + WEIGHT * (took - average)));
                    *cycle = None;
                }
            }
        }
    }
}

impl Queue for Pie {
    fn enqueue(&mut self, now: Time, mut packet: Packet, dropped: &mut Dropped) {
        self.advance(now);
        if self.waiting.len() >= self.limit {
            self.probability_sum = 0.0;
            return dropped.push((packet, LossReason::QueueFull));
        }
        if self.should_drop() {
            self.probability_sum = 0.0;
            let may_mark = self.marks && self.probability <= self.mark_threshold;
            if !(may_mark && mark(&mut packet)) {
                return dropped.push((packet, LossReason::EarlyDrop));
            }
        }
        self.waiting.push(now, packet);
    }

    fn dequeue(&mut self, now: Time, _: &mut Dropped) -> Option<Packet> {
        self.advance(now);
        let (arrived_at, packet) = self.waiting.pop()?;
        self.on_departure(now, arrived_at, &packet);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn marks(&self) -> bool {
        self.marks
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at, packet};
    use super::*;
    use lasthop_base::Value;
    use lasthop_wire::Ecn;

    fn pie(settings: &[(&'static str, Value)]) -> Pie {
        let mut values = MECHANISM.info.defaults();
        settings.iter().for_each(|(name, value)| values.set(name, value.clone()));
        Pie::new(&values, Stream::named(1, "queue"))
    }

    /// RFC 8033 §4.2: p must grow by (alpha (delay - target) + beta (delay - old delay)) / divisor, with the divisor
    /// from the table. If p is at least 0.1, p must grow by at most 0.02 per update (§5.5).
    #[test]
    fn the_controller_takes_smaller_steps_the_smaller_the_probability() {
        let table = [
            (5e-7, 2048.0),
            (5e-6, 512.0),
            (5e-5, 128.0),
            (5e-4, 32.0),
            (5e-3, 8.0),
            (5e-2, 2.0),
            (0.2, 1.0),
        ];
        for (probability, scale) in table {
            let mut pie = pie(&[]);
            (pie.probability, pie.delay, pie.last_delay) = (probability, 0.030, 0.025);
            pie.update_controller();
            let expected = probability + (0.125 * 0.015 + 1.25 * 0.005) / scale;
            assert!((pie.probability - expected).abs() < 1e-12, "{probability}: {}", pie.probability);
        }
        let mut late = pie(&[]);
        (late.probability, late.delay, late.last_delay) = (0.2, 0.5, 0.1);
        late.update_controller();
        assert!((late.probability - 0.22).abs() < 1e-12);
        // If the delay is zero at two consecutive updates, the probability must also be multiplied by 0.98.
        (late.probability, late.delay, late.last_delay) = (0.2, 0.0, 0.0);
        late.update_controller();
        assert!((late.probability - 0.98 * (0.2 - 0.125 * 0.015)).abs() < 1e-12);
    }

    /// RFC 8033 §4.4: after a quiet time, no packet may be dropped for 150 ms (ten updates), whatever the delay.
    #[test]
    fn a_burst_passes() {
        let mut pie = pie(&[]);
        pie.update_controller();
        assert_eq!(pie.burst_left, Duration::from_millis(150));
        pie.delay = 0.1;
        (0..9).for_each(|_| pie.update_controller());
        assert_eq!(pie.burst_left, Duration::from_millis(15));
        assert!(pie.probability > 0.0 && !pie.should_drop());
        pie.update_controller();
        assert_eq!(pie.burst_left, Duration::ZERO);
    }

    /// Returns the gaps between drops or marks, in packets, and the number of marks. The queue has 100 packets, and the
    /// drop probability is fixed.
    fn gaps(probability: f64, ecn: Ecn, count: usize) -> (Vec<u64>, u64) {
        let still = [("alpha", Value::Number(0.0)), ("beta", Value::Number(0.0))];
        let mut pie = pie(&still);
        (pie.probability, pie.delay, pie.last_delay, pie.burst_left) =
            (probability, 0.1, 0.1, Duration::ZERO);
        (0..100).for_each(|number| pie.waiting.push(at(0), packet(number, 0, Ecn::NotEct)));
        let (mut dropped, mut gaps, mut gap, mut marked) = (Dropped::new(), Vec::new(), 0, 0);
        while gaps.len() < count {
            gap += 1;
            pie.enqueue(at(1), packet(0, 0, ecn), &mut dropped);
            let is_marked = pie.waiting.len() > 100 && pie.waiting.last_is_marked();
            if !dropped.is_empty() || is_marked {
                marked += u64::from(is_marked);
                gaps.push(std::mem::take(&mut gap));
            }
            if pie.waiting.len() > 100 {
                pie.waiting = PacketFifo::default();
                (0..100).for_each(|number| pie.waiting.push(at(0), packet(number, 0, Ecn::NotEct)));
            }
            dropped.clear();
        }
        (gaps, marked)
    }

    /// RFC 8033 §5.4: a packet can be dropped only if the sum of drop probabilities since the last drop is at least
    /// 0.85, and must be dropped if the sum is at least 8.5. At p = 0.05, 16 packets must therefore pass after a drop.
    /// The number of further packets up to the next drop is geometric with mean 20.
    #[test]
    fn drops_keep_a_distance() {
        let count = 4000;
        let (gaps, marked) = gaps(0.05, Ecn::NotEct, count);
        assert_eq!(marked, 0);
        assert!(gaps.iter().all(|gap| (17..=170).contains(gap)), "{:?}", gaps.iter().min());
        let mean = gaps.iter().sum::<u64>() as f64 / count as f64;
        // The geometric number of packets has a standard deviation of sqrt(1 - p) / p = 19.5.
        assert!((mean - 36.0).abs() < 5.0 * 19.5 / (count as f64).sqrt(), "{mean}");
    }

    /// RFC 8033 §4.1: no packet may be dropped if the old delay is below half the target and the probability is below
    /// 20 %, or if at most two packets of mean size wait. In all cases of the test, the sum of probabilities is 8.5, at
    /// which a packet would otherwise be dropped (§5.4).
    #[test]
    fn a_short_delay_or_a_short_queue_shields() {
        for (share, probability, packets, should_drop) in [
            (0.49, 0.19, 3, false),
            (0.5, 0.19, 3, true),
            (0.49, 0.2, 3, true),
            (0.5, 0.19, 2, false),
            (0.5, 0.2, 2, false),
        ] {
            let mut pie = pie(&[]);
            (pie.last_delay, pie.probability, pie.burst_left) =
                (share * pie.target, probability, Duration::ZERO);
            (pie.probability_sum, pie.mtu) = (8.5, 1000);
            (0..packets).for_each(|number| pie.waiting.push(at(0), packet(number, 0, Ecn::NotEct)));
            assert_eq!(pie.should_drop(), should_drop, "{share} {probability} {packets}");
        }
    }

    /// RFC 8033 §4.2: a burst must be allowed again if the probability is zero, and if the current and the last delay
    /// are below half the target.
    #[test]
    fn bursts_are_allowed_anew_below_half_of_the_reference() {
        for (last_delay, now, anew) in [(0.49, 0.49, true), (0.5, 0.49, false), (0.49, 0.5, false)] {
            let mut pie = pie(&[("alpha", Value::Number(0.0)), ("beta", Value::Number(0.0))]);
            (pie.last_delay, pie.delay, pie.burst_left) =
                (last_delay * pie.target, now * pie.target, Duration::ZERO);
            pie.update_controller();
            assert_eq!(pie.burst_left > Duration::ZERO, anew, "{last_delay} {now}");
        }
    }

    /// RFC 8033 §5.1: up to a probability of 10 %, packets must be marked instead of dropped. Above this probability,
    /// no packet may be marked.
    #[test]
    fn ecn_protects_up_to_a_tenth() {
        let (gentle, harsh) = (gaps(0.05, Ecn::Ect0, 100), gaps(0.11, Ecn::Ect0, 100));
        assert_eq!((gentle.1, harsh.1), (100, 0));
    }

    /// RFC 8033 §4.3, §5.2: one packet of 1000 bytes leaves each millisecond. In a queue of 50 packets, both estimators
    /// must find a delay of about 50 ms.
    #[test]
    fn both_estimators_tell_how_long_packets_wait() {
        for estimator in ["timestamp", "departure_rate"] {
            let mut pie =
                pie(&[("estimator", Value::Word(estimator)), ("max_burst", Value::Duration(LONGEST))]);
            let mut dropped = Dropped::new();
            for now in 0..300u64 {
                while pie.waiting.len() < 50 {
                    pie.enqueue(at(now), packet(0, 0, Ecn::NotEct), &mut dropped);
                }
                assert!(pie.dequeue(at(now), &mut dropped).is_some());
            }
            pie.advance(at(300));
            assert!((pie.delay - 0.049).abs() < 0.0015, "{estimator}: {}", pie.delay);
        }
    }

    #[test]
    fn silence_is_caught_up_with() {
        let (mut pie, mut dropped) = (pie(&[]), Dropped::new());
        (pie.probability, pie.burst_left) = (0.9, Duration::ZERO);
        pie.enqueue(at(100_000_000), packet(0, 0, Ecn::Ect0), &mut dropped);
        assert_eq!((pie.probability, pie.burst_left), (0.0, Duration::from_millis(150)));
    }
}
