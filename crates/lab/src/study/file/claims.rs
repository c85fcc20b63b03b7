//! Claims in `study.toml`.

use super::{Ordered, Quantity};
use crate::study::value::{OneOrMore, Pick, Texts};
use serde::Deserialize;

/// A statement of the paper in words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Item name of the claim's row in the results.
    pub item: String,
    /// Series name of the claim's row in the results.
    #[serde(default = "claim_series")]
    pub series: String,
    /// Text of the claim; `{value}` is replaced by the number that the first condition measures.
    pub words: String,
    /// Theme of the claim: its column in the table on the report's first screen.
    pub theme: Option<String>,
    /// Conditions that the claim consists of, each tested at its points.
    pub holds: OneOrMore<Condition>,
}

fn claim_series() -> String {
    "claim".into()
}

/// A condition, tested at points.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Metric to test.
    pub metric: Option<String>,
    /// Measure to test, instead of a metric.
    pub measure: Option<String>,
    /// Grid whose results are tested.
    pub grid: Option<String>,
    /// Axis values at which the condition is tested.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Axes; each combination of their values is a point: `ber`, `ber >= 5e-5`, `awnd >= 4 and awnd <= 13`.
    #[serde(default)]
    pub at_each: Texts,
    /// Relation between the quantity and the reference that must hold.
    pub is: Relation,
    /// Reference with which the quantity is compared; 0 by default.
    pub than: Option<Than>,
    /// Tolerance of the relations `within` and `alike`, as a share.
    pub by: Option<f64>,
    /// Axis for relations along an axis, with bounds as in `at_each`: `wt >= 200`.
    pub along: Option<String>,
    /// Whether the condition counts as satisfied at a point where the quantity is undefined.
    #[serde(default)]
    pub undefined_holds: bool,
}

/// Reference of a condition.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Than {
    /// A fixed number.
    Number(f64),
    /// A range between two numbers.
    Range([f64; 2]),
    /// Another quantity, or the same quantity at other coordinates.
    Quantity(Quantity),
}

/// Relation of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[serde(expecting = "enum Word")]
pub enum Relation {
    /// The quantity is above the reference.
    Above,
    /// The quantity is below the reference.
    Below,
    /// The quantity is above the reference, or below it by at most 2 %.
    #[serde(rename = "at least")]
    AtLeast,
    /// The quantity is below the reference, or above it by at most 2 %.
    #[serde(rename = "at most")]
    AtMost,
    /// The quantity is between two numbers.
    Between,
    /// The quantity differs from the reference by at most the share `by`.
    Within,
    /// The quantity is zero in every run.
    #[serde(rename = "zero in every run")]
    Zero,
    /// Along an axis: no step falls by more than 2 %, and the last value is above the first.
    Grows,
    /// Along an axis: no step rises by more than 2 %, and the last value is below the first.
    Falls,
    /// Along an axis: the last value is above the first.
    #[serde(rename = "higher at the end")]
    HigherAtEnd,
    /// Along an axis: the last value is below the first.
    #[serde(rename = "lower at the end")]
    LowerAtEnd,
    /// Along an axis: no value is smaller by more than 2 % than the value at `than`.
    #[serde(rename = "smallest at")]
    SmallestAt,
    /// Along an axis: all values lie within the share `by` of the largest.
    Alike,
}
