//! `study.toml`: what a paper's file may say. `docs/papers.md` explains it by examples.
//!
//! Keys of scenarios (`"flow.bulk.sender.recovery" = "reno"`) stand beside a few words of this file (`when`, `path` …);
//! all that is not such a word is a key, and is checked when the scenario is made.

use super::class::Class;
use super::value::{OneOrMore, Pick, Texts, Value};
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
    /// Authors, title, where it appeared.
    pub citation: String,
    /// Where its mechanism lives: `sender`, `receiver`, `router`, `link`.
    pub lives_at: Texts,
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
    /// Groups of flows, by patterns of their names.
    #[serde(default)]
    pub groups: Ordered<Texts>,
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
    /// In full.
    #[serde(default)]
    pub full: u32,
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
    /// Groups of its flows.
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

/// A number of one run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its formula.
    pub of: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// Ends that it cannot pass, such as 0 and 1: intervals end there.
    pub bounds: Option<[f64; 2]>,
}

/// How two numbers, or one along an axis, become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Comparison {
    /// `at` - `against`, by repetition.
    #[serde(rename = "difference")]
    Difference,
    /// 100 (`at` / `against` - 1), by repetition.
    #[serde(rename = "change, %")]
    Change,
    /// 100 (mean of `at` / mean of `against` - 1).
    #[serde(rename = "change of means, %")]
    ChangeOfMeans,
    /// `at` / `against`, by repetition.
    #[serde(rename = "ratio")]
    Ratio,
}

/// What becomes of an axis that a row does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Over {
    /// The sum over the axis, by repetition, before two numbers are compared.
    #[serde(rename = "sum")]
    Sum,
    /// The mean over it, by repetition, before two numbers are compared.
    #[serde(rename = "mean")]
    Mean,
    /// Its values count as repetitions: where nothing else varies.
    #[serde(rename = "as repetitions")]
    Repetitions,
    /// The number where its mean is largest, with the place, which is looked for on half of the repetitions.
    #[serde(rename = "largest mean")]
    Largest,
    /// The place where its mean is largest.
    #[serde(rename = "place of the largest mean")]
    LargestPlace,
    /// The place from which on the mean of `at` is above that of `against`.
    #[serde(rename = "crossing")]
    Crossing,
}

/// What is measured: a metric or a measure, where.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// A metric.
    pub metric: Option<String>,
    /// Or a measure.
    pub measure: Option<String>,
    /// The grid; a measure knows its own.
    pub grid: Option<String>,
    /// Where.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// A factor.
    pub times: Option<f64>,
}

/// A number of a grid.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The grid; the only one by default.
    pub grid: Option<String>,
    /// Of a metric.
    pub metric: Option<String>,
    /// Or of another measure.
    pub measure: Option<String>,
    /// Where.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// What it is compared with.
    pub against: Option<Ordered<Value>>,
    /// How.
    #[serde(rename = "as")]
    pub comparison: Option<Comparison>,
    /// Axes that it does not keep.
    #[serde(default)]
    pub over: Ordered<Over>,
    /// A formula of the row's coordinates: nothing is run.
    pub formula: Option<String>,
    /// Something computed in Rust.
    pub by: Option<String>,
    /// What that is told.
    #[serde(default)]
    pub with: toml::Table,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
}

impl Measure {
    /// Whether nothing is run for it.
    pub const fn is_computed(&self) -> bool {
        self.formula.is_some() || self.by.is_some()
    }
}

/// How rows of `published.csv` are measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Which rows, by patterns of their item.
    pub rows: Texts,
    /// Of these, which: by `series`, `metric` and coordinates.
    #[serde(default, rename = "where")]
    pub filter: Filter,
    /// A metric.
    pub metric: Option<String>,
    /// Or a measure.
    pub measure: Option<String>,
    /// The grid.
    pub grid: Option<String>,
    /// Where, besides the row's coordinates.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// The axis whose values the series are.
    pub series_is: Option<String>,
    /// How near is near.
    pub class: Class,
    /// Another margin than the class's, of all rows or by series.
    pub within: Option<Within>,
    /// Whether what is published is a number of our own, made from words of the paper.
    #[serde(default)]
    pub ours: bool,
    /// What its rows are about: a column of the report's first picture; `tables` by default.
    pub theme: Option<String>,
    /// Whether its rows stand in the report's first picture.
    #[serde(default)]
    pub headline: bool,
}

