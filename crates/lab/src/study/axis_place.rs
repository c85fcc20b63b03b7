//! Positions on an axis ("places"). A place is the axis value at which a curve is largest, or the axis value from which
//! on a difference stays positive. The position is computed from the means over all repetitions. The interval of the
//! position comes from a bootstrap over repetitions (Efron, Ann. Stat. 7(1), 1979).

use super::measure::Measurement;
use crate::stats::Estimate;
use lasthop_base::Stream;

/// Function that searches for a position on an axis. The argument holds the mean at each axis value. The result is the
/// index of an axis value, or `None` if no position is found.
pub type PlaceSearch = fn(&[Option<f64>]) -> Option<usize>;

/// Returns the index of the largest mean.
pub fn largest(means: &[Option<f64>]) -> Option<usize> {
    let known = means.iter().enumerate().filter_map(|(at, mean)| Some((at, (*mean)?)));
    known.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at)
}

/// Returns the first index from which on all means are above 0.
pub fn crossing(means: &[Option<f64>]) -> Option<usize> {
    let last_below = means.iter().rposition(|mean| mean.is_none_or(|mean| mean <= 0.0));
    let first = last_below.map_or(0, |at| at + 1);
    (first < means.len()).then_some(first)
}

const DRAWS: usize = 1000;
/// Number of bootstrap draws that lie outside the interval at each end: 2.5 % of all draws.
const OUTSIDE: usize = DRAWS / 40;
/// Smallest number of repetitions for an interval. With fewer repetitions, the bootstrap draws are too similar.
const FEWEST: usize = 4;

/// Searches for a position on the axis with these `values`. Returns the index of the position among the values, and an
/// estimate of the position with its interval. If no position is found, the estimate is one step after the last axis
/// value. `along` holds one measurement for each axis value. All measurements come from the same repetitions.
pub fn found(
    values: &[f64],
    along: &[Measurement],
    search: PlaceSearch,
) -> Option<(Option<usize>, Estimate)> {
    let runs = along.iter().map(|measurement| measurement.values.len()).min()?;
    let is_exact = along.iter().all(|measurement| measurement.is_exact);
    let last = *values.last()?;
    let beyond = last + values.len().checked_sub(2).map_or(0.0, |before| last - values[before]);
    let of = |chosen: &[usize]| {
        let means: Vec<Option<f64>> = along.iter().map(|measurement| mean(measurement, chosen)).collect();
        search(&means)
    };
    let number = |at: Option<usize>| at.and_then(|at| values.get(at)).copied().unwrap_or(beyond);
    let all: Vec<usize> = (0..runs).collect();
    let at = of(&all);
    let mean = number(at);
    let ci95 = match () {
        () if is_exact => Some([mean; 2]),
        () if runs < FEWEST => None,
        () => {
            let mut random = Stream::named(runs as u64, "study.place");
            let mut draw = || (random.uniform() * runs as f64) as usize;
            let mut drawn: Vec<f64> =
                (0..DRAWS).map(|_| number(of(&(0..runs).map(|_| draw()).collect::<Vec<_>>()))).collect();
            drawn.sort_by(f64::total_cmp);
            Some([drawn[OUTSIDE], drawn[DRAWS - 1 - OUTSIDE]])
        }
    };
    Some((at, Estimate { mean, ci95, runs }))
}

fn mean(measurement: &Measurement, chosen: &[usize]) -> Option<f64> {
    let known: Vec<f64> = chosen.iter().filter_map(|run| measurement.values[*run]).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 3] = [1.0, 2.0, 4.0];

    fn along(runs: &[[f64; 3]]) -> Vec<Measurement> {
        (0..3).map(|at| Measurement::of(runs.iter().map(|run| Some(run[at])).collect())).collect()
    }

    #[test]
    fn the_place_is_that_of_the_means() {
        assert_eq!(largest(&[Some(1.0), None, Some(3.0), Some(2.0)]), Some(2));
        assert_eq!(crossing(&[Some(-1.0), Some(1.0), Some(2.0)]), Some(1));
        assert_eq!(crossing(&[Some(1.0), Some(-1.0), Some(2.0)]), Some(2));
        assert_eq!(crossing(&[Some(1.0), Some(1.0), Some(0.0)]), None);
        assert_eq!(crossing(&[Some(1.0), Some(1.0), Some(1.0)]), Some(0));
    }

    #[test]
    fn where_all_repetitions_agree_the_interval_is_that_value() {
        let runs = [[-1.0, 1.0, 2.0], [-2.0, 3.0, 1.0], [-1.0, 2.0, 2.0], [-1.0, 2.0, 1.0]];
        let (at, search) = found(&VALUES, &along(&runs), crossing).unwrap();
        assert_eq!((at, search.mean, search.ci95, search.runs), (Some(1), 2.0, Some([2.0, 2.0]), 4));
    }

    #[test]
    fn where_they_do_not_it_is_wider() {
        // The last repetition has low values. A bootstrap draw without this repetition (0.8^5 = 33 % of the draws) has
        // its crossing at 1. Every other draw has its crossing at a later value.
        let runs = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [-9.0, -3.0, 1.0]];
        let (at, search) = found(&VALUES, &along(&runs), crossing).unwrap();
        assert_eq!((at, search.mean), (Some(1), 2.0));
        // In 26 % of the bootstrap draws, the low repetition occurs at least twice among the five repetitions. The mean
        // of such a draw is below 0 at the second value, too, so that its crossing is at 4.
        assert_eq!(search.ci95, Some([1.0, 4.0]));
    }

    #[test]
    fn no_place_is_a_step_beyond_and_few_repetitions_have_no_interval() {
        let runs = [[1.0, 1.0, -1.0]; 4];
        let (at, search) = found(&VALUES, &along(&runs), crossing).unwrap();
        assert_eq!((at, search.mean), (None, 6.0));
        let (_, few) = found(&VALUES, &along(&runs[..3]), crossing).unwrap();
        assert_eq!(few.ci95, None);
    }
}
