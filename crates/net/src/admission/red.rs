//! Random early detection (RED) with explicit congestion notification.
//!
//! While the average queue is between two thresholds, packets are marked at random, or dropped if they are not
//! ECN-capable. The probability grows with the average queue and with the number of packets since the last mark. Above
//! the upper threshold, every packet is dropped. With `gentle`, the probability instead grows to 1 at twice the upper
//! threshold. The probability does not depend on the packet's size.

use super::average::{Average, MEAN_PACKET, PACKETS, WEIGHT};
use super::{Admission, ArrivalState, Build, Verdict, mark};
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Stream, Time, Unit};
use lasthop_wire::{LossReason, Packet};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "red",
        summary: "random early detection: drops or marks with a probability that grows with the average queue",
        source: "Floyd and Jacobson 1993; RFC 2309 §3; RFC 3168 §5, §7; saad §3.A, Fig. 1",
        parameters: &[
            PACKETS,
            Parameter {
                name: "min_threshold",
                unit: Unit::Number(0.0, 1e9),
                default: Some("5"),
                doc: "average queue below which no packet is marked or dropped, packets (minth)",
            },
            Parameter {
                name: "max_threshold",
                unit: Unit::Number(0.0, 1e9),
                default: Some("15"),
                doc: "average queue length from which every packet is dropped, unless `gentle` is set, packets (maxth)",
            },
            Parameter {
                name: "max_probability",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0.1"),
                doc: "probability of a mark or drop just below the upper threshold (max_p; ns-2: 1/linterm_ = 0.1)",
            },
            WEIGHT,
            MEAN_PACKET,
            Parameter {
                name: "gentle",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "above max_threshold, the probability rises gradually to 1 at twice max_threshold (Floyd 2000)",
            },
            Parameter {
                name: "marks",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "between the thresholds, marks ECN-capable packets instead of dropping them",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, context| {
        Discipline::fifo(Red {
            min_threshold: values.number("min_threshold"),
            max_threshold: values.number("max_threshold"),
            max_probability: values.number("max_probability"),
            gentle: values.flag("gentle"),
            marks: values.flag("marks"),
            average: Average::new(values, context.rate),
            since_mark: 0,
            random: context.random,
        })
    },
};

struct Red {
    min_threshold: f64,
    max_threshold: f64,
    max_probability: f64,
    gentle: bool,
    marks: bool,
    average: Average,
    /// Number of packets since the last mark or drop; 0 while the average is below the lower threshold.
    since_mark: u64,
    random: Stream,
}

impl Admission for Red {
    fn admit(&mut self, _: Time, packet: &mut Packet, queue: &ArrivalState) -> Verdict {
        let average = self.average.on_arrival(queue);
        let probability = self.probability(average);
        if self.average.is_full(queue) {
            self.since_mark = 0;
            return Verdict::Drop(LossReason::QueueFull);
        }
        if probability <= 0.0 {
            self.since_mark = 0;
            return Verdict::Admit;
        }
        if probability >= 1.0 {
            self.since_mark = 0;
            return Verdict::Drop(LossReason::EarlyDrop);
        }
        if !self.should_drop(probability) {
            return Verdict::Admit;
        }
        if self.marks && mark(packet) { Verdict::Admit } else { Verdict::Drop(LossReason::EarlyDrop) }
    }

    fn marks(&self) -> bool {
        self.marks
    }

    fn average(&self) -> Option<f64> {
        Some(self.average.value())
    }
}

impl Red {
    /// Returns p_b, the marking probability before it is corrected for the number of packets since the last mark (Floyd
    /// and Jacobson 1993 §4).
    fn probability(&self, average: f64) -> f64 {
        if average < self.min_threshold {
            0.0
        } else if average < self.max_threshold {
            self.max_probability * (average - self.min_threshold) / (self.max_threshold - self.min_threshold)
        } else if self.gentle && average < 2.0 * self.max_threshold {
            self.max_probability
                + (1.0 - self.max_probability) * (average - self.max_threshold) / self.max_threshold
        } else {
            1.0
        }
    }

    /// Returns true with probability p_a = p_b / (1 - count p_b), where count is the number of packets since the last
    /// mark. Gaps between marks are then uniform from 1 to 1/p_b.
    fn should_drop(&mut self, probability: f64) -> bool {
        let spent = self.since_mark as f64 * probability;
        let now = if spent < 1.0 { probability / (1.0 - spent) } else { 1.0 };
        let should_drop = self.random.uniform() < now;
        self.since_mark = if should_drop { 0 } else { self.since_mark + 1 };
        should_drop
    }
}

#[cfg(test)]
mod tests {
    use super::super::average::tests::{busy, packet, unaveraged};
    use super::*;
    use lasthop_wire::Ecn;

    #[test]
    fn nothing_below_and_everything_above() {
        let mut red = unaveraged("red");
        for _ in 0..1000 {
            let mut one = packet(Ecn::Ect0);
            assert_eq!(red.admit(Time::ZERO, &mut one, &busy(4)), Verdict::Admit);
            assert_eq!(one.ecn, Ecn::Ect0);
            let verdict = red.admit(Time::ZERO, &mut one, &busy(15));
            assert_eq!(
                verdict,
                Verdict::Drop(LossReason::EarlyDrop),
                "ECN-capable packets, too, must be dropped if the average is at least maxth"
            );
            let verdict = red.admit(Time::ZERO, &mut one, &busy(50));
            assert_eq!(verdict, Verdict::Drop(LossReason::QueueFull));
        }
    }

    /// If each packet is marked with probability p_a, the gaps between marks must be uniform on 1 to 1/p_b (Floyd and
    /// Jacobson 1993 §7). At a queue of 10 packets, p_b is 0.05. Gaps must then be 1 to 20 packets, with mean 10.5 and
    /// variance (20^2 - 1) / 12.
    #[test]
    fn gaps_between_marks_are_uniform() {
        for (ecn, marked) in [(Ecn::Ect0, true), (Ecn::NotEct, false)] {
            let mut red = unaveraged("red");
            let (mut gaps, mut gap) = (Vec::new(), 0u32);
            while gaps.len() < 20_000 {
                let mut one = packet(ecn);
                let verdict = red.admit(Time::ZERO, &mut one, &busy(10));
                gap += 1;
                let struck = if marked { one.ecn == Ecn::Ce } else { verdict != Verdict::Admit };
                if struck {
                    gaps.push(std::mem::take(&mut gap));
                }
            }
            assert!(gaps.iter().all(|gap| (1..=20).contains(gap)));
            let mean = gaps.iter().map(|gap| f64::from(*gap)).sum::<f64>() / 20_000.0;
            let error = (399.0f64 / 12.0 / 20_000.0).sqrt();
            assert!((mean - 10.5).abs() < 5.0 * error, "{mean}");
        }
    }

    fn red(gentle: bool) -> Red {
        let values = MECHANISM.info.defaults();
        Red {
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_probability: 0.1,
            gentle,
            marks: true,
            average: Average::new(&values, lasthop_base::Rate::from_bps(1_000_000)),
            since_mark: 0,
            random: Stream::named(1, "red"),
        }
    }

    /// Floyd and Jacobson 1993 §4: p_b rises from 0 at minth to max_p at maxth. With `gentle`, p_b rises from max_p at
    /// maxth to 1 at twice maxth (Floyd 2000).
    #[test]
    fn the_probability_rises_between_the_thresholds() {
        for (average, plain, gentle) in [
            (0.0, 0.0, 0.0),
            (5.0, 0.0, 0.0),
            (7.5, 0.025, 0.025),
            (10.0, 0.05, 0.05),
            (15.0, 1.0, 0.1),
            (22.5, 1.0, 0.55),
            (30.0, 1.0, 1.0),
            (40.0, 1.0, 1.0),
        ] {
            assert!((red(false).probability(average) - plain).abs() < 1e-12, "{average}");
            assert!((red(true).probability(average) - gentle).abs() < 1e-12, "{average}, gentle");
        }
    }

    /// p_a = p_b / (1 - count p_b) reaches 1 when count is 1 / p_b - 1. The next packet is then certainly dropped.
    #[test]
    fn the_count_makes_a_drop_certain() {
        for count in [3, 4, 5] {
            let mut one = red(false);
            one.since_mark = count;
            assert!((0..100).all(|_| {
                one.since_mark = count;
                one.should_drop(0.25)
            }));
            assert_eq!(one.since_mark, 0);
        }
        // At a count of 2, p_a is 0.25 / (1 - 2 x 0.25) = 0.5. The bound is five standard errors of 10,000 draws.
        let mut one = red(false);
        let dropped = (0..10_000).filter(|_| {
            one.since_mark = 2;
            let should_drop = one.should_drop(0.25);
            assert_eq!(one.since_mark, if should_drop { 0 } else { 3 });
            should_drop
        });
        assert!(dropped.count().abs_diff(5000) < 250);
    }

    /// The count restarts if the average is below minth, at a forced drop and at a full queue. With `marks` off, or for
    /// a packet that is not ECN-capable, RED drops.
    #[test]
    fn forced_drops_restart_the_count() {
        for waiting in [4, 15, 50] {
            let mut one = red(false);
            one.average = Average::new(
                &MECHANISM.info.defaults().with(WEIGHT.name, lasthop_base::Value::Number(1.0)),
                lasthop_base::Rate::from_bps(1_000_000),
            );
            one.since_mark = 7;
            let _ = one.admit(Time::ZERO, &mut packet(Ecn::Ect0), &busy(waiting));
            assert_eq!(one.since_mark, 0, "{waiting}");
            let mut one = Red { marks: false, since_mark: 19, ..one };
            let mut capable = packet(Ecn::Ect0);
            let verdict = one.admit(Time::ZERO, &mut capable, &busy(10));
            assert_eq!((verdict, capable.ecn), (Verdict::Drop(LossReason::EarlyDrop), Ecn::Ect0));
            assert_eq!(one.average(), Some(10.0));
        }
    }
}
