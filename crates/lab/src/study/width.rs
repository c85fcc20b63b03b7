//! Which cells are run more often: those of published numbers beside which our interval is still wide.
//!
//! A fixed-width sequential procedure (Chow and Robbins, Ann. Math. Stat. 36(2), 1965): a first block of repetitions, then
//! half as many again, until the interval's half width is at most a third of the row's margin, or the grid's `most` is
//! reached. It looks at the width alone and never at the verdict, so that it favours none.

use super::class::Class;
use super::measure::{Reads, View};
use super::rows;

/// Of the margin: an interval this narrow lies within the band wherever the mean is not near its edge.
const SHARE_OF_MARGIN: f64 = 1.0 / 3.0;

/// For each row that is still wide, the cells that it is made of.
pub fn wide(view: &View<'_>) -> Vec<Reads> {
    let of = |published| {
        let class = rows::binding(view.study, published)?.class;
        // One run of the paper's stays one run; a place is a value of the grid however often it is run.
        let can_narrow = !class.is_one_run() && !matches!(class, Class::Place | Class::Exact);
        let reads = std::cell::RefCell::default();
        let item = rows::number(&View { reads: Some(&reads), ..*view }, published)?;
        let half = item.ci95.map(|[low, high]| (high - low) / 2.0)?;
        let is_wide = half > SHARE_OF_MARGIN * item.margin?;
        (can_narrow && is_wide).then(|| reads.into_inner())
    };
    view.study.published.iter().filter_map(of).collect()
}

/// How many repetitions come after `runs`: half as many again, at most `most`.
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
