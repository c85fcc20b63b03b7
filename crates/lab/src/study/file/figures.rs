//! Pictures and tables in the file `study.toml`.

use super::Ordered;
use crate::study::selector::Selector;
use crate::study::value::{Pick, Texts, Value};
use serde::Deserialize;

/// Style of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// Points joined by a line, with error bars for the intervals.
    #[default]
    Points,
    /// A line without points.
    Line,
    /// A step function.
    Steps,
}

/// A picture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Title above the picture.
    pub title: String,
    /// Grid of all curves that have no `grid` of their own.
    pub grid: Option<String>,
    /// Metric to draw.
    pub metric: Option<String>,
    /// Measure to draw. The measure takes the place of `metric`.
    pub measure: Option<String>,
    /// Axis values at which the results are drawn.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Axis of the grid that is drawn as the abscissa.
    pub x: Option<String>,
    /// Label of the abscissa. The default is the label of the axis.
    pub x_label: Option<String>,
    /// Factor by which the abscissa values are multiplied, such as 1000 for ms instead of s.
    pub x_times: Option<f64>,
    /// Whether the abscissa is logarithmic.
    #[serde(default)]
    pub x_log: bool,
    /// Label of the ordinate, with its unit.
    pub y_label: String,
    /// Whether the ordinate is logarithmic.
    #[serde(default)]
    pub y_log: bool,
    /// Whether each curve is drawn in its own panel. Panels are useful for curves that overlap.
    #[serde(default)]
    pub panels: bool,
    /// Template of the curves' names, in which `{AXIS}` stands for the value on that axis. Each combination of values
    /// on the axes other than `x` gives one curve.
    pub series: Option<String>,
    /// Explicit list of curves. The list takes the place of `series`.
    #[serde(default)]
    pub curve: Vec<Curve>,
    /// Rows of `published.csv` to draw: patterns of the column `item`.
    #[serde(default)]
    pub published: Texts,
    /// Rows of `ns2.csv` to draw: patterns of the column `item`.
    #[serde(default)]
    pub ns2: Texts,
    /// Answer to an open question, in the form `question: answer`. The curves under this answer are drawn in addition.
    pub also_under: Option<String>,
    /// Settings of time series. If set, each curve shows one run over time, and the curve's `column` is the sampled
    /// quantity.
    pub course: Option<TimeSeriesSettings>,
    /// Name of a Rust function that computes the curves from a run at the coordinates `at`.
    pub by: Option<String>,
}

/// Duration and sampling interval of a time series. The defaults are the values of the scenario.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "struct Course")]
pub struct TimeSeriesSettings {
    /// Duration of the run.
    pub duration: Option<String>,
    /// Interval between samples.
    pub sample: Option<String>,
}

/// A curve.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Name of the curve in the legend.
    pub name: String,
    /// Metric to draw.
    pub metric: Option<String>,
    /// Measure to draw. The measure takes the place of `metric`.
    pub measure: Option<String>,
    /// Grid whose results are drawn.
    pub grid: Option<String>,
    /// Axis values at which the results are drawn.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// Formula over the columns of the samples. Only time series have this key.
    pub column: Option<String>,
    /// Whether the change of the value per second is drawn. Only time series have this key.
    #[serde(default)]
    pub per_second: bool,
    /// Rows of `published.csv` to draw: patterns of the column `item`.
    #[serde(default)]
    pub published: Texts,
    /// Condition on the names and coordinates of the rows. Only rows of `published` that match the condition are drawn.
    #[serde(default, rename = "where")]
    pub filter: Selector,
    /// Factor by which the ordinate values are multiplied.
    pub times: Option<f64>,
    /// Style of the curve.
    #[serde(default)]
    pub draw: Drawn,
}

/// A table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Caption above the table.
    pub caption: String,
    /// Rows of the results to show: patterns of their `item`. Only rows with a verdict appear.
    #[serde(default)]
    pub rows: Texts,
    /// Index, from 0, of an entry `[[try]]` of `study.toml`. Such an entry repeats runs under each possible answer to
    /// questions that the paper leaves open. The table has one row for each answer.
    pub answers: Option<usize>,
    /// Columns of a table with the key `answers`.
    #[serde(default)]
    pub column: Vec<Column>,
    /// Axis whose values become the columns of the table. A result belongs to the column whose axis value equals the
    /// series name of the result, or its coordinate on this axis.
    pub across: Option<String>,
    /// Rows of a table with the key `across`.
    #[serde(default)]
    pub line: Vec<Column>,
    /// Rows of the results to rank by their values. The series name of a row is the row's label in the ranking.
    pub ranks: Option<Selector>,
    /// Two headings of a ranking: one for the names and one for the remarks.
    #[serde(default)]
    pub headings: Vec<String>,
    /// Remarks of a ranking, one for each series name.
    #[serde(default)]
    pub says: Ordered<String>,
}

/// Column of a table with the key `answers`, or row of a table with the key `across`. The cells show results that `row`
/// selects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Heading of the column or row.
    pub heading: String,
    /// Selects the result to show.
    pub row: Selector,
    /// Whether the cell shows the distance from the published number in margins, instead of the measured number. For a
    /// claim, the cell then shows the number of points at which the claim is satisfied.
    #[serde(default)]
    pub verdict: bool,
}
