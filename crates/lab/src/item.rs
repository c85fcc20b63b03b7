//! One published number or claim with our measurement. `lasthop reproduce --format json` prints these objects.

use crate::stats::Estimate;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Name of the default reading, which follows only the paper's text and answers none of the paper's open questions.
pub const DEFAULT: &str = "default";

/// Prefix of the item names of sensitivity rows. An entry `[[try]]` of `study.toml` repeats rows, each under
/// one answer to an open question.
pub const SENSITIVITY_PREFIX: &str = "sensitivity-";

/// A published number, claim or point of a figure, with our measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// Name of the paper: `hasegawa`.
    pub paper: String,
    /// Name of the number or figure in the paper: `gain-mac`, `fig7`.
    pub item: String,
    /// Curve or setting to which the number belongs.
    pub series: String,
    /// Coordinates (`{"ber": 7e-5}`), and settings that differ from the defaults.
    pub x: Map<String, Value>,
    /// Measured quantity: `goodput`.
    pub metric: String,
    /// Unit: `kbit/s`.
    pub unit: String,
    /// Published number; `None` for a point of a figure that the paper prints without a number.
    pub published: Option<f64>,
    /// Measured number; `None` if undefined.
    #[serde(serialize_with = "finite")]
    pub measured: Option<f64>,
    /// 95 % interval of the measured number.
    #[serde(serialize_with = "finite_pair")]
    pub ci95: Option<[f64; 2]>,
    /// Number of repetitions.
    pub runs: usize,
    /// Verdict; `None` without a published number or claim.
    pub verdict: Option<Verdict>,
    /// Deviation from the published number, as a percentage of that number; `None` if there is no such number or it is
    /// 0.
    pub deviation_pct: Option<f64>,
    /// Largest accepted difference from the published number, in the row's unit.
    pub margin: Option<f64>,
    /// Result of ns-2, if available, in the row's unit.
    pub ns2: Option<f64>,
    /// 95 % interval of the ns-2 result.
    pub ns2_ci95: Option<[f64; 2]>,
    /// Answers to the paper's open questions: a reading such as `default` or `best`, or the single answer that is
    /// tested.
    pub reading: String,
    /// Cause of a verdict `differs` or `shape`: its kind and a sentence, from [`crate::study::causes`].
    pub cause: Option<String>,
    /// Command that demonstrates the cause, if there is one.
    pub experiment: Option<String>,
    /// Note for the reader.
    pub note: String,
    /// Probability of a deviation at least this large if the paper's number is right. `None` unless the paper's number
    /// is compared with single runs.
    #[serde(skip)]
    pub chance: Option<f64>,
}

impl Item {
    /// A row without published or measured values.
    pub fn new(paper: &str, item: impl Into<String>, series: impl Into<String>) -> Item {
        Item {
            paper: paper.into(),
            item: item.into(),
            series: series.into(),
            x: Map::new(),
            metric: String::new(),
            unit: String::new(),
            published: None,
            measured: None,
            ci95: None,
            runs: 0,
            verdict: None,
            deviation_pct: None,
            margin: None,
            ns2: None,
            ns2_ci95: None,
            reading: DEFAULT.into(),
            cause: None,
            experiment: None,
            note: String::new(),
            chance: None,
        }
    }

    /// Whether the interval is so asymmetric about the measured number that `mean ± half width` would mislead.
    pub fn is_skewed(&self) -> bool {
        let (Some(mean), Some([low, high])) = (self.measured, self.ci95) else { return false };
        let (half, middle) = ((high - low) / 2.0, (low + high) / 2.0);
        half.is_finite() && (mean - middle).abs() > 0.2 * half
    }

    /// Whether the row belongs to the default reading, and does not test a single answer.
    pub fn is_of_default(&self) -> bool {
        self.reading == DEFAULT && !self.item.starts_with(SENSITIVITY_PREFIX)
    }

    /// Sets the quantity and its unit (empty for a share or a count).
    pub fn metric(self, metric: &str, unit: &str) -> Item {
        Item { metric: metric.into(), unit: unit.into(), ..self }
    }

    /// Adds a coordinate.
    pub fn at(mut self, name: &str, value: impl Into<Value>) -> Item {
        self.x.insert(name.into(), value.into());
        self
    }

    /// Sets the measured number, its interval and the number of repetitions; `None` changes nothing.
    pub fn measured(self, estimate: Option<Estimate>) -> Item {
        match estimate {
            Some(Estimate { mean, ci95, runs }) => Item { measured: Some(mean), ci95, runs, ..self },
            None => self,
        }
    }

    /// Sets the result of a claim: its text, the share of points at which its mean holds, the number of points, and the
    /// verdict.
    pub fn with_claim(self, words: &str, share: f64, points: usize, verdict: Verdict) -> Item {
        Item {
            metric: "share of points at which it holds".into(),
            published: Some(1.0),
            measured: Some(share),
            runs: points,
            verdict: Some(verdict),
            note: words.into(),
            ..self
        }
    }

    /// Sets the note.
    pub fn note(self, note: impl Into<String>) -> Item {
        Item { note: note.into(), ..self }
    }
}

/// Verdict on a published number ([`crate::study::class`]) or claim ([`crate::study::claim_verdict`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Numbers: the whole 95 % interval lies within the margin of the published number. Claims: the claim holds
    /// significantly at all points.
    Agrees,
    /// Claims only: the means satisfy the claim at all points, but not significantly at every point.
    Shape,
    /// Numbers: the whole interval lies outside of the margin. Claims: the claim fails significantly at one point or
    /// more.
    Differs,
    /// No number of repetitions decides: the published number comes from one run that varies too much, or the margin is
    /// the spread of the paper's own runs.
    Undecidable,
    /// More repetitions are needed to decide.
    Inconclusive,
}

impl Verdict {
    /// Word for the verdict in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Shape => "shape",
            Verdict::Differs => "differs",
            Verdict::Undecidable => "undecidable",
            Verdict::Inconclusive => "inconclusive",
        }
    }

    /// Verdict as the predicate of a sentence that begins with `the row`.
    pub const fn sentence(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Shape => "has the shape",
            Verdict::Differs => "differs",
            Verdict::Undecidable => "is undecidable",
            Verdict::Inconclusive => "is inconclusive",
        }
    }
}

fn finite<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.filter(|value| value.is_finite()).serialize(serializer)
}

fn finite_pair<S: Serializer>(pair: &Option<[f64; 2]>, serializer: S) -> Result<S::Ok, S::Error> {
    pair.filter(|pair| pair.iter().all(|end| end.is_finite())).serialize(serializer)
}
