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
    /// Grid, unless curves name theirs.
    pub grid: Option<String>,
    /// Metric to draw.
    pub metric: Option<String>,
    /// Measure to draw, instead of a metric.
    pub measure: Option<String>,
    /// Coordinates.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Axis of the abscissa.
    pub x: Option<String>,
    /// Label of the abscissa; by default the axis label.
    pub x_label: Option<String>,
    /// Factor of the abscissa.
    pub x_times: Option<f64>,
    /// Whether the abscissa is logarithmic.
    #[serde(default)]
    pub x_log: bool,
    /// Label of the ordinate, with its unit.
    pub y_label: String,
    /// Whether the ordinate is logarithmic.
    #[serde(default)]
    pub y_log: bool,
    /// Whether each curve has its own panel, for curves that overlap.
    #[serde(default)]
    pub panels: bool,
    /// Name of each curve, with `{AXIS}` in braces; one curve for each combination of the other axes that vary.
    pub series: Option<String>,
    /// Explicit list of curves, instead of `series`.
    #[serde(default)]
    pub curve: Vec<Curve>,
    /// Rows of `published.csv` to draw, by patterns of their item.
    #[serde(default)]
    pub published: Texts,
    /// Rows of `ns2.csv` to draw, by patterns of their item.
    #[serde(default)]
    pub ns2: Texts,
    /// Answer whose curves are drawn in addition: `question: answer`.
    pub also_under: Option<String>,
    /// Time series of one run each; `column` of a curve names the sampled quantity.
    pub course: Option<TimeSeriesSettings>,
    /// Computation in Rust that draws curves from a run at `at`.
    pub by: Option<String>,
}

/// Duration and sampling of a time series; the scenario's by default.
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
    /// Name.
    pub name: String,
    /// Metric to draw.
    pub metric: Option<String>,
    /// Measure to draw, instead of a metric.
    pub measure: Option<String>,
    /// Grid.
    pub grid: Option<String>,
    /// Coordinates.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// Time series: formula over the samples' columns.
    pub column: Option<String>,
    /// Time series: whether to draw the change per second.
    #[serde(default)]
    pub per_second: bool,
    /// Published rows to draw, by patterns of their item.
    #[serde(default)]
    pub published: Texts,
    /// Filter of these rows.
    #[serde(default, rename = "where")]
    pub filter: Selector,
    /// Factor of the ordinate.
    pub times: Option<f64>,
    /// Style.
    #[serde(default)]
    pub draw: Drawn,
}

/// A table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Caption above the table.
    pub caption: String,
    /// Rows with a verdict, by patterns of their item.
    #[serde(default)]
    pub rows: Texts,
    /// One row for each answer of this try, by its index in `try` (from 0).
    pub answers: Option<usize>,
    /// Columns of such a table.
    #[serde(default)]
    pub column: Vec<Column>,
    /// Axis with one column per value, taken from the rows' series or places.
    pub across: Option<String>,
    /// Lines of such a table.
    #[serde(default)]
    pub line: Vec<Column>,
    /// Ranking of these rows by their values, labelled by series.
    pub ranks: Option<Selector>,
    /// Two headings of a ranking: the names, and the remarks.
    #[serde(default)]
    pub headings: Vec<String>,
    /// Remarks by series name.
    #[serde(default)]
    pub says: Ordered<String>,
}

/// Column of a table of answers, or line of a table across an axis: one row of the results.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Heading.
    pub heading: String,
    /// Selects the row.
    pub row: Selector,
    /// Whether to show the verdict instead of the number.
    #[serde(default)]
    pub verdict: bool,
}
