//! Numbers of items as cells of a chapter's tables.

use crate::document::Cell;
use crate::item::Item;

/// An item's number with half of its 95 % interval; the number alone where there is no interval.
pub(crate) fn measured(item: &Item) -> Cell {
    match (item.measured, item.ci95) {
        (Some(mean), Some(ci95)) if ci95.iter().all(|end| end.is_finite()) => {
            Cell::Number(format!("{} ± {}", number(mean), number((ci95[1] - ci95[0]) / 2.0)))
        }
        (Some(mean), _) => Cell::Number(number(mean)),
        (None, _) => Cell::Empty,
    }
}

/// Three significant digits or so.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        0.0 => "0".into(),
        _ => format!("{value:.3}"),
    }
}
