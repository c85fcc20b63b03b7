//! Results of the simulator ns-2, read from `ns2.csv`. Each result belongs to one row (published number or claim). A
//! row has a result only if ns-2 models the mechanisms of the row.
//!
//! The columns `item`, `series`, `x` and `metric` have the same text as in the row. The column `reading` is `question:
//! answer`, or empty for the default reading. The column `value` is the mean. The column `half_width` is half of the 95
//! % interval, or empty if the value does not vary. The column `source` is the source of the number.

use super::published::{self, coordinates};
use super::selector::SelectableRow;
use super::source::PaperSource;
use super::study::Study;
use super::value::Value;
use crate::item::{DEFAULT, Item};
use lasthop_scenario::Problem;
use serde::Deserialize;
use std::collections::BTreeSet;

const FILE: &str = "ns2.csv";

/// Result of ns-2.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ns2 {
    /// Item of the row to which the result belongs.
    pub item: String,
    /// Series of the row to which the result belongs.
    pub series: String,
    x: String,
    /// Measured quantity.
    pub metric: String,
    /// Answer to a question that the paper leaves open, in the form `question: answer`. The text is empty for the
    /// default reading.
    pub reading: String,
    /// Mean of ns-2's runs, in the row's unit.
    pub value: f64,
    half_width: Option<f64>,
    /// Source of the number.
    pub source: String,
}

impl Ns2 {
    /// Returns the 95 % interval. Returns `None` if the value does not vary.
    pub fn ci95(&self) -> Option<[f64; 2]> {
        let decimal = |end: f64| libm::round(end * 1e9) / 1e9;
        self.half_width.map(|half| [self.value - half, self.value + half].map(decimal))
    }

    /// Returns the coordinates as written in the file.
    pub fn coordinates(&self) -> impl Iterator<Item = (&str, &str)> {
        coordinates(&self.x)
    }

    /// Whether the result belongs to this reading. A reading is a set of answers to the paper's open questions. An
    /// empty `reading` is the default reading.
    pub fn is_under(&self, reading: &str) -> bool {
        self.reading == reading || (self.reading.is_empty() && reading == DEFAULT)
    }

    fn matches_item(&self, item: &Item) -> bool {
        [&*self.item, &self.series, &self.metric] == item.names()
            && self.is_under(&item.reading)
            && self.coordinates().all(|(name, text)| item.has_coordinate(name, &Value::read(text)))
    }
}

/// Reads the results of a paper. Returns an empty list if the file is missing. Fails if a line cannot be read.
pub fn read(source: &PaperSource) -> Result<Vec<Ns2>, Problem> {
    published::rows(source, FILE, "item, series, x, metric, reading, value, half_width, source")
}

/// Checks that every result of ns-2 belongs to an existing item. Also checks that the reading of every result is the
/// default reading, or an answer that the study lists for an open question.
pub fn check(study: &Study) -> Result<(), Problem> {
    let file = &study.file;
    let answers = study.answers();
    let items = study.published.iter().map(|row| &row.item);
    let items: BTreeSet<&String> = items.chain(file.points.iter().map(|points| &points.item)).collect();
    let unknown = |one: &Ns2| match () {
        () if !items.contains(&one.item) => Some(("item", one.item.clone())),
        () if !one.reading.is_empty() && !answers.contains(&one.reading) => {
            Some(("answer", one.reading.clone()))
        }
        () => None,
    };
    match (study.source.file(FILE)?, study.ns2.iter().find_map(unknown)) {
        (Some(text), Some((what, wrong))) => {
            Err(text.problem_near(&[], &wrong, format!("this paper has no {what} `{wrong}`")))
        }
        _ => Ok(()),
    }
}

/// Adds the results of ns-2 to the items.
pub fn attach<'a>(study: &Study, items: impl Iterator<Item = &'a mut Item>) {
    for item in items {
        if let Some(one) = study.ns2.iter().find(|one| one.matches_item(item)) {
            item.ns2 = Some(one.value);
            item.ns2_ci95 = one.ci95();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_beside_the_row_of_its_place_and_reading() {
        let one = Ns2 {
            item: "fig2a".into(),
            series: "sack".into(),
            x: "bad_ms=5".into(),
            metric: "throughput".into(),
            reading: "lost to: end".into(),
            value: 483.0,
            half_width: Some(7.9),
            source: String::new(),
        };
        let item = |item: &str, bad: f64, reading: &str| Item {
            reading: reading.into(),
            ..Item::new("huang", item, "sack")
                .metric("throughput", "kbit/s")
                .at("bad_ms", Value::Number(bad).json())
        };
        assert!(one.matches_item(&item("sensitivity-fig2a", 5.0, "lost to: end")));
        assert!(!one.matches_item(&item("sensitivity-fig2a", 1.0, "lost to: end")));
        assert!(!one.matches_item(&item("fig2a", 5.0, DEFAULT)));
        assert!(Ns2 { reading: String::new(), ..one.clone() }.matches_item(&item("fig2a", 5.0, DEFAULT)));
        assert_eq!(one.ci95(), Some([475.1, 490.9]));
    }
}
