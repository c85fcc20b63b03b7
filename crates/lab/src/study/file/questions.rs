//! Open questions of a paper, tries, and readings.

use super::{Changes, Draw, Ordered};
use crate::study::value::{OneOrMore, Pick, Texts};
use serde::Deserialize;

/// Answer to an open question: one or more changes of the scenarios.
pub type Answer = OneOrMore<AnswerPart>;

/// Part of an answer: changes that apply at some axis values, in some grids.
#[derive(Debug, Deserialize)]
#[serde(expecting = "struct Part")]
pub struct AnswerPart {
    /// Axis values at which the part applies; by default all.
    #[serde(default)]
    pub when: Ordered<Pick>,
    /// Grids in which the part applies; by default all.
    #[serde(default)]
    pub grids: Texts,
    /// Changes that replace the key `set` of an axis, by the name of the axis.
    #[serde(default)]
    pub axis: Ordered<Changes>,
    /// Additional scenario values that are drawn at random.
    #[serde(default)]
    pub draw: Vec<Draw>,
    /// Changes of the scenarios.
    #[serde(flatten)]
    pub changes: Changes,
}

/// Rows that are repeated under every answer to some open questions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Try {
    /// Open questions whose answers are tried, by pattern; by default all.
    #[serde(default = "all")]
    pub questions: Texts,
    /// Grids to run again under each answer.
    pub grids: Vec<String>,
    /// Rows of `published.csv` to repeat: patterns of the column `item`.
    #[serde(default)]
    pub rows: Texts,
    /// Claims to repeat: patterns of their item.
    #[serde(default)]
    pub claims: Texts,
    /// Points to repeat: patterns of their item.
    #[serde(default)]
    pub points: Texts,
    /// Whether the default reading is also run with as few repetitions as the answers, which gives a separate
    /// row.
    #[serde(default)]
    pub default: bool,
}

fn all() -> Texts {
    OneOrMore(vec!["*".into()])
}

/// A set of answers to open questions, to be compared with the default reading.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Description of the reading.
    #[serde(default)]
    pub words: String,
    /// Grids to run; by default all.
    pub grids: Option<Vec<String>>,
    /// Answers, as `question: answer`.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Answers that were chosen to match the paper's numbers, not taken from its text.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Description of the sets of answers that were searched.
    #[serde(default)]
    pub space: String,
    /// Number of answer sets that were tried.
    #[serde(default)]
    pub tried: u64,
    /// Rule by which the best set was chosen.
    #[serde(default)]
    pub rule: String,
}
