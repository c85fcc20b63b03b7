//! Numbers that a paper publishes, read from `published.csv`.
//!
//! The columns are `item`, `series`, `x`, `metric`, `unit`, `value` and `source`. The column `x` holds coordinates of
//! the form `name=number` or `name=word`, separated by `;`.

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
    /// Item of the row, such as `gain-mac` or `table1`.
    pub item: String,
    /// Curve or setting of the row.
    pub series: String,
    x: String,
    /// Measured quantity.
    pub metric: String,
    /// Unit.
    pub unit: String,
    /// Number as printed in the paper.
    value: String,
    /// Section of the paper that contains the number, and a quotation from this section.
    pub source: String,
}

impl Published {
    /// Returns the number. Returns NaN if the text is not a number.
    pub fn value(&self) -> f64 {
        self.value.parse().unwrap_or(f64::NAN)
    }

    /// Returns half of the last printed digit.
    pub fn half_digit(&self) -> f64 {
        half_digit(&self.value)
    }

    /// Returns the coordinates as written in the file, in file order.
    pub fn coordinates(&self) -> impl Iterator<Item = (&str, &str)> {
        coordinates(&self.x)
    }

    /// Whether a row of the results belongs to this number.
    pub fn matches_item(&self, item: &Item) -> bool {
        self.names() == item.names() && item.published == Some(self.value())
    }

    /// Returns the value of a coordinate. Returns `None` if the coordinate is missing or not a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.coordinates().find(|(known, _)| *known == name).and_then(|(_, text)| text.parse().ok())
    }
}

/// Reads all numbers of a paper, in file order. Returns an empty list if the file is missing. Fails if a line is
/// invalid.
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

/// Reads the rows of a file. `columns` lists the columns for error messages. Returns an empty list if the file is
/// missing. Fails if a line cannot be read.
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
