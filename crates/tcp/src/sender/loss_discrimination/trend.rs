//! Loss prediction by delay trends (Roychoudhuri and Al-Shaer, IEEE TNSM 2(1), 2005, hasegawa's reference 31). A loss
//! during a long and rising delay counts as congestion.
//!
//! hasegawa §4: "the change in packet transmission delay is divided into two types, one reflecting a short-term trend
//! and the other a long-term trend, and packet loss (congestion loss) is predicted with a weighting function dependent
//! on the congestion level".
//!
//! # Our choices
//! The mechanism is known only from hasegawa's sentence. The formula and the parameters are ours. A trend is (last
//! delay − first delay) / (sum of the absolute changes from delay to delay): −1 if the delay only falls, 1 if it only
//! rises. The level `c` is the position of the last delay between the smallest (0) and the largest delay (1). `trend`
//! is the mean of the short-term trend, with weight `c`, and the long-term trend, with weight `1 - c`. The prediction
//! is `c (1 + trend) / 2`. The delay is the forward delay with timestamps, otherwise the round-trip time. A timeout
//! counts as congestion.

use super::{Build, Cause, LossDiscriminator, RttSample};
use crate::ranges::Range;
use lasthop_base::{Info, Mechanism, Parameter, Unit};
use std::collections::VecDeque;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "trend",
        summary: "treats a loss as congestion if the level, the short-term and the long-term trend of the delay \
                  predicted the loss",
        source: "Roychoudhuri and Al-Shaer, IEEE TNSM 2(1), 2005, as described in hasegawa §4 (formula and \
                 constants are ours)",
        parameters: &[
            Parameter {
                name: "short",
                unit: Unit::Count(2, 1000),
                default: Some("16"),
                doc: "number of delays in the short-term trend (ours)",
            },
            Parameter {
                name: "long",
                unit: Unit::Count(2, 10_000),
                default: Some("64"),
                doc: "number of delays in the long-term trend (ours)",
            },
            Parameter {
                name: "threshold",
                unit: Unit::Number(0.0, 1.0),
                default: Some("0.4"),
                doc: "smallest prediction that means congestion (ours)",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Trend {
            short: values.count("short") as usize,
            long: values.count("long") as usize,
            threshold: values.number("threshold"),
            delays: VecDeque::new(),
            bounds: None,
        }))
    },
};

struct Trend {
    short: usize,
    long: usize,
    threshold: f64,
    /// Last delays, ns, as many as the longer of the two trends needs.
    delays: VecDeque<i64>,
    /// Smallest and largest delay so far, ns.
    bounds: Option<(i64, i64)>,
}

impl Trend {
    /// Trend of the last `count` delays, from -1 to 1.
    fn of(&self, count: usize) -> f64 {
        let last = self.delays.range(self.delays.len().saturating_sub(count)..);
        let changes = last.clone().zip(last.skip(1)).map(|(before, after)| (after - before) as f64);
        let (sum, of_sizes) = changes.fold((0.0, 0.0), |(sum, sizes), by| (sum + by, sizes + by.abs()));
        if of_sizes > 0.0 { sum / of_sizes } else { 0.0 }
    }

    fn prediction(&self) -> f64 {
        let (Some((least, most)), Some(last)) = (self.bounds, self.delays.back()) else { return 0.0 };
        if most == least {
            return 0.0;
        }
        let level = (last - least) as f64 / (most - least) as f64;
        let trend = level * self.of(self.short) + (1.0 - level) * self.of(self.long);
        level * (1.0 + trend) / 2.0
    }
}

impl LossDiscriminator for Trend {
    fn on_rtt_sample(&mut self, sample: &RttSample) {
        let delay = sample.forward_delay();
        let (least, most) = self.bounds.unwrap_or((delay, delay));
        self.bounds = Some((least.min(delay), most.max(delay)));
        if self.delays.len() >= self.long.max(self.short) {
            self.delays.pop_front();
        }
        self.delays.push_back(delay);
    }