/// Which rows.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// By pattern of the series.
    pub series: Option<Texts>,
    /// By pattern of the metric.
    pub metric: Option<Texts>,
    /// By coordinates, as they are written in `published.csv`.
    #[serde(default)]
    pub x: Ordered<Pick>,
}

/// A margin in the row's unit.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Within {
    /// Of all rows.
    All(f64),
    /// By series.
    Series(Ordered<f64>),
}

/// Points of a figure of which the paper prints no numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// The rows' item.
    pub item: String,
    /// A metric.
    pub metric: Option<String>,
    /// Or a measure.
    pub measure: Option<String>,
    /// The grid.
    pub grid: Option<String>,
    /// Where.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// The series' name, `{AXIS}` in braces; by default the first axis that varies.
    pub series: Option<String>,
    /// What a reader should know.
    #[serde(default)]
    pub note: String,
}

/// Something that the paper says in words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The row's item.
    pub item: String,
    /// The row's series.
    #[serde(default = "claim_series")]
    pub series: String,
    /// The words; `{value}` is what the first condition measures.
    pub words: String,
    /// What it is about: a column of the report's first picture.
    pub theme: Option<String>,
    /// Conditions: each is tried at its points.
    pub holds: OneOrMore<Condition>,
}

fn claim_series() -> String {
    "claim".into()
}

/// A condition, tried at points.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// A metric.
    pub metric: Option<String>,
    /// Or a measure.
    pub measure: Option<String>,
    /// The grid.
    pub grid: Option<String>,
    /// Where.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// The axes whose every combination is a point: `ber`, `ber >= 5e-5`.
    #[serde(default)]
    pub at_each: Texts,
    /// What must hold.
    pub is: Word,
    /// Compared with what; 0 by default.
    pub than: Option<Than>,
    /// For `within` and `alike`: how far, as a share.
    pub by: Option<f64>,
    /// The axis along which it grows, falls, ends or is best.
    pub along: Option<String>,
    /// Values of that axis at which it is looked at; all by default.
    pub along_only: Option<String>,
    /// Whether a point at which it is undefined counts as holding.
    #[serde(default)]
    pub undefined_holds: bool,
}

/// What a condition compares with.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Than {
    /// A number.
    Number(f64),
    /// Two: from, to.
    Range([f64; 2]),
    /// A value of the axis (`best at`).
    Named(String),
    /// The same, or another quantity elsewhere.
    Quantity(Quantity),
}

/// What a condition says: the closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Above.
    Above,
    /// Below.
    Below,
    /// Not worse: above, or below by no more than the margin of an order (2 %).
    #[serde(rename = "at least")]
    AtLeast,
    /// Not above by more than that margin.
    #[serde(rename = "at most")]
    AtMost,
    /// Between two numbers.
    Between,
    /// Differs by no more than the share `by`.
    Within,
    /// Zero in every run.
    #[serde(rename = "zero in every run")]
    Zero,
    /// Along an axis: no step goes down, and the last is above the first.
    Grows,
    /// Along an axis: no step goes up, and the last is below the first.
    Falls,
    /// Along an axis: no step goes down by more than the margin of an order.
    #[serde(rename = "never falls")]
    NeverFalls,
    /// Along an axis: no step goes up by more than that.
    #[serde(rename = "never grows")]
    NeverGrows,
    /// Along an axis: its last is above its first.
    #[serde(rename = "higher at the end")]
    HigherAtEnd,
    /// Along an axis: its last is below its first.
    #[serde(rename = "lower at the end")]
    LowerAtEnd,
    /// Along an axis: nowhere is it larger than at `than`.
    #[serde(rename = "largest at")]
    LargestAt,
    /// Along an axis: nowhere is it smaller than at `than`.
    #[serde(rename = "smallest at")]
    SmallestAt,
    /// Along an axis: all values lie within the share `by` of the largest.
    Alike,
}

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
    Texts::One("*".into())
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

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// Points joined by a line, with intervals.
    #[default]
    Points,
    /// A line alone.
    Line,
    /// A step function.
    Steps,
    /// Dots alone.
    Dots,
}

