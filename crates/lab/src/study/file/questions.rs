//! Open questions of a paper: answers, rows to repeat under each answer (tries), and sets of answers (readings).

use super::{Changes, Draw, Ordered};
use crate::study::value::{OneOrMore, Pick, Texts};
use serde::Deserialize;

/// Answer to an open question: one or more changes of the scenarios.
pub type Answer = OneOrMore<AnswerPart>;

/// Part of an answer: changes that apply at some axis values and in some grids.
#[derive(Debug, Deserialize)]
#[serde(expecting = "struct Part")]
pub struct AnswerPart {
    /// Axis values at which the part applies. The default is all axis values.
    #[serde(default)]
    pub when: Ordered<Pick>,
    /// Grids in which the part applies. The default is all grids.
    #[serde(default)]
    pub grids: Texts,
    /// Changes that replace the key `set` of an axis. The name of each entry is the name of the axis.
    #[serde(default)]
    pub axis: Ordered<Changes>,
    /// Additional scenario values that are drawn at random.
    #[serde(default)]
    pub draw: Vec<Draw>,
    /// Changes that this part makes to the scenarios.
    #[serde(flatten)]
    pub changes: Changes,
}

/// Rows that are repeated under every answer to some open questions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Try {
    /// Open questions whose answers are tried: patterns of their names. The default is all questions.
    #[serde(default = "all")]
    pub questions: Texts,
    /// Grids that are run under each answer.
    pub grids: Vec<String>,
    /// Rows of `published.csv` to repeat: patterns of the column `item`.
    #[serde(default)]
    pub rows: Texts,
    /// Claims to repeat: patterns of their `item`.
    #[serde(default)]
    pub claims: Texts,
    /// Points of figures to repeat: patterns of their `item`.
    #[serde(default)]
    pub points: Texts,
    /// Whether the default reading (no question answered) is run a second time, with as few repetitions as the sets of
    /// answers. The result is a separate row.
    #[serde(default)]
    pub default: bool,
}

fn all() -> Texts {
    OneOrMore(vec!["*".into()])
}

/// Set of answers to open questions. The results are compared with the default reading.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Description of the reading.
    #[serde(default)]
    pub words: String,
    /// Grids to run. The default is all grids.
    pub grids: Option<Vec<String>>,
    /// Answers of the reading, each in the form `question: answer`.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Answers that were chosen to match the paper's numbers. The remaining answers follow from the paper's text.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Description of the sets of answers that were searched.
    #[serde(default)]
    pub space: String,
    /// Number of sets of answers that were tried.
    #[serde(default)]
    pub tried: u64,
    /// Rule that selected the best set of answers.
    #[serde(default)]
    pub rule: String,
}
