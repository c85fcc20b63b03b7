//! One published number or claim beside ours: the object that `lasthop reproduce --format json` prints.

use crate::stats::Estimate;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A published number, claim or point of a figure, and what we measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// `hasegawa`.
    pub paper: String,
    /// `gain-mac`, `fig7`.
    pub item: String,
    /// The curve or setting it belongs to.
    pub series: String,
    /// Coordinates: `{"ber": 7e-5}`, and the settings that differ from the defaults.
    pub x: Map<String, Value>,
    /// What is measured: `goodput`.
    pub metric: String,
    /// Its unit: `kbit/s`.
    pub unit: String,
    /// The paper's number; `None` for a figure's point that the paper does not give in numbers.
    pub published: Option<f64>,
    /// Ours; `None` where it is undefined.
    #[serde(serialize_with = "finite")]
    pub measured: Option<f64>,
    /// Its 95 % interval.
    #[serde(serialize_with = "finite_pair")]
    pub ci95: Option<[f64; 2]>,
    /// Repetitions behind it.
    pub runs: usize,
    /// Whether the two agree; `None` without a published number or claim.
    pub verdict: Option<Verdict>,
    /// What a reader should know.
    pub note: String,
}

/// Whether a published number or claim comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The published number lies within the interval, or within 5 per cent of ours (5 points for a gain).
    Agrees,
    /// The claim holds, the number does not.
    Shape,
    /// The claim does not hold.
    Differs,
}

impl Verdict {
    /// The word printed.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Shape => "shape",
            Verdict::Differs => "differs",
        }
    }

    /// Judges a number: within the interval or within `tolerance` (same unit) it agrees; else the claim decides.
    pub fn of(published: f64, measured: &Estimate, tolerance: f64, claim_holds: bool) -> Verdict {
        let within =
            measured.ci95[0].is_finite() && measured.ci95[0] <= published && published <= measured.ci95[1];
        if within || (published - measured.mean).abs() <= tolerance {
            Verdict::Agrees
        } else if claim_holds {
            Verdict::Shape
        } else {
            Verdict::Differs
        }
    }
}

fn finite<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.filter(|value| value.is_finite()).serialize(serializer)
}

fn finite_pair<S: Serializer>(pair: &Option<[f64; 2]>, serializer: S) -> Result<S::Ok, S::Error> {
    pair.filter(|pair| pair.iter().all(|end| end.is_finite())).serialize(serializer)
}

/// `{"ber": 2e-5}`: coordinates of one name.
pub fn x(name: &str, value: impl Into<Value>) -> Map<String, Value> {
    Map::from_iter([(name.to_string(), value.into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_the_rule() {
        let measured = Estimate { mean: 90.0, ci95: [88.0, 92.0], runs: 10 };
        assert_eq!(Verdict::of(91.5, &measured, 0.0, false), Verdict::Agrees);
        assert_eq!(Verdict::of(94.0, &measured, 5.0, false), Verdict::Agrees);
        assert_eq!(Verdict::of(97.0, &measured, 5.0, true), Verdict::Shape);
        assert_eq!(Verdict::of(97.0, &measured, 5.0, false), Verdict::Differs);
    }
}
