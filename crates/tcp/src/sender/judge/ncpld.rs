//! NCPLD, non-congestion packet loss detection: a loss is corruption if the round trip is not longer than at the knee of the
//! throughput-load curve (Samaraweera, IEE Proc. Commun. 146(4), 1999).
//!
//! The knee is the load with the largest power, throughput / delay. In a window w with the round trip r that is w / r².
//! The threshold is the round trip of the largest power so far. Up to a full pipe r stays and power grows with w; beyond a full
//! pipe r grows with w and power falls.
//!
//! # Our choices
//! The paper was not at hand: huang §2 and abstracts of papers that cite it have the principle. Ours are the estimator (one
//! sample a round: outstanding bytes at its start, round trip of the first segment sent in it), the memory (no power is
//! forgotten) and `margin`. The round trip at a loss is the last one measured. A timeout is congestion.

use super::{Build, Cause, LossJudge, Measured, Round};
use crate::ranges::Range;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ncpld",
        summary: "corruption if the round trip is not longer than at the knee of throughput over load",
        source: "Samaraweera, IEE Proc. Commun. 146(4), 1999, by huang §2 (the estimate of the knee is our construction)",
        parameters: &[Parameter {
            name: "margin",
            unit: Unit::Number(0.0, 10.0),
            default: Some("0.05"),
            doc: "share by which a round trip may exceed the knee's and still mean corruption (ours)",
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
    round: Option<Round>,
    /// The largest power so far and its round trip.
    knee: Option<(f64, Duration)>,
    latest: Duration,
}

impl LossJudge for Ncpld {
    fn on_measured(&mut self, sample: &Measured) {
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
        self.round = Some(Round::begin(sample));
    }

    fn on_loss(&mut self, _: Range) -> Option<Cause> {
        let is_below =
            self.knee.is_some_and(|(_, rtt)| self.latest.as_secs() <= (1.0 + self.margin) * rtt.as_secs());
        Some(if is_below { Cause::Wireless } else { Cause::Congestion })
    }

    fn on_timeout(&mut self) {
        self.round = None;
    }

    fn measures(&self) -> bool {
        true
    }

    fn judges_losses(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::judge::measured::samples::{LOST, Path};
    use lasthop_base::Value;

    fn judge(margin: f64) -> Box<dyn LossJudge> {
        let mut values = MECHANISM.info.defaults();
        values.set("margin", Value::Number(margin));
        (MECHANISM.build)(&values).expect("a judge")
    }

    /// A pipe of ten segments and 100 ms: with ten in flight power is 10 / 0.1² = 1000, with twelve 12 / 0.12² = 833.
    #[test]
    fn the_knee_is_the_full_pipe() {
        for (margin, last, cause) in [
            (0.0, 10, Cause::Wireless),
            (0.0, 12, Cause::Congestion),
            (0.05, 10, Cause::Wireless),
            (0.05, 12, Cause::Congestion),
            (0.21, 12, Cause::Wireless),
        ] {
            let mut judge = judge(margin);
            let mut path = Path::default();
            for window in [2, 2, 4, 4, 8, 8, 10, 10, last, last] {
                path.round(&mut *judge, window, 100.max(10 * window), 0);
            }
            assert_eq!(judge.on_loss(LOST), Some(cause), "margin {margin}, {last} segments");
        }
    }

    #[test]
    fn without_a_knee_a_loss_is_congestion() {
        assert_eq!(judge(0.05).on_loss(LOST), Some(Cause::Congestion));
    }
}
