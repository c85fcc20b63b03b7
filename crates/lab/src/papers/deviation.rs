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

#[derive(Deserialize)]
struct File {
    deviation: Vec<Deviation>,
}

/// Reads a `deviations.toml`.
///
/// # Errors
/// What the TOML reader says.
pub fn read(text: &str) -> Result<Vec<Deviation>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.deviation)
}
