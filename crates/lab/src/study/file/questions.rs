//! Open questions of a paper, tries, and readings.

use super::{Changes, Draw, Ordered};
use crate::study::value::{OneOrMore, Pick, Texts};
use serde::Deserialize;

/// Answer to an open question: one change or several.
pub type Answer = OneOrMore<AnswerPart>;

/// A part of an answer.
#[derive(Debug, Deserialize)]
#[serde(expecting = "struct Part")]
pub struct AnswerPart {
    /// Axis values at which the part applies; by default all.
    #[serde(default)]
    pub when: Ordered<Pick>,
    /// Grids in which the part applies; by default all.
    #[serde(default)]
    pub grids: Texts,
    /// Changes of an axis, instead of its `set`.
    #[serde(default)]
    pub axis: Ordered<Changes>,
    /// Additional random values.
    #[serde(default)]
    pub draw: Vec<Draw>,
    /// Changes.
    #[serde(flatten)]
    pub changes: Changes,
}

/// Rows that are repeated under every answer of some questions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Try {
    /// Questions, by pattern; by default all.
    #[serde(default = "all")]
    pub questions: Texts,
    /// Grids to run again.
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
    /// Whether the default reading is run again with as few repetitions, as a separate row.
    #[serde(default)]
    pub default: bool,
}

fn all() -> Texts {
    OneOrMore(vec!["*".into()])
}

/// A set of answers, in addition to the default reading.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Description.
    #[serde(default)]
    pub words: String,
    /// Grids to run; by default all.
    pub grids: Option<Vec<String>>,
    /// Answers, as `question: answer`.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Answers chosen to match numbers, not from the text.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Search space.
    #[serde(default)]
    pub space: String,
    /// Number of answer sets tried.
    #[serde(default)]
    pub tried: u64,
    /// Rule for the best set.
    #[serde(default)]
    pub rule: String,
}
