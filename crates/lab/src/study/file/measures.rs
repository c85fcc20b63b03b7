//! Metrics and measures, and their bindings to the paper's numbers.

use super::Ordered;
use crate::study::class::Class;
use crate::study::selector::Selector;
use crate::study::value::{Pick, Texts, Value};
use serde::Deserialize;

/// Number that a formula computes from the outcome of one run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Formula over the columns of the run's outcome.
    pub of: String,
    /// Unit of the value. The text is empty for shares and counts.
    #[serde(default)]
    pub unit: String,
    /// Smallest and largest possible value. Intervals are limited to these bounds. If the formula cannot be negative,
    /// the default bounds are 0 and `inf`.
    pub bounds: Option<[f64; 2]>,
}

/// Operation that combines two numbers into one.
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

/// Operation that reduces the numbers at all values of an axis to one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Over {
    /// Sum over the axis values in each repetition, computed before the comparison with the reference.
    #[serde(rename = "sum")]
    Sum,
    /// Mean over the axis values in each repetition, computed before the comparison with the reference.
    #[serde(rename = "mean")]
    Mean,
    /// Each axis value counts as one repetition, whose number is the mean at this axis value.
    #[serde(rename = "as repetitions")]
    Repetitions,
    /// Number at the axis value with the largest mean. Half of the repetitions select the axis value, and the remaining
    /// half measure the number.
    #[serde(rename = "largest mean")]
    Largest,
    /// Axis value at which the mean is largest.
    #[serde(rename = "place of the largest mean")]
    LargestPlace,
    /// Axis value from which the mean stays above 0.
    #[serde(rename = "crossing")]
    Crossing,
}

/// Quantity: a metric (number of one run) or a measure (number of a grid), with coordinates.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// Name of the metric.
    pub metric: Option<String>,
    /// Name of the measure. The measure takes the place of `metric`.
    pub measure: Option<String>,
    /// Grid of the metric. A measure has a grid of its own.
    pub grid: Option<String>,
    /// Axis values at which the quantity is taken.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Factor by which the values are multiplied.
    pub times: Option<f64>,
}

/// Number that is computed from the results of a grid, such as the gain of one mechanism over a second one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Name of the grid. The default is the only grid of the study.
    pub grid: Option<String>,
    /// Metric to measure.
    pub metric: Option<String>,
    /// Name of a second measure, from whose values this measure is computed. A measure has either `metric` or
    /// `measure`.
    pub measure: Option<String>,
    /// Axis values at which the metric is taken.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// Axis values of the reference, with which the number at `at` is compared.
    pub against: Option<Ordered<Value>>,
    /// Comparison with the reference.
    #[serde(rename = "as")]
    pub comparison: Option<Comparison>,
    /// Axes whose values are reduced to one number, each with the operation.
    #[serde(default)]
    pub over: Ordered<Over>,
    /// Formula that computes the number from the row's coordinates. A measure with a formula needs no run.
    pub formula: Option<String>,
    /// Name of a Rust function that computes the number. A measure with such a function needs no run.
    pub by: Option<String>,
    /// Unit of the value. The text is empty for shares and counts.
    #[serde(default)]
    pub unit: String,
}

impl Measure {
    /// Whether the measure needs no runs.
    pub const fn is_computed(&self) -> bool {
        self.formula.is_some() || self.by.is_some()
    }
}

/// Binding between rows of `published.csv` and the quantity that is measured for these rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Rows of `published.csv`: patterns of the column `item`.
    pub rows: Texts,
    /// Condition on the names and coordinates of the rows. Only rows that match the condition belong to the binding.
    #[serde(default, rename = "where")]
    pub filter: Selector,
    /// Name of the metric.
    pub metric: Option<String>,
    /// Name of the measure. The measure takes the place of `metric`.
    pub measure: Option<String>,
    /// Name of the grid.
    pub grid: Option<String>,
    /// Axis values that complement the coordinates of the row.
    #[serde(default)]
    pub at: Ordered<Value>,
    /// Axis whose values are the series names of the rows.
    pub series_is: Option<String>,
    /// Class of the published numbers. The class determines the accepted difference between a published and a measured
    /// number.
    pub class: Class,
    /// Margin that replaces the margin of the class: one margin for all rows, or one for each series.
    pub within: Option<Within>,
    /// Duration of our run (with the grid's `length` equal to 1), divided by the duration of the paper's run. Only
    /// numbers from one run of the paper use this ratio.
    pub times_shorter: Option<f64>,
    /// Reason for an uncertain margin. Set only if the margin is the spread of the paper's own runs.
    pub undecidable: Option<String>,
    /// Theme of the numbers, which selects their column in the table on the report's first screen. The default is
    /// `tables`.
    pub theme: Option<String>,
    /// Whether the numbers appear in the picture on the first screen of the report.
    #[serde(default)]
    pub headline: bool,
}

/// Margin, in the unit of the row.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Within {
    /// Margin of all rows.
    All(f64),
    /// Margin of each series.
    Series(Ordered<f64>),
}

/// Points of a figure for which the paper prints no numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Item name of the rows in the results.
    pub item: String,
    /// Name of the metric.
    pub metric: Option<String>,
    /// Name of the measure. The measure takes the place of `metric`.
    pub measure: Option<String>,
    /// Name of the grid.
    pub grid: Option<String>,
    /// Axis values at which the points are measured.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Template of the series' names, in which `{AXIS}` stands for the value on that axis. The default is the value on
    /// the first axis that varies.
    pub series: Option<String>,
    /// Note for the reader.
    #[serde(default)]
    pub note: String,
}