/// A picture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Title above it.
    pub title: String,
    /// Below it, unless the chapter's text says it.
    #[serde(default)]
    pub caption: String,
    /// The grid, unless curves name theirs.
    pub grid: Option<String>,
    /// A metric.
    pub metric: Option<String>,
    /// Or a measure.
    pub measure: Option<String>,
    /// Where.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// The axis along which it is drawn.
    pub x: Option<String>,
    /// Where the default reading stands, if x is `question: …`, whose answers begin with a number.
    pub x_default: Option<f64>,
    /// Its label; by default the axis'.
    pub x_label: Option<String>,
    /// A factor of the abscissa.
    pub x_times: Option<f64>,
    /// Whether the abscissa is logarithmic.
    #[serde(default)]
    pub x_log: bool,
    /// Label of the ordinate, with its unit.
    pub y_label: String,
    /// A factor of the ordinate.
    pub y_times: Option<f64>,
    /// Whether the ordinate is logarithmic.
    #[serde(default)]
    pub y_log: bool,
    /// Whether each curve has a panel of its own: for courses that would cover each other.
    #[serde(default)]
    pub panels: bool,
    /// The name of each curve, `{AXIS}` in braces; one curve for each combination of the axes that vary besides x.
    pub series: Option<String>,
    /// Curves one by one, instead.
    #[serde(default)]
    pub curve: Vec<Curve>,
    /// Rows of `published.csv` whose numbers are drawn beside, by patterns of their item.
    #[serde(default)]
    pub published: Texts,
    /// Another answer's curves besides: `question: answer`.
    pub also_under: Option<String>,
    /// One run each, sampled over time, with these changes: then the curves' `column` says of what.
    pub course: Option<Ordered<Value>>,
    /// Something computed in Rust.
    pub by: Option<String>,
    /// What that is told.
    #[serde(default)]
    pub with: toml::Table,
}

/// A curve of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// A metric.
    pub metric: Option<String>,
    /// Or a measure.
    pub measure: Option<String>,
    /// The grid.
    pub grid: Option<String>,
    /// Where.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// Of a course: a formula of the samples' columns.
    pub column: Option<String>,
    /// Of a course: whether the change per second is drawn.
    #[serde(default)]
    pub per_second: bool,
    /// Published rows instead: their items.
    #[serde(default)]
    pub published: Texts,
    /// Of these, those of a series.
    pub of_series: Option<String>,
    /// Of these, those of a metric.
    pub of_metric: Option<String>,
    /// A factor of the ordinate.
    pub times: Option<f64>,
    /// How it is drawn.
    #[serde(default)]
    pub draw: Drawn,
}

/// A table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Above it.
    pub caption: String,
    /// Rows with a verdict, by patterns of their item.
    #[serde(default)]
    pub rows: Texts,
    /// A row for each answer: the number of the try, from 0.
    pub answers: Option<usize>,
    /// The columns of such a table.
    #[serde(default)]
    pub column: Vec<Column>,
}

/// A column of a table of answers: one row of the results.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its heading.
    pub heading: String,
    /// The row's item.
    pub item: String,
    /// Its series, if several have that item.
    pub series: Option<String>,
    /// Its metric.
    pub metric: Option<String>,
    /// Its coordinates.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// Whether its verdict is shown, and not its number.
    #[serde(default)]
    pub verdict: bool,
}
