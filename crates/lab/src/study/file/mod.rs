//! `study.toml`: format of a paper's file. `docs/papers.md` explains the format by examples.
//!
//! Tables of changes mix words of this file (`when`, `path` …) with keys of scenarios (`"flow.bulk.sender.recovery" =
//! "reno"`). Every other word is a scenario key and is checked with the scenario.

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

/// Table whose order counts.
pub type Ordered<T> = IndexMap<String, T>;

/// A paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Name on the command line.
    pub paper: String,
    /// Heading of the chapter.
    pub title: String,
    /// Subject, one line.
    pub summary: String,
    /// Outcome in a sentence, with the placeholders of `chapter.md`.
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
    /// CPU time, for the estimate printed first.
    #[serde(default)]
    pub effort: CpuTime,
    /// Axes to vary.
    #[serde(default)]
    pub axis: Ordered<Axis>,
    /// Grids to run.
    #[serde(default)]
    pub grid: Ordered<Grid>,
    /// Numbers of one run.
    #[serde(default)]
    pub metric: Ordered<Metric>,
    /// Numbers of a grid.
    #[serde(default)]
    pub measure: Ordered<Measure>,
    /// Bindings of the rows of `published.csv`.
    #[serde(default)]
    pub published: Vec<Binding>,
    /// Points of figures without printed numbers.
    #[serde(default)]
    pub points: Vec<Points>,
    /// Claims in words.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Open questions with their answers' changes.
    #[serde(default)]
    pub question: Ordered<Ordered<Answer>>,
    /// Rows to repeat under every answer.
    #[serde(default, rename = "try")]
    pub tries: Vec<Try>,
    /// Sets of answers, in addition to the default reading without answers.
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
    /// Reported, or the numbers are computed: numbers are means, except in one-run classes.
    #[default]
    Stated,
    /// Not reported: a number may be one run.
    Unknown,
}

/// Changes of a scenario: scenario keys with values, and words of this file.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Changes {
    /// Other scenario file.
    pub path: Option<String>,
    /// Flows to leave out, by pattern.
    #[serde(default)]
    pub drop: Texts,
    /// Names for places in the scenario, used as `"@NAME.key"`.
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
    /// Values.
    pub values: Vec<Value>,
    /// Values of a quick run; by default all.
    pub quick: Option<Vec<Value>>,
    /// Values of a run under an answer; by default those of the run.
    pub questions: Option<Vec<Value>>,
    /// Values of a quick run under an answer; by default `questions`.
    pub quick_questions: Option<Vec<Value>>,
    /// Changes for every value; `{NAME}` is the value.
    #[serde(default)]
    pub set: Changes,
    /// Changes for single values.
    #[serde(default)]
    pub case: Ordered<Changes>,
    /// Coordinates of a value whose name is not a coordinate: `"2 + 4" = { reno = 2, w_cw = 4 }`.
    #[serde(default)]
    pub stands_for: Ordered<Ordered<Value>>,
}

/// Number of repetitions, by extent of the run.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "struct Runs")]
pub struct RunCounts {
    /// Full run; initial number if `most` is set.
    #[serde(default)]
    pub full: u32,
    /// Largest number in a full run, if intervals stay wide compared with the margin of published numbers.
    pub most: Option<u32>,
    /// Quick run.
    #[serde(default)]
    pub quick: u32,
    /// Full run under each answer.
    #[serde(default)]
    pub questions: u32,
    /// Quick run under each answer.
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
    /// Restriction of axes to some values.
    #[serde(default)]
    pub only: Ordered<Pick>,
    /// Repetitions; the grid is left out of runs with 0.
    #[serde(default)]
    pub runs: RunCounts,
    /// Whether the grid is not run: its axes belong to computed measures (`by`, `formula`).
    #[serde(default)]
    pub computed: bool,
    /// Value of the variable `{length}`, by extent of the run: factor of the run's length; 1 by default.
    pub length: Option<RunCounts>,
    /// Whether anything is random; if not, one run suffices and has no interval.
    #[serde(default = "yes")]
    pub random: bool,
    /// Changes in all cells.
    #[serde(default)]
    pub set: Changes,
    /// Changes at certain values of several axes.
    #[serde(default)]
    pub case: Vec<CaseChanges>,
    /// Names for places in the scenarios.
    #[serde(default)]
    pub names: Ordered<Texts>,
    /// Groups of flows, by patterns of their names.
    #[serde(default)]
    pub groups: Ordered<Texts>,
    /// Random values of each repetition.
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
    /// Changes.
    #[serde(flatten)]
    pub changes: Changes,
}

/// Random values of each repetition, from a separate random stream.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Name of the random stream.
    pub stream: String,
    /// Keys, in drawing order; `*` stands for all names of the table, in file order.
    pub keys: Texts,
    /// Smallest value.
    pub from: f64,
    /// Exclusive upper bound.
    pub to: f64,
    /// Unit.
    pub unit: String,
    /// Whether values are rounded down to integers.
    #[serde(default)]
    pub whole: bool,
    /// Places; by default all.
    #[serde(default)]
    pub when: Ordered<Pick>,
}
