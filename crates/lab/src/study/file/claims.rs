//! What the paper says in words.

use super::{Ordered, Quantity};
use crate::study::value::{OneOrMore, Pick, Texts};
use serde::Deserialize;

/// Something that the paper says in words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The row's item.
    pub item: String,
    /// The row's series.
    #[serde(default = "claim_series")]
    pub series: String,
    /// The words; `{value}` is what the first condition measures.
    pub words: String,
    /// What it is about: a column of the report's first picture.
    pub theme: Option<String>,
    /// Conditions: each is tried at its points.
    pub holds: OneOrMore<Condition>,
}

fn claim_series() -> String {
    "claim".into()
}

/// A condition, tried at points.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// A metric.
    pub metric: Option<String>,
    /// Or a measure.
    pub measure: Option<String>,
    /// The grid.
    pub grid: Option<String>,
    /// Where.
    #[serde(default)]
    pub at: Ordered<Pick>,
    /// The axes whose every combination is a point: `ber`, `ber >= 5e-5`, `awnd >= 4 and awnd <= 13`.
    #[serde(default)]
    pub at_each: Texts,
    /// What must hold.
    pub is: Word,
    /// Compared with what; 0 by default.
    pub than: Option<Than>,
    /// For `within` and `alike`: how far, as a share.
    pub by: Option<f64>,
    /// The axis along which it grows, falls, ends or is best, with bounds as in `at_each`: `wt >= 200`.
    pub along: Option<String>,
    /// Whether a point at which it is undefined counts as holding.
    #[serde(default)]
    pub undefined_holds: bool,
}

/// What a condition compares with.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Than {
    /// A number.
    Number(f64),
    /// Two: from, to.
    Range([f64; 2]),
    /// The same, or another quantity elsewhere.
    Quantity(Quantity),
}

/// What a condition says: the closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Above.
    Above,
    /// Below.
    Below,
    /// Not worse: above, or below by no more than the margin of an order (2 %).
    #[serde(rename = "at least")]
    AtLeast,
    /// Not above by more than that margin.
    #[serde(rename = "at most")]
    AtMost,
    /// Between two numbers.
    Between,
    /// Differs by no more than the share `by`.
    Within,
    /// Zero in every run.
    #[serde(rename = "zero in every run")]
    Zero,
    /// Along an axis: no step goes down, and the last is above the first.
    Grows,
    /// Along an axis: no step goes up, and the last is below the first.
    Falls,
    /// Along an axis: its last is above its first.
    #[serde(rename = "higher at the end")]
    HigherAtEnd,
    /// Along an axis: its last is below its first.
    #[serde(rename = "lower at the end")]
    LowerAtEnd,
    /// Along an axis: nowhere is it smaller than at `than`.
    #[serde(rename = "smallest at")]
    SmallestAt,
    /// Along an axis: all values lie within the share `by` of the largest.
    Alike,
}
