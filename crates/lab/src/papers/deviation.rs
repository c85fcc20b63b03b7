//! Recorded contradictions and gaps of a paper, each with a quote, our choice and its reason.

use serde::Deserialize;

/// One contradiction or gap.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Deviation {
    /// Subject of the contradiction or gap.
    pub about: String,
    /// The paper's words, with the section.
    pub quote: String,
    /// Choice made for the reproduction.
    pub choice: String,
    /// Reason for the choice.
    pub reason: String,
}

/// A `deviations.toml`.
#[derive(Debug, Default, Deserialize)]
pub struct File {
    /// Entries, in file order.
    pub deviation: Vec<Deviation>,
}
