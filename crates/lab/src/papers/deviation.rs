//! Contradictions and gaps of a paper, recorded in `deviations.toml`. Each record has a quote, our choice, and the
//! reason for the choice.

use serde::Deserialize;

/// One contradiction or gap.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Deviation {
    /// Subject of the contradiction or gap.
    pub about: String,
    /// Quote from the paper, with the section.
    pub quote: String,
    /// Choice made for the reproduction.
    pub choice: String,
    /// Reason for the choice.
    pub reason: String,
}

/// Content of a file `deviations.toml`.
#[derive(Debug, Default, Deserialize)]
pub struct File {
    /// Entries, in file order.
    pub deviation: Vec<Deviation>,
}
