//! One published number or claim beside ours: the object that `lasthop reproduce --format json` prints.

use crate::stats::Estimate;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The reading that has no answers: the paper's text alone.
pub const DEFAULT: &str = "default";

/// What names of rows begin with that are looked at again under an answer to an open question.
pub const AGAIN: &str = "sensitivity-";

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
    /// How far ours lies from the published number, % of it; `None` where there is none, or it is 0.
    pub deviation_pct: Option<f64>,
    /// How far from the published number counts as near, in the row's unit.
    pub margin: Option<f64>,
    /// What ns-2 gives for the same, where it was run; in the row's unit.
    pub ns2: Option<f64>,
    /// Its 95 % interval.
    pub ns2_ci95: Option<[f64; 2]>,
    /// Which answers to the open questions: `default`, `best`, or the one that is tried.
    pub reading: String,
    /// Why it differs or has only the shape: kind and sentence, as [`crate::study::causes`] finds them; `None` for others.
    pub cause: Option<String>,
    /// The command that shows the cause, if there is one.
    pub experiment: Option<String>,
    /// What a reader should know.
    pub note: String,
    /// The probability to lie as far away if the paper were right, where its number is compared with single runs.
    #[serde(skip)]
    pub chance: Option<f64>,
}

impl Item {
    /// An item of a paper with nothing published and nothing measured yet.
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

    /// Whether its interval lies so much to one side that a half width would mislead.
    pub fn is_skewed(&self) -> bool {
        let (Some(mean), Some([low, high])) = (self.measured, self.ci95) else { return false };
        let (half, middle) = ((high - low) / 2.0, (low + high) / 2.0);
        half.is_finite() && (mean - middle).abs() > 0.2 * half
    }

    /// Whether it belongs to the default reading itself, and not to what is tried beside it.
    pub fn is_of_default(&self) -> bool {
        self.reading == DEFAULT && !self.item.starts_with(AGAIN)
    }

    /// What is measured, and its unit (empty for a share or a count).
    pub fn metric(self, metric: &str, unit: &str) -> Item {
        Item { metric: metric.into(), unit: unit.into(), ..self }
    }

    /// Adds a coordinate.
    pub fn at(mut self, name: &str, value: impl Into<Value>) -> Item {
        self.x.insert(name.into(), value.into());
        self
    }

    /// Our number; `None` where it is undefined.
    pub fn measured(self, estimate: Option<Estimate>) -> Item {
        match estimate {
            Some(Estimate { mean, ci95, runs }) => Item { measured: Some(mean), ci95, runs, ..self },
            None => self,
        }
    }

    /// A claim in words: at which share of its points it holds in the mean, and the verdict.
    pub fn said(self, words: &str, share: f64, points: usize, verdict: Verdict) -> Item {
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

    /// What a reader should know.
    pub fn note(self, note: impl Into<String>) -> Item {
        Item { note: note.into(), ..self }
    }
}

/// Whether a published number or claim comes out: [`crate::study::class`] judges numbers, [`crate::study::order`] words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Our whole 95 % interval lies within the margin of the published number; a claim surely holds at all of its points.
    Agrees,
    /// Of claims alone: it holds at all points in the mean, not surely at all.
    Shape,
    /// The interval lies outside of the margin; a claim surely fails at a point.
    Differs,
    /// No number of repetitions tells: the paper's number is one run that varies too much, or its margin is its own spread.
    Undecidable,
    /// None of these: more repetitions would tell.
    Inconclusive,
}

impl Verdict {
    /// The word printed.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Shape => "shape",
            Verdict::Differs => "differs",
            Verdict::Undecidable => "undecidable",
            Verdict::Inconclusive => "inconclusive",
        }
    }

    /// The verdict as the end of a sentence: `the row …`.
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
