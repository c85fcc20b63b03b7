//! Contradictions and gaps of a paper, recorded as data: the quote, the choice, the reason.

use serde::Deserialize;

/// One contradiction or gap.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Deviation {
    /// What it is about.
    pub about: String,
    /// The paper's words, with the section.
    pub quote: String,
    /// What is done here.
    pub choice: String,
    /// Why.
    pub reason: String,
}

/// A `deviations.toml`.
#[derive(Debug, Default, Deserialize)]
pub struct File {
    /// Its entries, in the file's order.
    pub deviation: Vec<Deviation>,
}
