//! `study.toml`: what a paper's file may say. `docs/papers.md` explains it by examples.
//!
//! Keys of scenarios (`"flow.bulk.sender.recovery" = "reno"`) stand beside a few words of this file (`when`, `path` …);
//! all that is not such a word is a key, and is checked when the scenario is made.

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

/// Tables whose order counts.
pub type Ordered<T> = IndexMap<String, T>;

/// A paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its name on the command line.
    pub paper: String,
    /// The chapter's heading.
    pub title: String,
    /// One line: what it is about.
    pub summary: String,
    /// The paper's outcome in a sentence, with the placeholders of `chapter.md`.
    #[serde(default)]
    pub answer: String,
    /// Whether its claims are ours, and published by nobody.
    #[serde(default)]
    pub ours: bool,
    /// Authors, title, where it appeared.
    pub citation: String,
    /// Whether the paper says how often it ran what it measures.
    #[serde(default)]
    pub paper_runs: PaperRuns,
    /// CPU time that it takes, for the plan that is printed first.
    #[serde(default)]
    pub effort: CpuTime,
    /// What is varied.
    #[serde(default)]
    pub axis: Ordered<Axis>,
    /// What is run.
    #[serde(default)]
    pub grid: Ordered<Grid>,
    /// Numbers of one run.
    #[serde(default)]
    pub metric: Ordered<Metric>,
    /// Numbers of a grid.
    #[serde(default)]
    pub measure: Ordered<Measure>,
    /// How the rows of `published.csv` are measured.
    #[serde(default)]
    pub published: Vec<Binding>,
    /// Points of figures without printed numbers.
    #[serde(default)]
    pub points: Vec<Points>,
    /// What the paper says in words.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// What it leaves open: question, answer, what changes.
    #[serde(default)]
    pub question: Ordered<Ordered<Answer>>,
    /// What is looked at again under every answer.
    #[serde(default, rename = "try")]
    pub tries: Vec<Try>,
    /// Sets of answers besides the default reading, which has none.
    #[serde(default)]
    pub reading: Ordered<Reading>,
    /// Pictures.
    #[serde(default)]
    pub figure: Ordered<Figure>,
    /// Tables.
    #[serde(default)]
    pub table: Ordered<Table>,
}

/// Whether a paper says how often it ran what it measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaperRuns {
    /// It does, or what it prints is computed: its numbers are means, except those of a class of one run.
    #[default]
    Stated,
    /// It does not: a number may be one run.
    Unknown,
}

/// What changes in a scenario: keys and values, and words of this file.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Changes {
    /// Another path file.
    pub path: Option<String>,
    /// Flows that are left out, by pattern.
    #[serde(default)]
    pub drop: Texts,
    /// Names for places in the scenario, used as `"@NAME.key"`.
    #[serde(default)]
    pub names: Ordered<Texts>,
    /// The rest: keys of the scenario.
    #[serde(flatten)]
    pub keys: Ordered<Value>,
}

/// What is varied.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// What it is called in pictures, with its unit.
    pub label: Option<String>,
    /// Its coordinate in rows and in `published.csv`; by default its name.
    pub column: Option<String>,
    /// All values.
    pub values: Vec<Value>,
    /// Those of a quick run; by default all.
    pub quick: Option<Vec<Value>>,
    /// Those of a run that tries an answer; by default those of the run.
    pub questions: Option<Vec<Value>>,
    /// The same in a quick run; by default `questions`.
    pub quick_questions: Option<Vec<Value>>,
    /// What every value changes; `{NAME}` is the value.
    #[serde(default)]
    pub set: Changes,
    /// What one value changes.
    #[serde(default)]
    pub case: Ordered<Changes>,
    /// Coordinates that a value stands for, where they are not its name: `"2 + 4" = { reno = 2, w_cw = 4 }`.
    #[serde(default)]
    pub stands_for: Ordered<Ordered<Value>>,
}

/// How many repetitions, by the kind of run.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// In full; at first, where there is `most`.
    #[serde(default)]
    pub full: u32,
    /// At most in full: cells of published numbers are run more often until our interval is narrow beside the margin.
    pub most: Option<u32>,
    /// Quick.
    #[serde(default)]
    pub quick: u32,
    /// Under each answer, in full.
    #[serde(default)]
    pub questions: u32,
    /// Under each answer, quick.
    #[serde(default)]
    pub quick_questions: u32,
}

/// What is run: every combination of some axes' values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// The path's file, unless an axis names it.
    pub path: Option<String>,
    /// Its axes, the first varies slowest.
    pub axes: Vec<String>,
    /// Values of some axes to which it keeps.
    #[serde(default)]
    pub only: Ordered<Pick>,
    /// Repetitions; a kind of run without any leaves the grid out.
    #[serde(default)]
    pub runs: Runs,
    /// Whether nothing of it is run: its axes are those of what is computed (`by`, `formula`).
    #[serde(default)]
    pub computed: bool,
    /// The variable `{length}`, by the kind of run: how many times longer a run is; 1 by default.
    pub length: Option<Runs>,
    /// Whether anything in it is random; if not, one run says all and has no interval.
    #[serde(default = "yes")]
    pub random: bool,
    /// What changes in all of its cells.
    #[serde(default)]
    pub set: Changes,
    /// What changes where several axes have certain values.
    #[serde(default)]
    pub case: Vec<Case>,
    /// Names for places in its scenarios.
    #[serde(default)]
    pub names: Ordered<Texts>,
    /// Groups of its flows, by patterns of their names.
    #[serde(default)]
    pub groups: Ordered<Texts>,
    /// What is drawn for each repetition.
    #[serde(default)]
    pub draw: Vec<Draw>,
}

fn yes() -> bool {
    true
}

/// What changes where several axes have certain values.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// Where.
    pub when: Ordered<Pick>,
    /// What.
    #[serde(flatten)]
    pub changes: Changes,
}

/// Values that are drawn for each repetition, from a random stream of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// The stream's name.
    pub stream: String,
    /// The keys, in the order in which they draw; `*` stands for all names of that table, in the file's order.
    pub keys: Texts,
    /// The smallest value.
    pub from: f64,
    /// Below this.
    pub to: f64,
    /// Its unit.
    pub unit: String,
    /// Whether only whole numbers are drawn.
    #[serde(default)]
    pub whole: bool,
    /// Where; everywhere by default.
    #[serde(default)]
    pub when: Ordered<Pick>,
}