    fn on_loss(&mut self, _: Range) -> Option<Cause> {
        let predicted = self.prediction() >= self.threshold;
        Some(if predicted { Cause::Congestion } else { Cause::Wireless })
    }

    fn needs_rtt_samples(&self) -> bool {
        true
    }

    fn discriminates_each_loss(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::loss_discrimination::rtt_sample::samples::{LOST, SamplePath};
    use lasthop_base::Value;

    /// Whether the prediction reaches `threshold` after the round-trip times `rtts`, ms. The short-term trend covers
    /// two delays, the long-term trend four.
    fn reaches(rtts: &[u64], threshold: f64) -> bool {
        let mut values = MECHANISM.info.defaults();
        values.set("short", Value::Count(2));
        values.set("long", Value::Count(4));
        values.set("threshold", Value::Number(threshold));
        let mut discriminator = (MECHANISM.build)(&values).expect("a discriminator");
        let mut path = SamplePath::default();
        rtts.iter().for_each(|rtt| path.round(&mut *discriminator, 1, *rtt, 0));
        discriminator.on_loss(LOST) == Some(Cause::Congestion)
    }

    /// Prediction = c (1 + trend) / 2. If c = 1 and both trends are 1, the prediction is 1. In `falls`, c is 1/2, the
    /// short-term trend is -1, and the long-term trend is (0 + 50 - 50) / 100 = 0. The weighted mean of the trends is
    /// then -1/2, and the prediction is 1/2 × (1 - 1/2) / 2 = 1/8. If c = 0, the prediction is 0.
    #[test]
    fn level_and_trends() {
        assert!(reaches(&[100, 120, 140, 200], 1.0));
        let falls = [100, 200, 150, 150, 200, 150];
        assert!(reaches(&falls, 0.124) && !reaches(&falls, 0.126));
        assert!(!reaches(&[200, 100], 0.001));
        assert!(!reaches(&[100, 100, 100], 0.001));
    }

    fn trend(delays: &[i64]) -> Trend {
        let bounds = delays.iter().min().copied().zip(delays.iter().max().copied());
        Trend { short: 2, long: 4, threshold: 0.4, delays: delays.iter().copied().collect(), bounds }
    }

    /// A trend is the sum of the changes divided by the sum of their sizes. The changes of 0, 10, 5 and 20 are 10, -5 and
    /// 15.
    #[test]
    fn trends_compare_changes_with_their_sizes() {
        let one = trend(&[0, 10, 5, 20]);
        assert_eq!([one.of(4), one.of(9)], [20.0 / 30.0; 2]);
        assert_eq!([one.of(3), one.of(2), one.of(1)], [10.0 / 20.0, 1.0, 0.0]);
        assert_eq!(trend(&[7, 7, 7]).of(3), 0.0);
    }

    /// The level of the last delay between the smallest and the largest weights the two trends. For 20, 0, 10 and 5, the
    /// level is 0.25, and the trends are -1 (short) and -15/35 (long). The prediction is 0.25 x (1 - 0.25 - 0.75 x 15/35)
    /// / 2.
    #[test]
    fn the_prediction_weights_the_trends() {
        let close = |delays: &[i64], expected: f64| {
            let prediction = trend(delays).prediction();
            assert!((prediction - expected).abs() < 1e-12, "{delays:?}: {prediction}");
        };
        close(&[20, 0, 10, 5], 0.25 * (1.0 - 0.25 - 0.75 * 15.0 / 35.0) / 2.0);
        close(&[0, 10, 5, 20], 1.0);
        close(&[5, 5], 0.0);
        close(&[], 0.0);
        close(&[20, 10, 0], 0.0);
        // A prediction that equals the threshold means congestion.
        for (threshold, cause) in [(1.0, Cause::Congestion), (1.001, Cause::Wireless)] {
            let mut one = Trend { threshold, ..trend(&[0, 10, 5, 20]) };
            assert_eq!(one.on_loss(LOST), Some(cause));
        }
    }
}
