//! Selection of the cells (combinations of axis values) that get more repetitions. A cell is selected if our result for
//! a published number is computed from the cell and has too wide an interval.
//!
//! The rule is a fixed-width sequential procedure (Chow and Robbins, Ann. Math. Stat. 36(2), 1965). After a first block
//! of repetitions, the number of repetitions grows by half in each step. The procedure ends if the half width of the
//! interval is at most a third of the accepted margin, or if the grid's largest number of repetitions (`most`) is
//! reached. The decision depends only on the width and never on the verdict, so that no verdict is favoured.

use super::class::Class;
use super::measure::{ReadCells, View};
use super::rows;

/// Largest half width of an interval that is narrow enough, as a share of the margin.
const SHARE_OF_MARGIN: f64 = 1.0 / 3.0;

/// Returns one set of cells for each published number for which our interval is too wide. The set contains the cells
/// from which our number is computed.
pub fn wide(view: &View<'_>) -> Vec<ReadCells> {
    let of = |published| {
        let class = rows::binding(view.study, published)?.class;
        // More repetitions do not help if the published number comes from one run, is a position on an axis, or is
        // computed.
        let can_narrow = !class.is_one_run() && !matches!(class, Class::Place | Class::Exact);
        let read_cells = std::cell::RefCell::default();
        let item = rows::number(&View { read_cells: Some(&read_cells), ..*view }, published)?;
        let half = item.ci95.map(|[low, high]| (high - low) / 2.0)?;
        let is_wide = half > SHARE_OF_MARGIN * item.margin?;
        (can_narrow && is_wide).then(|| read_cells.into_inner())
    };
    view.study.published.iter().filter_map(of).collect()
}

/// Returns the next number of repetitions after `runs`. The number grows by half, but to at most `most`.
pub fn next(runs: u32, most: u32) -> u32 {
    (runs + runs.div_ceil(2)).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_by_half() {
        let mut runs = vec![10];
        while *runs.last().unwrap() < 60 {
            runs.push(next(*runs.last().unwrap(), 60));
        }
        assert_eq!(runs, [10, 15, 23, 35, 53, 60]);
        assert_eq!(next(1, 9), 2);
    }
}
