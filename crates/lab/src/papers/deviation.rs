//! Recorded contradictions and gaps of a paper: quote, choice and reason.

use serde::Deserialize;

/// One contradiction or gap.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Deviation {
    /// Subject.
    pub about: String,
    /// The paper's words, with the section.
    pub quote: String,
    /// Choice made for the reproduction.
    pub choice: String,
    /// Reason.
    pub reason: String,
}

/// A `deviations.toml`.
#[derive(Debug, Default, Deserialize)]
pub struct File {
    /// Entries, in file order.
    pub deviation: Vec<Deviation>,
}
