//! Contradictions and gaps of a paper, recorded as data: the quote, the choice, the reason.

use crate::document::{Block, Cell, Table};
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

/// The deviations as a table of the report.
pub fn table(deviations: &[Deviation]) -> Block {
    let text = |text: &str| Cell::Text(text.to_string());
    Block::Table(Table {
        caption: "What the paper leaves open or contradicts, and what was chosen".into(),
        columns: ["about", "the paper's words", "choice", "reason"].map(String::from).to_vec(),
        rows: deviations
            .iter()
            .map(|one| vec![text(&one.about), text(&one.quote), text(&one.choice), text(&one.reason)])
            .collect(),
    })
}
