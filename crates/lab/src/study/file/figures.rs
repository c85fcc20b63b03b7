//! Pictures and tables in `study.toml`.

use super::Ordered;
use crate::study::selector::Selector;
use crate::study::value::{Pick, Texts, Value};
use serde::Deserialize;

/// Style of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// Points joined by a line, with intervals.
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
    /// Grid of all curves that do not name a grid.
    pub grid: Option<String>,
    /// Metric to draw.
    pub metric: Option<String>,
    /// Measure to draw, instead of a metric.
    pub measure: Option<String>,
    /// Axis values at which the results are drawn.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Axis of the grid that is drawn as the abscissa.
    pub x: Option<String>,
    /// Label of the abscissa; by default the axis label.
    pub x_label: Option<String>,
    /// Factor by which the abscissa values are multiplied.
    pub x_times: Option<f64>,
    /// Whether the abscissa is logarithmic.
    #[serde(default)]
    pub x_log: bool,
    /// Label of the ordinate, with its unit.
    pub y_label: String,
    /// Whether the ordinate is logarithmic.
    #[serde(default)]
    pub y_log: bool,
    /// Whether each curve is drawn in its own panel, because the curves overlap.
    #[serde(default)]
    pub panels: bool,
    /// Name of each curve, in which `{AXIS}` stands for the value on that axis. Each combination of the other axes'
    /// values gives one curve.
    pub series: Option<String>,
    /// Explicit list of curves, instead of `series`.
    #[serde(default)]
    pub curve: Vec<Curve>,
    /// Rows of `published.csv` to draw: patterns of the column `item`.
    #[serde(default)]
    pub published: Texts,
    /// Rows of `ns2.csv` to draw: patterns of the column `item`.
    #[serde(default)]
    pub ns2: Texts,
    /// Answer to an open question, as `question: answer`. The curves under this answer are drawn in addition.
    pub also_under: Option<String>,
    /// Settings of time series: each curve is one run over time, and its `column` names the sampled quantity.
    pub course: Option<TimeSeriesSettings>,
    /// Name of a computation in Rust that draws the curves, from a run at the coordinates `at`.
    pub by: Option<String>,
}

/// Duration and sampling interval of a time series; by default those of the scenario.
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
    /// Measure to draw, instead of a metric.
    pub measure: Option<String>,
    /// Grid whose results are drawn.
    pub grid: Option<String>,
    /// Axis values at which the results are drawn.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// For time series: formula over the columns of the samples.
    pub column: Option<String>,
    /// For time series: whether to draw the change of the value per second.
    #[serde(default)]
    pub per_second: bool,
    /// Rows of `published.csv` to draw: patterns of the column `item`.
    #[serde(default)]
    pub published: Texts,
    /// Condition on names and coordinates that selects some of these rows.
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
    /// Rows of the results to show: patterns of their item. Only rows with a verdict appear.
    #[serde(default)]
    pub rows: Texts,
    /// Index of an entry in `[[try]]`, from 0. The table has one row for each answer that this entry tests.
    pub answers: Option<usize>,
    /// Columns of a table with `answers`.
    #[serde(default)]
    pub column: Vec<Column>,
    /// Axis whose values become the columns. A row belongs to the column whose axis value equals the row's
    /// series name or the row's coordinate on this axis.
    pub across: Option<String>,
    /// Lines of a table with `across`.
    #[serde(default)]
    pub line: Vec<Column>,
    /// Rows to rank by their values; the series name labels each row.
    pub ranks: Option<Selector>,
    /// Two headings of a ranking: one for the names and one for the remarks.
    #[serde(default)]
    pub headings: Vec<String>,
    /// Remarks of a ranking, by series name.
    #[serde(default)]
    pub says: Ordered<String>,
}

/// Column of a table with `answers`, or line of a table with `across`. Each shows one row of the results.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Heading of the column or line.
    pub heading: String,
    /// Selects the row of the results to show.
    pub row: Selector,
    /// Whether to show the verdict instead of the number.
    #[serde(default)]
    pub verdict: bool,
}
