//! Format of `study.toml`, the file that describes a paper. `docs/reference/paper-files.md` explains the format by
//! examples.
//!
//! Tables of changes contain words with a meaning in this file (`when`, `path` …) and keys of scenarios
//! (`"flow.bulk.sender.recovery" = "reno"`). Every other word counts as a scenario key, and is checked with the
//! scenario.

mod claims;
mod figures;
mod measures;
mod questions;

pub use claims::*;
pub use figures::*;
pub use measures::*;
pub use questions::*;

use super::value::{Pick, Texts, Value};
use crate::papers::CpuTime;
use indexmap::IndexMap;
use serde::Deserialize;

/// Table whose entries keep their order.
pub type Ordered<T> = IndexMap<String, T>;

/// A paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Name on the command line.
    pub paper: String,
    /// Heading of the chapter.
    pub title: String,
    /// Subject of the paper in one line.
    pub summary: String,
    /// Result of the reproduction in a sentence, with the placeholders of `chapter.md`.
    #[serde(default)]
    pub answer: String,
    /// Whether the claims are our own expectations, not published ones.
    #[serde(default)]
    pub ours: bool,
    /// Authors, title, publication.
    pub citation: String,
    /// Whether the paper reports its number of runs.
    #[serde(default)]
    pub paper_runs: PaperRuns,
    /// CPU time of the reproduction, for the estimate that is printed before the runs.
    #[serde(default)]
    pub effort: CpuTime,
    /// Axes to vary.
    #[serde(default)]
    pub axis: Ordered<Axis>,
    /// Grids to run.
    #[serde(default)]
    pub grid: Ordered<Grid>,
    /// Metrics: numbers that are computed from one run.
    #[serde(default)]
    pub metric: Ordered<Metric>,
    /// Measures: numbers that are computed from the results of a grid.
    #[serde(default)]
    pub measure: Ordered<Measure>,
    /// Bindings: quantities that we measure for the rows of `published.csv`.
    #[serde(default)]
    pub published: Vec<Binding>,
    /// Points of figures for which the paper prints no numbers.
    #[serde(default)]
    pub points: Vec<Points>,
    /// Claims in words.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Questions that the paper leaves open, each with its possible answers. An answer is a change of the scenarios.
    #[serde(default)]
    pub question: Ordered<Ordered<Answer>>,
    /// Rows to repeat under every answer to open questions.
    #[serde(default, rename = "try")]
    pub tries: Vec<Try>,
    /// Readings: each is a set of answers to open questions. The default reading, which has no answers, always exists.
    #[serde(default)]
    pub reading: Ordered<Reading>,
    /// Pictures.
    #[serde(default)]
    pub figure: Ordered<Figure>,
    /// Tables.
    #[serde(default)]
    pub table: Ordered<Table>,
}

/// Whether a paper reports its number of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaperRuns {
    /// The paper reports the number, or its numbers are computed. Its numbers are means, except in classes for one run.
    #[default]
    Stated,
    /// The paper does not report the number. A published number may come from one run.
    Unknown,
}

/// Changes of a scenario: scenario keys with values, and words of this file.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Changes {
    /// Scenario file to use instead.
    pub path: Option<String>,
    /// Flows to leave out of the scenario, by pattern.
    #[serde(default)]
    pub drop: Texts,
    /// Names for parts of the scenario, such as links; a key may then be `"@NAME.key"`.
    #[serde(default)]
    pub names: Ordered<Texts>,
    /// Scenario keys with values.
    #[serde(flatten)]
    pub keys: Ordered<Value>,
}

/// A varied parameter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Label in pictures, with unit.
    pub label: Option<String>,
    /// Coordinate name in rows and `published.csv`; by default the axis name.
    pub column: Option<String>,
    /// Values to run.
    pub values: Vec<Value>,
    /// Values of a quick run; by default all.
    pub quick: Option<Vec<Value>>,
    /// Values of a run under an answer to an open question; by default those of the run without an answer.
    pub questions: Option<Vec<Value>>,
    /// Values of a quick run under an answer; by default `questions`.
    pub quick_questions: Option<Vec<Value>>,
    /// Changes for every value; `{NAME}`, with the axis name, stands for the value.
    #[serde(default)]
    pub set: Changes,
    /// Changes for single values, by value.
    #[serde(default)]
    pub case: Ordered<Changes>,
    /// Coordinates that a value denotes, if its name is not itself a coordinate: `"2 + 4" = { reno = 2, w_cw = 4 }`.
    #[serde(default)]
    pub stands_for: Ordered<Ordered<Value>>,
}

/// Number of repetitions, by extent of the run.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "struct Runs")]
pub struct RunCounts {
    /// Number in a full run. If `most` is set, this is only the initial number.
    #[serde(default)]
    pub full: u32,
    /// Largest number in a full run, if intervals stay wide compared with the margin of published numbers.
    pub most: Option<u32>,
    /// Number in a quick run.
    #[serde(default)]
    pub quick: u32,
    /// Number in a full run under each answer to an open question.
    #[serde(default)]
    pub questions: u32,
    /// Number in a quick run under each answer to an open question.
    #[serde(default)]
    pub quick_questions: u32,
}

/// Runs of every combination of some axes' values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Scenario file, unless an axis names it.
    pub path: Option<String>,
    /// Axes; the first varies slowest.
    pub axes: Vec<String>,
    /// Axes that are restricted to some of their values.
    #[serde(default)]
    pub only: Ordered<Pick>,
    /// Numbers of repetitions; where the number is 0, the grid is not run.
    #[serde(default)]
    pub runs: RunCounts,
    /// Whether the grid is not run: its axes belong to computed measures (`by`, `formula`).
    #[serde(default)]
    pub computed: bool,
    /// Value of the variable `{length}`, by extent of the run: the factor by which the runs are longer; 1 by
    /// default.
    pub length: Option<RunCounts>,
    /// Whether anything is random; if not, one run suffices and has no interval.
    #[serde(default = "yes")]
    pub random: bool,
    /// Changes that apply to all cells.
    #[serde(default)]
    pub set: Changes,
    /// Changes at certain values of several axes.
    #[serde(default)]
    pub case: Vec<CaseChanges>,
    /// Names for parts of the scenarios, as in [`Changes::names`].
    #[serde(default)]
    pub names: Ordered<Texts>,
    /// Groups of flows, by patterns of their names.
    #[serde(default)]
    pub groups: Ordered<Texts>,
    /// Scenario values that are drawn at random in each repetition.
    #[serde(default)]
    pub draw: Vec<Draw>,
}

fn yes() -> bool {
    true
}

/// Changes at certain values of several axes.
#[derive(Debug, Deserialize)]
#[serde(expecting = "struct Case")]
pub struct CaseChanges {
    /// Values at which the changes apply.
    pub when: Ordered<Pick>,
    /// Changes to apply.
    #[serde(flatten)]
    pub changes: Changes,
}

/// Scenario values that are drawn at random in each repetition, from a separate random stream.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Name of the random stream.
    pub stream: String,
    /// Keys, in drawing order; `*` stands for all names of the table, in file order.
    pub keys: Texts,
    /// Smallest random value.
    pub from: f64,
    /// Upper bound, which no random value reaches.
    pub to: f64,
    /// Unit of the random values.
    pub unit: String,
    /// Whether values are rounded down to integers.
    #[serde(default)]
    pub whole: bool,
    /// Axis values at which to draw; by default all.
    #[serde(default)]
    pub when: Ordered<Pick>,
}
