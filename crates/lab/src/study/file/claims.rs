//! Claims in the file `study.toml`.

use super::{Ordered, Quantity};
use crate::study::value::{OneOrMore, Pick, Texts};
use serde::Deserialize;

/// Statement of the paper in words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Item name of the claim's row in the results.
    pub item: String,
    /// Series name of the claim's row in the results.
    #[serde(default = "claim_series")]
    pub series: String,
    /// Text of the claim. The number that the first condition measures replaces `{value}`.
    pub words: String,
    /// Theme of the claim. The theme selects the claim's column in the table on the report's first screen.
    pub theme: Option<String>,
    /// Conditions of the claim. Each condition is tested at its points.
    pub holds: OneOrMore<Condition>,
}

fn claim_series() -> String {
    "claim".into()
}

/// Condition that is tested at points. A point is a combination of axis values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Name of the metric to test.
    pub metric: Option<String>,
    /// Name of the measure to test. A condition has either `metric` or `measure`.
    pub measure: Option<String>,
    /// Grid whose results are tested.
    pub grid: Option<String>,
    /// Axis values at which the condition is tested.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// Axes whose combinations of values are the points of the condition. Bounds may limit the values: `ber`, `ber >=
    /// 5e-5`, `awnd >= 4 and awnd <= 13`.
    #[serde(default)]
    pub at_each: Texts,
    /// Relation that must hold between the quantity and the reference.
    pub is: Relation,
    /// Reference with which the quantity is compared. The default is 0.
    pub than: Option<Than>,
    /// Tolerance of the relations `within` and `alike`, as a share.
    pub by: Option<f64>,
    /// Axis of a relation such as `grows`, which holds along an axis. Bounds may limit the values as in `at_each`: `wt
    /// >= 200`.
    pub along: Option<String>,
    /// Whether the condition counts as satisfied at a point at which the quantity is undefined.
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
    /// A different quantity, or the same quantity at different coordinates.
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
    /// The quantity is above the reference, or at most 2 % below the reference.
    #[serde(rename = "at least")]
    AtLeast,
    /// The quantity is below the reference, or at most 2 % above the reference.
    #[serde(rename = "at most")]
    AtMost,
    /// The quantity is between two numbers.
    Between,
    /// The quantity differs from the reference by at most the share `by`.
    Within,
    /// The quantity is zero in every run.
    #[serde(rename = "zero in every run")]
    Zero,
    /// Along an axis, the quantity falls by at most 2 % in each step, and the last value is above the first.
    Grows,
    /// Along an axis, the quantity rises by at most 2 % in each step, and the last value is below the first.
    Falls,
    /// Along an axis, the last value is above the first.
    #[serde(rename = "higher at the end")]
    HigherAtEnd,
    /// Along an axis, the last value is below the first.
    #[serde(rename = "lower at the end")]
    LowerAtEnd,
    /// Along an axis, every value is at most 2 % smaller than the value at the axis value `than`.
    #[serde(rename = "smallest at")]
    SmallestAt,
    /// Along an axis, every value is below the largest value by at most the share `by`.
    Alike,
}
