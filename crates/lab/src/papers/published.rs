//! A paper's numbers, from its `published.csv`.
//!
//! Columns: item, series, x (`name=number` or `name=word`, several with `;`), metric, unit, value, source (section and words).

use serde::Deserialize;

/// A published number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Published {
    /// The item it belongs to: `gain-mac`, `table1`.
    pub item: String,
    /// The curve or setting.
    pub series: String,
    x: String,
    /// What is measured.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The number.
    pub value: f64,
    /// Where it stands, and in which words.
    pub source: String,
}

impl Published {
    /// Its coordinates as they are written, in the file's order; what is not `name=text` is left out.
    fn written(&self) -> impl Iterator<Item = (&str, &str)> {
        self.x
            .split(';')
            .filter_map(|part| part.split_once('='))
            .map(|(name, text)| (name.trim(), text.trim()))
    }

    /// Its coordinates that are numbers, in the file's order.
    pub fn coordinates(&self) -> impl Iterator<Item = (&str, f64)> {
        self.written().filter_map(|(name, text)| Some((name, text.parse().ok()?)))
    }

    /// One coordinate that is a word: `load=TCP only`.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.written().find(|(known, _)| *known == name).map(|(_, text)| text)
    }

    /// One coordinate.
    pub fn coordinate(&self, name: &str) -> Option<f64> {
        self.coordinates().find(|(known, _)| *known == name).map(|(_, number)| number)
    }
}

/// All numbers of a file, in its order.
///
/// # Errors
/// What the CSV reader says of the first line that cannot be read.
pub fn read(text: &str) -> Result<Vec<Published>, csv::Error> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_papers_file_can_be_read() {
        let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers");
        let mut files = 0;
        for paper in std::fs::read_dir(papers).expect("papers").flatten() {
            let path = paper.path();
            let text = std::fs::read_to_string(path.join("published.csv")).expect("published.csv");
            let numbers = read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            for number in numbers {
                let parts = number.x.split(';').filter(|part| !part.trim().is_empty()).count();
                // A word does not look like a number that was mistyped.
                let is_word = |text: &str| text.starts_with(char::is_alphabetic);
                let words = number.written().filter(|(_, text)| is_word(text)).count();
                assert_eq!(number.coordinates().count() + words, parts, "{}: {}", path.display(), number.x);
            }
            let text = std::fs::read_to_string(path.join("deviations.toml")).expect("deviations.toml");
            assert!(!crate::papers::deviation::read(&text).expect("a list of deviations").is_empty());
            files += 1;
        }
        assert!(files > 0);
    }
}
