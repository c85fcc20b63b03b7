//! Pictures and tables.

use super::Ordered;
use crate::study::selector::Selector;
use crate::study::value::{Pick, Texts, Value};
use serde::Deserialize;

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
}

/// A picture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Title above it.
    pub title: String,
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
    /// Its label; by default the axis'.
    pub x_label: Option<String>,
    /// A factor of the abscissa.
    pub x_times: Option<f64>,
    /// Whether the abscissa is logarithmic.
    #[serde(default)]
    pub x_log: bool,
    /// Label of the ordinate, with its unit.
    pub y_label: String,
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
    /// Rows of `ns2.csv` whose numbers are drawn beside, by patterns of their item.
    #[serde(default)]
    pub ns2: Texts,
    /// Another answer's curves besides: `question: answer`.
    pub also_under: Option<String>,
    /// One run each, sampled over time: then the curves' `column` says of what.
    pub course: Option<Course>,
    /// Curves that are computed in Rust, from a run at `at`.
    pub by: Option<String>,
}

/// Duration of a course's own run; the scenario's by default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// Its duration.
    pub duration: Option<String>,
    /// The time between two samples.
    pub sample: Option<String>,
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
    /// Selects among these rows.
    #[serde(default, rename = "where")]
    pub filter: Selector,
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
    /// A column for each value of this axis: of the rows' series, or of their places.
    pub across: Option<String>,
    /// The lines of such a table.
    #[serde(default)]
    pub line: Vec<Column>,
    /// A ranking: these rows, by their series, the largest first.
    pub ranks: Option<Selector>,
    /// What is ranked, and what the words beside each say: two headings.
    #[serde(default)]
    pub headings: Vec<String>,
    /// Words for a series, by its name.
    #[serde(default)]
    pub says: Ordered<String>,
}

/// A column of a table of answers, or a line of one across an axis: one row of the results.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its heading.
    pub heading: String,
    /// The row.
    pub row: Selector,
    /// Whether its verdict is shown, and not its number.
    #[serde(default)]
    pub verdict: bool,
}
