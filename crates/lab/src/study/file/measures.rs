//! Metrics and measures, and their bindings to the paper's numbers.

use super::Ordered;
use crate::study::class::Class;
use crate::study::selector::Selector;
use crate::study::value::{Pick, Texts, Value};
use serde::Deserialize;

/// A number that a formula computes from the outcome of one run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Formula over the columns of the run's outcome.
    pub of: String,
    /// Unit of the value; empty for shares and counts.
    #[serde(default)]
    pub unit: String,
    /// Smallest and largest possible value; intervals are cut off at these bounds. The default is 0 and `inf`
    /// if the formula cannot be negative.
    pub bounds: Option<[f64; 2]>,
}

/// Combination of two numbers into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Comparison {
    /// `at` - `against`, computed in each repetition.
    #[serde(rename = "difference")]
    Difference,
    /// 100 (`at` / `against` - 1), computed in each repetition.
    #[serde(rename = "change, %")]
    Change,
    /// 100 (mean of `at` / mean of `against` - 1).
    #[serde(rename = "change of means, %")]
    ChangeOfMeans,
    /// `at` / `against`, computed in each repetition.
    #[serde(rename = "ratio")]
    Ratio,
}

/// Reduction of all values along an axis to one number, for rows without a coordinate on this axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Over {
    /// Sum over the axis within each repetition, before a comparison.
    #[serde(rename = "sum")]
    Sum,
    /// Mean over the axis within each repetition, before a comparison.
    #[serde(rename = "mean")]
    Mean,
    /// The mean at each axis value counts as one repetition, if nothing else varies.
    #[serde(rename = "as repetitions")]
    Repetitions,
    /// The number at the axis value with the largest mean. Half of the repetitions determine this axis value,
    /// and the other half measure the number.
    #[serde(rename = "largest mean")]
    Largest,
    /// Value on the axis at which the mean is largest.
    #[serde(rename = "place of the largest mean")]
    LargestPlace,
    /// Value on the axis from which on the mean is above 0.
    #[serde(rename = "crossing")]
    Crossing,
}

/// A quantity: a metric or a measure with coordinates.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// Name of the metric.
    pub metric: Option<String>,
    /// Name of a measure, instead of a metric.
    pub measure: Option<String>,
    /// Grid of the metric; a measure names its own grid.
    pub grid: Option<String>,
    /// Axis values at which the quantity is taken.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Factor by which the values are multiplied.
    pub times: Option<f64>,
}

/// A number that is computed from the results of a grid.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Grid; by default the only one.
    pub grid: Option<String>,
    /// Metric to measure.
    pub metric: Option<String>,
    /// Another measure whose values are reduced, instead of a metric.
    pub measure: Option<String>,
    /// Axis values at which the metric is taken.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// Axis values of the reference with which `at` is compared.
    pub against: Option<Ordered<Value>>,
    /// Comparison with the reference.
    #[serde(rename = "as")]
    pub comparison: Option<Comparison>,
    /// Axes to reduce to one number, and how.
    #[serde(default)]
    pub over: Ordered<Over>,
    /// Formula of the row's coordinates; the measure then needs no run.
    pub formula: Option<String>,
    /// Name of a computation in Rust; the measure then needs no run.
    pub by: Option<String>,
    /// Unit of the value; empty for shares and counts.
    #[serde(default)]
    pub unit: String,
}

impl Measure {
    /// Whether the measure needs no runs.
    pub const fn is_computed(&self) -> bool {
        self.formula.is_some() || self.by.is_some()
    }
}

/// Binding: defines the quantity that we measure for some rows of `published.csv`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Rows of `published.csv`: patterns of the column `item`.
    pub rows: Texts,
    /// Condition on names and coordinates that selects some of these rows.
    #[serde(default, rename = "where")]
    pub filter: Selector,
    /// Name of the metric.
    pub metric: Option<String>,
    /// Name of a measure, instead of a metric.
    pub measure: Option<String>,
    /// Name of the grid.
    pub grid: Option<String>,
    /// Axis values, in addition to the coordinates of the row.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// Axis whose values are the series names of the rows.
    pub series_is: Option<String>,
    /// Class of the published numbers. The class gives the permitted difference between a published and a
    /// measured number.
    pub class: Class,
    /// Margin that replaces the margin of the class, for all rows or by series.
    pub within: Option<Within>,
    /// Duration of our run, at `length` 1 of the grid, divided by that of the paper's run; for a number from
    /// one run.
    pub times_shorter: Option<f64>,
    /// Reason why the margin is uncertain, if the margin is the spread of the paper's own runs.
    pub undecidable: Option<String>,
    /// Theme of the numbers: their column in the table on the report's first screen; `tables` by default.
    pub theme: Option<String>,
    /// Whether the numbers appear in the picture on the report's first screen.
    #[serde(default)]
    pub headline: bool,
}

/// A margin in the row's unit.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Within {
    /// Margin of all rows.
    All(f64),
    /// Margins by series.
    Series(Ordered<f64>),
}

/// Points of a figure in the paper that prints no numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Item name of the rows in the results.
    pub item: String,
    /// Name of the metric.
    pub metric: Option<String>,
    /// Name of a measure, instead of a metric.
    pub measure: Option<String>,
    /// Name of the grid.
    pub grid: Option<String>,
    /// Axis values.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Name of the series, in which `{AXIS}` stands for the value on that axis; by default the first axis that varies.
    pub series: Option<String>,
    /// Note for the reader.
    #[serde(default)]
    pub note: String,
}
