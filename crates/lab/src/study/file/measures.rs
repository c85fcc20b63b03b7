//! What is measured, and what of it stands beside the paper's numbers.

use super::Ordered;
use crate::study::class::Class;
use crate::study::selector::Selector;
use crate::study::value::{Pick, Texts, Value};
use serde::Deserialize;

/// A number of one run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its formula.
    pub of: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// Ends that it cannot pass, such as 0 and 1, or 0 and `inf`: intervals end there. By default 0 and `inf` if nothing in
    /// its formula can be negative.
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
    /// The place from which on the mean is above 0.
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
    /// Selects among these rows.
    #[serde(default, rename = "where")]
    pub filter: Selector,
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
    /// Duration of one run of ours over the paper's, at the grid's length 1: for a number of one run.
    pub times_shorter: Option<f64>,
    /// Why its margin decides nothing at its edge, where it is the paper's own spread.
    pub undecidable: Option<String>,
    /// What its rows are about: a column of the report's first picture; `tables` by default.
    pub theme: Option<String>,
    /// Whether its rows stand in the report's first picture.
    #[serde(default)]
    pub headline: bool,
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
