//! A row of a sensitivity table.

use crate::document::Cell;
use crate::item::Item;
use crate::papers::cells::measured;

/// An answer to an open question, and what comes out under it.
pub(crate) struct Row {
    pub(crate) label: String,
    items: Vec<Item>,
}

impl Row {
    /// `items` get the label as their setting, and names as of a sensitivity.
    pub(crate) fn new(label: &str, items: Vec<Item>) -> Row {
        let named = |item: Item| Item { item: format!("sensitivity-{}", item.item), ..item };
        let items = items.into_iter().map(|item| named(item).at("setting", label)).collect();
        Row { label: label.into(), items }
    }

    /// All of its items.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter()
    }

    /// The number of an item of this name, series and metric at a place.
    pub(crate) fn number(&self, item: &str, series: &str, metric: &str, at: (&str, f64)) -> Cell {
        let is_there = |one: &&Item| {
            one.metric == metric && one.x.get(at.0).and_then(|value| value.as_f64()) == Some(at.1)
        };
        self.named(item, series).find(is_there).map_or(Cell::Empty, measured)
    }

    /// The verdict on a claim.
    pub(crate) fn verdict(&self, item: &str, series: &str) -> Cell {
        Cell::Verdict(self.named(item, series).next().and_then(|item| item.verdict))
    }

    fn named(&self, item: &str, series: &str) -> impl Iterator<Item = &Item> {
        let is_it =
            move |one: &&Item| one.item.strip_prefix("sensitivity-") == Some(item) && one.series == series;
        self.items.iter().filter(is_it)
    }
}
