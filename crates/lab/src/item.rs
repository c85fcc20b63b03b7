//! One published number or claim, with our measurement. `lasthop reproduce --format json` prints these objects.

use crate::stats::Estimate;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Name of the default reading. A reading is a set of answers to the paper's open questions. The default reading
/// follows only the paper's text.
pub const DEFAULT: &str = "default";

/// Prefix of the names of sensitivity rows. A sensitivity row repeats a published number or claim under a different
/// answer to one of the paper's open questions (`[[try]]` in `study.toml`).
pub const SENSITIVITY_PREFIX: &str = "sensitivity-";

/// A published number, claim or point of a figure, with our measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// Name of the paper, such as `hasegawa`.
    pub paper: String,
    /// Name of the number or figure in the paper, such as `gain-mac` or `fig7`.
    pub item: String,
    /// Name of the curve or setting to which the number belongs.
    pub series: String,
    /// Coordinates of the row, which are axis values such as `{"ber": 7e-5}`, and settings that differ from the
    /// defaults.
    pub x: Map<String, Value>,
    /// Measured quantity, such as `goodput`.
    pub metric: String,
    /// Unit of the quantity, such as `kbit/s`.
    pub unit: String,
    /// Published number. `None` for a point of a figure if the paper prints no number for that point.
    pub published: Option<f64>,
    /// Measured number. `None` if the number is undefined.
    #[serde(serialize_with = "finite")]
    pub measured: Option<f64>,
    /// 95 % interval of the measured number.
    #[serde(serialize_with = "finite_pair")]
    pub ci95: Option<[f64; 2]>,
    /// Number of repetitions.
    pub runs: usize,
    /// Verdict. `None` if the paper publishes neither a number nor a claim.
    pub verdict: Option<Verdict>,
    /// Deviation of the measured number from the published number, as a percentage of the published number. `None` if
    /// no number is published or the published number is 0.
    pub deviation_pct: Option<f64>,
    /// Largest accepted difference from the published number, in the row's unit.
    pub margin: Option<f64>,
    /// Result of ns-2, in the row's unit. `None` if ns-2 was not run for this row.
    pub ns2: Option<f64>,
    /// 95 % interval of the ns-2 result.
    pub ns2_ci95: Option<[f64; 2]>,
    /// Answers to the paper's open questions under which the row was measured: the name of a reading (a set of
    /// answers), such as `default` or `best`, or a single answer.
    pub reading: String,
    /// Cause of a verdict `differs` or `shape`: the kind of the cause, and a sentence, from [`crate::study::causes`].
    pub cause: Option<String>,
    /// Command that demonstrates the cause. `None` if no such command exists.
    pub experiment: Option<String>,
    /// Note for the reader.
    pub note: String,
    /// Probability (p-value) of a deviation at least this large if the paper's number is correct. `None` unless the
    /// paper's number counts as the result of one run.
    #[serde(skip)]
    pub chance: Option<f64>,
}

impl Item {
    /// Returns a row without published and measured values.
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

    /// Whether the interval is so asymmetric about the measured number that the form `mean ± half width` would be
    /// misleading.
    pub fn is_skewed(&self) -> bool {
        let (Some(mean), Some([low, high])) = (self.measured, self.ci95) else { return false };
        let (half, middle) = ((high - low) / 2.0, (low + high) / 2.0);
        half.is_finite() && (mean - middle).abs() > 0.2 * half
    }

    /// Whether the row belongs to the default reading. A row that tests a single answer does not belong to the default
    /// reading.
    pub fn is_of_default(&self) -> bool {
        self.reading == DEFAULT && !self.item.starts_with(SENSITIVITY_PREFIX)
    }

    /// Sets the quantity and its unit. The unit is empty for a share or a count.
    pub fn metric(self, metric: &str, unit: &str) -> Item {
        Item { metric: metric.into(), unit: unit.into(), ..self }
    }

    /// Adds a coordinate, which is an axis value of the row.
    pub fn at(mut self, name: &str, value: impl Into<Value>) -> Item {
        self.x.insert(name.into(), value.into());
        self
    }

    /// Sets the measured number, its interval and the number of repetitions. `None` leaves all three unchanged.
    pub fn measured(self, estimate: Option<Estimate>) -> Item {
        match estimate {
            Some(Estimate { mean, ci95, runs }) => Item { measured: Some(mean), ci95, runs, ..self },
            None => self,
        }
    }

    /// Sets the result of a claim: its text, the share of points at which the means satisfy the claim, the number of
    /// points, and the verdict.
    pub fn with_claim(self, words: &str, share: f64, points: usize, verdict: Verdict) -> Item {
        Item {
            metric: "share of points at which the claim holds".into(),
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

/// Verdict on a published number ([`crate::study::class`]) or on a claim ([`crate::study::claim_verdict`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// For a number: the whole 95 % interval lies within the margin of the published number. For a claim: the claim
    /// holds significantly at all points.
    Agrees,
    /// Only for a claim: the means satisfy the claim at all points, but not significantly at every point.
    Shape,
    /// For a number: the whole interval lies outside the margin. For a claim: the claim fails significantly at one
    /// point or more.
    Differs,
    /// No number of repetitions decides. Either the published number comes from one run, and single runs vary too much.
    /// Or the margin is the spread between the paper's own runs.
    Undecidable,
    /// More repetitions are needed to decide.
    Inconclusive,
}

impl Verdict {
    /// Returns the word for the verdict in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Shape => "shape",
            Verdict::Differs => "differs",
            Verdict::Undecidable => "undecidable",
            Verdict::Inconclusive => "inconclusive",
        }
    }

    /// Returns the verdict as the predicate of a sentence that begins with `the row`.
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
