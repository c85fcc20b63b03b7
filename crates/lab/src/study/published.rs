//! `published.csv`: numbers that a paper publishes.
//!
//! The columns are `item`, `series`, `x` (coordinates `name=number` or `name=word`, separated by `;`), `metric`,
//! `unit`, `value` and `source`.

use super::class::half_digit;
use super::selector::SelectableRow;
use super::source::PaperSource;
use crate::item::Item;
use lasthop_scenario::Problem;
use serde::Deserialize;
use serde::de::DeserializeOwned;

const FILE: &str = "published.csv";

/// A published number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Item of the row: `gain-mac`, `table1`.
    pub item: String,
    /// Curve or setting of the row.
    pub series: String,
    x: String,
    /// Measured quantity.
    pub metric: String,
    /// Unit.
    pub unit: String,
    /// The number as printed.
    value: String,
    /// Section and words of the paper.
    pub source: String,
}

impl Published {
    /// The number; NaN if the text is not a number.
    pub fn value(&self) -> f64 {
        self.value.parse().unwrap_or(f64::NAN)
    }

    /// Half of the last printed digit, as a number.
    pub fn half_digit(&self) -> f64 {
        half_digit(&self.value)
    }

    /// Coordinates as written in the file, in file order.
    pub fn coordinates(&self) -> impl Iterator<Item = (&str, &str)> {
        coordinates(&self.x)
    }

    /// Whether a row of the results belongs to this number.
    pub fn matches_item(&self, item: &Item) -> bool {
        self.names() == item.names() && item.published == Some(self.value())
    }

    /// Value of a coordinate; `None` if the coordinate is missing or not a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.coordinates().find(|(known, _)| *known == name).and_then(|(_, text)| text.parse().ok())
    }
}

/// All numbers of a paper, in file order; empty without the file, an error if a line is invalid.
pub fn read(source: &PaperSource) -> Result<Vec<Published>, Problem> {
    let numbers: Vec<Published> = rows(source, FILE, "item, series, x, metric, unit, value, source")?;
    match numbers.iter().find_map(|row| Some((row, mistake(row)?))) {
        Some((row, wrong)) => {
            let text = source.file(FILE)?.unwrap_or_default();
            Err(text.problem_near(&[], &row.x, wrong))
        }
        None => Ok(numbers),
    }
}

/// Rows of a file with these columns; empty without the file, an error if a line cannot be read.
pub fn rows<T: DeserializeOwned>(source: &PaperSource, file: &str, columns: &str) -> Result<Vec<T>, Problem> {
    let Some(text) = source.text(file)? else { return Ok(Vec::new()) };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let row = |row: Result<T, csv::Error>| {
        row.map_err(|error| {
            let at = error.position().map_or(0, |position| position.byte() as usize);
            let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
            Problem::at(&source.path(file), &text, at..end, format!("{error}"))
                .advise(format!("its columns: {columns}"))
        })
    };
    reader.deserialize().map(row).collect()
}

/// Parses coordinates: `name=number;name=word`.
pub fn coordinates(x: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = x.split(';').filter_map(|part| part.split_once('='));
    parts.map(|(name, text)| (name.trim(), text.trim()))
}

fn mistake(row: &Published) -> Option<String> {
    if !row.value().is_finite() {
        return Some(format!("{}: `{}` is not a number", row.item, row.value));
    }
    let parts = row.x.split(';').filter(|part| !part.trim().is_empty());
    for part in parts {
        let Some((_, text)) = part.split_once('=') else {
            return Some(format!("{}: `{part}` is not NAME=VALUE", row.item));
        };
        // A coordinate that is not a number must start with a letter. This rule detects mistyped numbers.
        if text.parse::<f64>().is_err() && !text.trim().starts_with(char::is_alphabetic) {
            return Some(format!("{}: `{text}` is neither a number nor a word", row.item));
        }
    }
    None
}
