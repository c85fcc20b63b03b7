//! Claims in words, as the share of points at which they hold.

use super::grid::{Grid, Of};
use crate::item::Item;

/// How a claim's share is to be read.
pub(crate) const WORDS: &str = "A claim's number is the share of the points to which it applies at which it holds. \
    An order of two settings fails only where the paired difference is significantly the other way; where a \
    gain or a growth is claimed, it must be significant (a growth between its ends).";

/// Points at which a claim was tried, and how many of them it holds at.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    holds: usize,
    points: usize,
}

impl Tally {
    pub(crate) fn note(&mut self, holds: bool) {
        self.holds += usize::from(holds);
        self.points += 1;
    }

    pub(crate) fn item(self, paper: &str, item: &str, words: &str) -> Item {
        self.of_series(paper, item, "claim", words)
    }

    /// One of several claims on an item: `claim`, and which.
    pub(crate) fn of_series(self, paper: &str, item: &str, series: &str, words: &str) -> Item {
        Item::new(paper, item, series).claim(
            words,
            self.holds as f64 / self.points.max(1) as f64,
            self.points,
        )
    }
}

/// Not significantly below.
pub(crate) fn not_below(grid: &Grid, one: (&str, f64), other: (&str, f64), of: Of) -> bool {
    grid.difference(one, other, of).is_some_and(|difference| difference.ci95[1] >= 0.0)
}

/// Significantly above.
pub(crate) fn above(grid: &Grid, one: (&str, f64), other: (&str, f64), of: Of) -> bool {
    grid.difference(one, other, of).is_some_and(|difference| difference.ci95[0] > 0.0)
}

/// A series grows from point to point, and from its first to its last.
pub(crate) fn grows(grid: &Grid, series: &str, of: Of, tally: &mut Tally) {
    let xs = grid.xs(series);
    for pair in xs.windows(2) {
        tally.note(not_below(grid, (series, pair[1]), (series, pair[0]), of));
    }
    if let (Some(first), Some(last)) = (xs.first(), xs.last()) {
        tally.note(above(grid, (series, *last), (series, *first), of));
    }
}
