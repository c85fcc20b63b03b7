//! NCPLD, non-congestion packet loss detection (Samaraweera, IEE Proc. Commun. 146(4), 1999). A loss counts as
//! corruption if the round-trip time is no longer than at the knee of the throughput-load curve. At the knee, the power
//! is largest. Power is throughput / delay, that is w / r² for window w and round-trip time r. The threshold is the
//! round-trip time at which the largest power so far was measured.
//!
//! # Our choices
//! Source: huang §2 and abstracts of citing papers, not the paper itself. The estimator of the power is ours. The
//! estimator takes one sample per round: the bytes outstanding at the start of the round, and the round-trip time of
//! the first segment sent in the round. Old samples never expire. The parameter `margin` is ours. At a loss, the last
//! RTT sample is compared with the threshold. A timeout counts as congestion.

use super::{Build, Cause, LossDiscriminator, RttSample, SampledRound};
use crate::ranges::Range;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ncpld",
        summary: "treats a loss as corruption if the round trip is no longer than at the knee of throughput over load \
                  (NCPLD)",
        source: "Samaraweera, IEE Proc. Commun. 146(4), 1999, as described in huang §2 (the estimator of the knee is \
                 ours)",
        parameters: &[Parameter {
            name: "margin",
            unit: Unit::Number(0.0, 10.0),
            default: Some("0.05"),
            doc: "tolerance: relative excess over the knee's round trip that still means corruption (ours)",
        }],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Ncpld {
            margin: values.number("margin"),
            round: None,
            knee: None,
            latest: Duration::ZERO,
        }))
    },
};

struct Ncpld {
    margin: f64,
    round: Option<SampledRound>,
    /// Largest power so far, and the round-trip time at which it occurred.
    knee: Option<(f64, Duration)>,
    latest: Duration,
}

impl LossDiscriminator for Ncpld {
    fn on_rtt_sample(&mut self, sample: &RttSample) {
        self.latest = sample.rtt;
        if let Some(round) = self.round.filter(|round| !round.is_over(sample)) {
            self.round = Some(round);
            return;
        }
        if let Some(round) = &self.round {
            let rtt = sample.rtt.as_secs();
            let power = round.window as f64 / (rtt * rtt);
            if rtt > 0.0 && self.knee.is_none_or(|(largest, _)| power > largest) {
                self.knee = Some((power, sample.rtt));
            }
        }
        self.round = Some(SampledRound::begin(sample));
    }

    fn on_loss(&mut self, _: Range) -> Option<Cause> {
        let is_below =
            self.knee.is_some_and(|(_, rtt)| self.latest.as_secs() <= (1.0 + self.margin) * rtt.as_secs());
        Some(if is_below { Cause::Wireless } else { Cause::Congestion })
    }

    fn on_timeout(&mut self) {
        self.round = None;
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

    fn discriminator(margin: f64) -> Box<dyn LossDiscriminator> {
        let mut values = MECHANISM.info.defaults();
        values.set("margin", Value::Number(margin));
        (MECHANISM.build)(&values).expect("a discriminator")
    }

    /// The path holds ten segments and has a round trip of 100 ms. With ten segments in flight, the power w / r² is
    /// 1000 (10 / 0.1²). With twelve segments, the round trip is 120 ms and the power is 833 (12 / 0.12²). The knee is
    /// therefore at 100 ms, and 120 ms means congestion unless `margin` is at least 0.2.
    #[test]
    fn the_knee_is_the_full_pipe() {
        for (margin, last, cause) in [
            (0.0, 10, Cause::Wireless),
            (0.0, 12, Cause::Congestion),
            (0.05, 10, Cause::Wireless),
            (0.05, 12, Cause::Congestion),
            (0.21, 12, Cause::Wireless),
        ] {
            let mut discriminator = discriminator(margin);
            let mut path = SamplePath::default();
            for window in [2, 2, 4, 4, 8, 8, 10, 10, last, last] {
                path.round(&mut *discriminator, window, 100.max(10 * window), 0);
            }
            assert_eq!(
                discriminator.on_loss(LOST),
                Some(cause),
                "margin {margin}, {last} segments in flight at the loss"
            );
        }
    }

    #[test]
    fn without_a_knee_a_loss_is_congestion() {
        assert_eq!(discriminator(0.05).on_loss(LOST), Some(Cause::Congestion));
    }
}
