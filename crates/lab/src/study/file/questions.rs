//! What the paper leaves open, what is tried, and readings.

use super::{Changes, Draw, Ordered};
use crate::study::value::{OneOrMore, Pick, Texts};
use serde::Deserialize;

/// An answer to an open question: one change, or several that belong together.
pub type Answer = OneOrMore<Part>;

/// A part of an answer.
#[derive(Debug, Deserialize)]
pub struct Part {
    /// Only where some axes have these values.
    #[serde(default)]
    pub when: Ordered<Pick>,
    /// Only in these grids.
    #[serde(default)]
    pub grids: Texts,
    /// What an axis changes instead of its own `set`.
    #[serde(default)]
    pub axis: Ordered<Changes>,
    /// What is drawn besides.
    #[serde(default)]
    pub draw: Vec<Draw>,
    /// What changes.
    #[serde(flatten)]
    pub changes: Changes,
}

/// What is looked at again under every answer of some questions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Try {
    /// The questions, by pattern; all by default.
    #[serde(default = "all")]
    pub questions: Texts,
    /// The grids that are run again.
    pub grids: Vec<String>,
    /// Rows of `published.csv`, by patterns of their item.
    #[serde(default)]
    pub rows: Texts,
    /// Claims.
    #[serde(default)]
    pub claims: Texts,
    /// Points.
    #[serde(default)]
    pub points: Texts,
    /// Whether the default reading is run again with as few repetitions, as a row of its own.
    #[serde(default)]
    pub default: bool,
}

fn all() -> Texts {
    OneOrMore(vec!["*".into()])
}

/// A set of answers besides the default reading.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// What is said of it.
    #[serde(default)]
    pub words: String,
    /// The grids that are run; all by default.
    pub grids: Option<Vec<String>>,
    /// Answers, as `question: answer`.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Which of these were chosen so that numbers come out, and not from the text.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// What was searched.
    #[serde(default)]
    pub space: String,
    /// How many sets of answers were tried.
    #[serde(default)]
    pub tried: u64,
    /// By which rule the best was taken.
    #[serde(default)]
    pub rule: String,
}
