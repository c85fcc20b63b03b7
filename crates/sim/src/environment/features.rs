//! Observations: features of a step, and their bounds.

use super::Interval;

/// Set of features.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Features {
    /// Latency gradient, latency ratio and sending ratio (Jay et al., ICML 2019, §3.1). The ratios are 0 on an idle path:
    /// 1 is subtracted.
    Aurora,
    /// All values that a sender knows.
    Full,
}

/// One value of an observation.
pub struct Feature {
    /// Name, with its unit.
    pub name: &'static str,
    /// Smallest value. Smaller measurements are replaced by this value.
    pub low: f32,
    /// Largest value. Larger measurements are replaced by this value.
    pub high: f32,
    value: fn(&Interval) -> f64,
}

impl Feature {
    /// Returns the value of this feature in a step.
    pub fn of(&self, interval: &Interval) -> f32 {
        ((self.value)(interval) as f32).clamp(self.low, self.high)
    }
}

impl Features {
    /// All sets, each with its name.
    pub const ALL: [(&'static str, Features); 2] = [("aurora", Features::Aurora), ("full", Features::Full)];

    /// The features of a step.
    pub fn list(self) -> &'static [Feature] {
        match self {
            Features::Aurora => AURORA,
            Features::Full => FULL,
        }
    }

    /// Usual number of steps in an observation: 10 as in Aurora's paper, and 1 for the full set.
    pub fn usual_history(self) -> usize {
        match self {
            Features::Aurora => 10,
            Features::Full => 1,
        }
    }
}

const fn feature(name: &'static str, low: f32, high: f32, value: fn(&Interval) -> f64) -> Feature {
    Feature { name, low, high, value }
}

const AURORA: &[Feature] = &[
    feature("latency_gradient", -10.0, 10.0, |it| it.rtt_gradient),
    feature("latency_ratio", 0.0, 10.0, |it| it.rtt_ratio - 1.0),
    feature("sending_ratio", -1.0, 10.0, sending_ratio),
];

/// Largest rate in an observation, Mbit/s.
const RATE: f32 = 100_000.0;
/// Largest time in an observation, ms.
const TIME: f32 = 100_000.0;
/// Largest number of segments in an observation.
const SEGMENTS: f32 = 1_000_000.0;

const FULL: &[Feature] = &[
    feature("pacing_mbps", 0.0, RATE, |it| it.rate_bps / 1e6),
    feature("sent_mbps", 0.0, RATE, |it| mbps(it.sent_bytes, it)),
    feature("acknowledged_mbps", 0.0, RATE, |it| mbps(it.acknowledged_bytes, it)),
    feature("lost_share", 0.0, 1.0, |it| it.lost_share),
    feature("retransmitted_mbps", 0.0, RATE, |it| mbps(it.retransmitted_bytes, it)),
    feature("mean_rtt_ms", 0.0, TIME, |it| 1e3 * it.mean_rtt_s),
    feature("smallest_rtt_ms", 0.0, TIME, |it| 1e3 * it.smallest_rtt_s),
    feature("srtt_ms", 0.0, TIME, |it| 1e3 * it.srtt_s),
    feature("rto_ms", 0.0, TIME, |it| 1e3 * it.rto_s),
    feature("latency_gradient", -10.0, 10.0, |it| it.rtt_gradient),
    feature("cwnd_kilobytes", 0.0, SEGMENTS, |it| it.cwnd_bytes / 1e3),
    feature("in_flight_kilobytes", 0.0, SEGMENTS, |it| it.in_flight_bytes / 1e3),
    feature("recoveries", 0.0, 100.0, |it| it.recoveries),
    feature("timeouts", 0.0, 100.0, |it| it.timeouts),
    feature("span_ms", 0.0, TIME, |it| 1e3 * it.span_s),
];

/// Bytes sent per byte acknowledged, minus 1. A step without ACKs counts as one acknowledged byte.
fn sending_ratio(interval: &Interval) -> f64 {
    if interval.sent_bytes == 0.0 && interval.acknowledged_bytes == 0.0 {
        return 0.0;
    }
    interval.sent_bytes / interval.acknowledged_bytes.max(1.0) - 1.0
}

fn mbps(bytes: f64, interval: &Interval) -> f64 {
    if interval.span_s > 0.0 { 8e-6 * bytes / interval.span_s } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(features: Features, interval: &Interval) -> Vec<f32> {
        features.list().iter().map(|feature| feature.of(interval)).collect()
    }

    /// 60 ms after 57 ms within 60 ms: a gradient of 0.05. 60 ms is 1.2 times the smallest mean of 50 ms. 100 bytes sent
    /// per 80 acknowledged bytes: 0.25 above 1.
    #[test]
    fn aurora_has_the_features_of_its_paper() {
        let interval = Interval {
            rtt_gradient: (0.060 - 0.057) / 0.060,
            rtt_ratio: 0.060 / 0.050,
            sent_bytes: 100.0,
            acknowledged_bytes: 80.0,
            ..Interval::default()
        };
        let expected = [0.05, 0.2, 0.25];
        for (value, expected) in row(Features::Aurora, &interval).iter().zip(expected) {
            assert!((f64::from(*value) - expected).abs() < 1e-6, "{value} {expected}");
        }
    }

    #[test]
    fn values_stay_within_their_bounds() {
        let extreme = Interval {
            rtt_gradient: -1e9,
            rtt_ratio: 1e9,
            sent_bytes: 1e30,
            rate_bps: 1e30,
            span_s: 1e-3,
            ..Interval::default()
        };
        for features in [Features::Aurora, Features::Full] {
            for (value, feature) in row(features, &extreme).iter().zip(features.list()) {
                assert!((feature.low..=feature.high).contains(value), "{} {value}", feature.name);
            }
        }
    }
}
