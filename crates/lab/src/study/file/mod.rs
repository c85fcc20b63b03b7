//! Format of `study.toml`, the file that describes a paper. `docs/reference/paper-files.md` explains the format with
//! examples.
//!
//! A table of changes contains words that this file defines (`when`, `path` …) and keys of scenarios
//! (`"flow.bulk.sender.recovery" = "reno"`). Every word that this file does not define is taken as a scenario key. The
//! check of the scenario reports unknown keys.

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

/// Table whose entries keep the order of the file.
pub type Ordered<T> = IndexMap<String, T>;

/// Content of `study.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Name of the paper on the command line.
    pub paper: String,
    /// Heading of the paper's chapter in the report.
    pub title: String,
    /// Subject of the paper in one line.
    pub summary: String,
    /// Result of the reproduction in one sentence. The sentence may contain the same placeholders as `chapter.md`.
    #[serde(default)]
    pub answer: String,
    /// Whether the claims are our own expectations. If not, the claims are the paper's.
    #[serde(default)]
    pub ours: bool,
    /// Authors, title and publication of the paper.
    pub citation: String,
    /// Whether the paper reports its number of runs.
    #[serde(default)]
    pub paper_runs: PaperRuns,
    /// CPU time of the reproduction. The estimate that is printed before the runs uses this time.
    #[serde(default)]
    pub effort: CpuTime,
    /// Axes, which are the parameters that vary.
    #[serde(default)]
    pub axis: Ordered<Axis>,
    /// Grids to run. A grid is every combination of some axes' values.
    #[serde(default)]
    pub grid: Ordered<Grid>,
    /// Metrics: numbers that are computed from one run.
    #[serde(default)]
    pub metric: Ordered<Metric>,
    /// Measures: numbers that are computed from the results of a grid.
    #[serde(default)]
    pub measure: Ordered<Measure>,
    /// Bindings, which define the quantities that we measure for the rows of `published.csv`.
    #[serde(default)]
    pub published: Vec<Binding>,
    /// Points of figures for which the paper prints no numbers.
    #[serde(default)]
    pub points: Vec<Points>,
    /// Claims, which are statements in words.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Questions that the paper leaves open, each with its possible answers. An answer changes the scenarios.
    #[serde(default)]
    pub question: Ordered<Ordered<Answer>>,
    /// Rows that are repeated under every answer to open questions.
    #[serde(default, rename = "try")]
    pub tries: Vec<Try>,
    /// Readings, each of which is a set of answers to open questions. The default reading has no answers and always
    /// exists.
    #[serde(default)]
    pub reading: Ordered<Reading>,
    /// Pictures of the report.
    #[serde(default)]
    pub figure: Ordered<Figure>,
    /// Tables of the report.
    #[serde(default)]
    pub table: Ordered<Table>,
}

/// Whether a paper reports its number of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaperRuns {
    /// The paper reports its number of runs, or its numbers are computed. A published number is a mean, except in
    /// classes for one run.
    #[default]
    Stated,
    /// The paper does not report its number of runs. A published number may come from one run.
    Unknown,
}

/// Changes of a scenario: scenario keys with values, and words that this file defines.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Changes {
    /// Name of a scenario file that replaces the grid's file.
    pub path: Option<String>,
    /// Flows that are removed from the scenario: patterns of their names.
    #[serde(default)]
    pub drop: Texts,
    /// Names for parts of the scenario, such as links. A key may refer to a part as `"@NAME.key"`.
    #[serde(default)]
    pub names: Ordered<Texts>,
    /// Scenario keys, each with its value.
    #[serde(flatten)]
    pub keys: Ordered<Value>,
}

/// Parameter that varies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Label of the axis in pictures, with the unit.
    pub label: Option<String>,
    /// Name of the coordinate in rows and in `published.csv`. The default is the name of the axis.
    pub column: Option<String>,
    /// Values of a full run.
    pub values: Vec<Value>,
    /// Values of a quick run. The default is all values.
    pub quick: Option<Vec<Value>>,
    /// Values of a run under an answer to an open question. The default is the values of a run without an answer.
    pub questions: Option<Vec<Value>>,
    /// Values of a quick run under an answer to an open question. The default is `questions`.
    pub quick_questions: Option<Vec<Value>>,
    /// Changes that apply at every value. In the changes, `{NAME}` stands for the value if NAME is the name of the
    /// axis.
    #[serde(default)]
    pub set: Changes,
    /// Changes that apply at a single value. The name of each entry is the value.
    #[serde(default)]
    pub case: Ordered<Changes>,
    /// Coordinates that replace an axis value in rows: `"2 + 4" = { reno = 2, w_cw = 4 }`.
    #[serde(default)]
    pub stands_for: Ordered<Ordered<Value>>,
}

/// Numbers of repetitions in full and quick runs, without and with answers to open questions.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "struct Runs")]
pub struct RunCounts {
    /// Number in a full run. If `most` is set, `full` is only the initial number.
    #[serde(default)]
    pub full: u32,
    /// Largest number in a full run. Repetitions are added up to this number while an interval is too wide for the
    /// margin of a published number.
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

/// Runs of every combination of the values of some axes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Scenario file. The grid needs no `path` if an axis names the file.
    pub path: Option<String>,
    /// Axes. The values of the first axis vary slowest.
    pub axes: Vec<String>,
    /// Axes that are restricted to some of their values.
    #[serde(default)]
    pub only: Ordered<Pick>,
    /// Numbers of repetitions in full and quick runs. If one of these numbers is 0, runs of that kind omit the grid.
    #[serde(default)]
    pub runs: RunCounts,
    /// Whether the grid has no runs because its axes serve only computed measures (`by`, `formula`).
    #[serde(default)]
    pub computed: bool,
    /// Factors that multiply the length of full and quick runs. The variable `{length}` holds the factor of the current
    /// run. The default is 1.
    pub length: Option<RunCounts>,
    /// Whether anything in the scenarios is random. If not, one run of each cell suffices, and the numbers of the cell
    /// have no interval.
    #[serde(default = "yes")]
    pub random: bool,
    /// Changes that apply to all cells of the grid.
    #[serde(default)]
    pub set: Changes,
    /// Changes that apply only at certain values of several axes.
    #[serde(default)]
    pub case: Vec<CaseChanges>,
    /// Names for parts of the scenarios. The format is the same as in [`Changes::names`].
    #[serde(default)]
    pub names: Ordered<Texts>,
    /// Groups of flows: name of each group, and patterns of flow names.
    #[serde(default)]
    pub groups: Ordered<Texts>,
    /// Scenario values that are drawn at random in each repetition.
    #[serde(default)]
    pub draw: Vec<Draw>,
}

fn yes() -> bool {
    true
}

/// Changes that apply only at certain values of several axes.
#[derive(Debug, Deserialize)]
#[serde(expecting = "struct Case")]
pub struct CaseChanges {
    /// Axis values at which the changes apply.
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
    /// Scenario keys, in the order of drawing. `*` stands for all names in a table of the scenario, such as all flows,
    /// in file order.
    pub keys: Texts,
    /// Smallest random value.
    pub from: f64,
    /// Upper bound of the random values. All random values are below this bound.
    pub to: f64,
    /// Unit of the random values.
    pub unit: String,
    /// Whether the random values are rounded down to integers.
    #[serde(default)]
    pub whole: bool,
    /// Axis values at which values are drawn. The default is all axis values.
    #[serde(default)]
    pub when: Ordered<Pick>,
}
