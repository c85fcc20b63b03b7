//! Selection of rows by names and coordinates. Bindings, causes, curves, tables and placeholders select rows.

use super::file::{Claim, Ordered};
use super::published::Published;
use super::value::{OneOrMore, Pick, Texts, Value};
use crate::item::{Item, SENSITIVITY_PREFIX};
use serde::Deserialize;

/// Row that can be selected: a row of `published.csv`, a row of the results, or a claim.
pub trait SelectableRow {
    /// Returns the item, the series and the metric.
    fn names(&self) -> [&str; 3];
    /// Whether a coordinate of the row has this value.
    fn has_coordinate(&self, name: &str, value: &Value) -> bool;
}

impl SelectableRow for Published {
    fn names(&self) -> [&str; 3] {
        [&self.item, &self.series, &self.metric]
    }

    fn has_coordinate(&self, name: &str, value: &Value) -> bool {
        self.coordinates().any(|(known, text)| known == name && value.is(text))
    }
}

impl SelectableRow for Item {
    fn names(&self) -> [&str; 3] {
        [self.item.strip_prefix(SENSITIVITY_PREFIX).unwrap_or(&self.item), &self.series, &self.metric]
    }

    fn has_coordinate(&self, name: &str, value: &Value) -> bool {
        self.x.get(name).is_some_and(|x| value.is_json(x))
    }
}

/// A claim covers several quantities and coordinates. A selector with a metric or a coordinate therefore matches no
/// claim.
impl SelectableRow for Claim {
    fn names(&self) -> [&str; 3] {
        [&self.item, &self.series, ""]
    }

    fn has_coordinate(&self, _: &str, _: &Value) -> bool {
        false
    }
}

/// Selector of rows by patterns of their names and by coordinates. A missing field matches every row.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// Patterns of the row's item.
    pub item: Option<Texts>,
    series: Option<Texts>,
    metric: Option<Texts>,
    #[serde(default)]
    x: Ordered<Pick>,
}

impl Selector {
    /// Parses a placeholder `ITEM, series=…, metric=…, NAME=VALUE`. If a name has a comma, the parts must be separated
    /// by `;`. Returns `None` if a part other than the first has no `=`.
    pub fn read(text: &str) -> Option<Selector> {
        let separator = if text.contains(';') { ';' } else { ',' };
        let mut parts = text.split(separator).map(str::trim);
        let one = |text: &str| Some(OneOrMore(vec![text.to_owned()]));
        let mut selector = Selector { item: one(parts.next()?), ..Selector::default() };
        for part in parts {
            let (name, value) = part.split_once('=')?;
            match (name.trim(), value.trim()) {
                ("series", series) => selector.series = one(series),
                ("metric", metric) => selector.metric = one(metric),
                (name, value) => {
                    selector.x.insert(name.to_owned(), OneOrMore(vec![Value::read(value)]));
                }
            }
        }
        Some(selector)
    }

    /// Whether the selector matches the row.
    pub fn matches(&self, row: &impl SelectableRow) -> bool {
        let patterns = [&self.item, &self.series, &self.metric].into_iter().zip(row.names());
        patterns.into_iter().all(|(texts, name)| texts.as_ref().is_none_or(|texts| texts.matches(name)))
            && self
                .x
                .iter()
                .all(|(name, pick)| pick.values().iter().any(|value| row.has_coordinate(name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(placeholder: &str, item: &Item) -> bool {
        Selector::read(placeholder).is_some_and(|selector| selector.matches(item))
    }

    #[test]
    fn a_row_is_selected_by_its_names_and_by_its_own_word_or_number_alone() {
        let item = Item::new("p", "sensitivity-i", "s, t").at("place", "test").at("ber", 7e-5).at("flows", 3);
        for (placeholder, is_meant) in [
            ("i", true),
            ("i; series=s, t; place=test", true),
            ("i, ber=0.00007", true),
            ("i, flows=3.0", true),
            ("i; series=s", false),
            ("i, metric=goodput", false),
            ("i, place=other", false),
            ("i, ber=test", false),
            ("i, load=test", false),
            ("i, test", false),
        ] {
            assert_eq!(takes(placeholder, &item), is_meant, "{placeholder}");
        }
    }
}
