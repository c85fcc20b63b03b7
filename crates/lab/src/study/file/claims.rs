//! Claims of a paper.

use super::{Ordered, Quantity};
use crate::study::value::{OneOrMore, Pick, Texts};
use serde::Deserialize;

/// A statement of the paper in words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Item of the row.
    pub item: String,
    /// Series of the row.
    #[serde(default = "claim_series")]
    pub series: String,
    /// Words of the claim; `{value}` is the first condition's measurement.
    pub words: String,
    /// Theme: a column of the report's first picture.
    pub theme: Option<String>,
    /// Conditions, each tested at its points.
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
    /// Grid.
    pub grid: Option<String>,
    /// Coordinates.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Axes; each combination of their values is a point: `ber`, `ber >= 5e-5`, `awnd >= 4 and awnd <= 13`.
    #[serde(default)]
    pub at_each: Texts,
    /// Relation that must hold.
    pub is: Relation,
    /// Reference of the relation; 0 by default.
    pub than: Option<Than>,
    /// Tolerance of `within` and `alike`, as a share.
    pub by: Option<f64>,
    /// Axis for relations along an axis, with bounds as in `at_each`: `wt >= 200`.
    pub along: Option<String>,
    /// Whether a point with an undefined quantity counts as holding.
    #[serde(default)]
    pub undefined_holds: bool,
}

/// Reference of a condition.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Than {
    /// A number.
    Number(f64),
    /// A range: from, to.
    Range([f64; 2]),
    /// Another quantity, or the same quantity elsewhere.
    Quantity(Quantity),
}

/// Relation of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[serde(expecting = "enum Word")]
pub enum Relation {
    /// Above.
    Above,
    /// Below.
    Below,
    /// Above, or below by at most the margin of an order (2 %).
    #[serde(rename = "at least")]
    AtLeast,
    /// Below, or above by at most the same margin.
    #[serde(rename = "at most")]
    AtMost,
    /// Between two numbers.
    Between,
    /// Differs by no more than the share `by`.
    Within,
    /// Zero in every run.
    #[serde(rename = "zero in every run")]
    Zero,
    /// Along an axis: no step falls, and the last value is above the first.
    Grows,
    /// Along an axis: no step rises, and the last value is below the first.
    Falls,
    /// Along an axis: the last value is above the first.
    #[serde(rename = "higher at the end")]
    HigherAtEnd,
    /// Along an axis: the last value is below the first.
    #[serde(rename = "lower at the end")]
    LowerAtEnd,
    /// Along an axis: no value is smaller than the value at `than`.
    #[serde(rename = "smallest at")]
    SmallestAt,
    /// Along an axis: all values lie within the share `by` of the largest.
    Alike,
}
