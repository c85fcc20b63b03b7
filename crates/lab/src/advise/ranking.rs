//! Order of the candidates, and its certainty.
//!
//! All candidates meet the same losses and are compared repetition by repetition.
//!
//! The order of two neighbours is certain in two cases: the 95 % interval of their difference excludes zero, or
//! lies within ±2 % (indifference zone: Bechhofer, Ann. Math. Stat. 25(1), 1954). Four repetitions at a time are
//! added until the order of the first three is certain or the work limit is reached. A pair that is not surely better
//! than each of its two cures is not ranked. A candidate surely behind the third gets no further runs (screening:
//! Gupta, Technometrics 7(2), 1965). Intervals are not corrected for the number of checks and candidates.

use super::measured::Measured;
use super::{CERTAIN, Candidate, Tried};
use crate::stats::Estimate;
use crate::stats::change::PercentChange;

/// Indifference zone of score differences, as a share.
pub const ALIKE: f64 = 0.02;
/// Fewest repetitions before a candidate is dropped.
const BEFORE_LEAVING: usize = 8;

/// A candidate, and whether its gain is certain.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// The candidate.
    pub candidate: &'a Candidate,
    /// Whether the score's whole 95 % interval lies above zero.
    pub surely_helps: bool,
}

/// Results of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The candidate.
    pub candidate: Candidate,
    /// Congestion control of the user's first flow.
    pub congestion: &'static str,
    /// Gain by the aim's score, %.
    pub score_pct: Option<Estimate>,
    /// Goodput of the user's flows, kbit/s.
    pub goodput_kbps: Option<Estimate>,
    /// Change of goodput, %.
    pub goodput_change: Option<PercentChange>,
    /// Percentiles of the smoothed RTT (50, 95, 99), ms.
    pub rtt_ms: [Option<Estimate>; 3],
    /// Percentiles of the duration of short transfers, s.
    pub short_s: [Option<Estimate>; 3],
    /// Change of their 95th percentile, %.
    pub short_change: Option<PercentChange>,
    /// Change of the unmodified neighbour's goodput, %.
    pub neighbour_change: Option<PercentChange>,
    /// Repetitions.
    pub runs: usize,
}

/// All candidates except the unchanged path, the best first.
pub fn standings(tried: &[Tried]) -> Vec<Standing<'_>> {
    order(tried)
        .into_iter()
        .map(|at| Standing {
            candidate: &tried[at].candidate,
            surely_helps: score(tried, at).is_some_and(|score| score.is_above(0.0)),
        })
        .collect()
}

/// Rows of the candidates, the best first.
pub fn rows(tried: &[Tried]) -> Vec<Row> {
    order(tried).into_iter().map(|at| row(&tried[at], &tried[0])).collect()
}

/// Whether the order of the first three is certain.
pub fn is_certain(tried: &[Tried]) -> bool {
    let order = order(tried);
    order.windows(2).take(CERTAIN).all(|pair| {
        let difference = difference(&tried[pair[0]], &tried[pair[1]], &tried[0]);
        difference.is_some_and(|estimate| {
            estimate.ci95.is_some_and(|[low, high]| low > 0.0 || (low > -ALIKE && high < ALIKE))
        })
    })
}

/// Marks candidates that are surely behind the third.
pub fn leave_behind(tried: &mut [Tried]) {
    let Some(third) = order(tried).get(CERTAIN - 1).copied() else { return };
    if tried[third].measured.len() < BEFORE_LEAVING {
        return;
    }
    let behind: Vec<usize> = (1..tried.len())
        .filter(|at| {
            let difference = difference(&tried[third], &tried[*at], &tried[0]);
            difference.is_some_and(|estimate| estimate.is_above(ALIKE))
        })
        .collect();
    behind.into_iter().for_each(|at| tried[at].is_behind = true);
}

/// Indices in `tried` by falling score, without index 0 (the unchanged path); equal scores keep their order.
fn order(tried: &[Tried]) -> Vec<usize> {
    let is_in = |at: &usize| !tried[*at].measured.is_empty() && !is_idle_pair(tried, &tried[*at]);
    let mut order: Vec<usize> = (1..tried.len()).filter(is_in).collect();
    let mean = |at: usize| score(tried, at).map_or(f64::NEG_INFINITY, |score| score.mean);
    order.sort_by(|one, other| mean(*other).total_cmp(&mean(*one)));
    order
}

/// Whether the candidate is a pair that is not surely better than each of its parts.
pub fn is_idle_pair(tried: &[Tried], pair: &Tried) -> bool {
    let is_no_better = |part: &Tried| {
        let difference = difference(pair, part, &tried[0]);
        !difference.is_some_and(|estimate| estimate.is_above(0.0))
    };
    let is_part = |one: &&Tried| pair.candidate.parts.contains(&one.candidate.name);
    tried.iter().filter(is_part).any(is_no_better)
}

fn score(tried: &[Tried], at: usize) -> Option<Estimate> {
    Estimate::of(&scores(&tried[at], &tried[0]))
}

fn scores(one: &Tried, base: &Tried) -> Vec<f64> {
    one.measured.iter().zip(&base.measured).map(|(one, before)| one.score(before, base.aim)).collect()
}

fn difference(one: &Tried, other: &Tried, base: &Tried) -> Option<Estimate> {
    let (ones, others) = (scores(one, base), scores(other, base));
    let differences: Vec<f64> = ones.iter().zip(&others).map(|(one, other)| one - other).collect();
    Estimate::of(&differences)
}

/// Results of a candidate compared with the unchanged path.
pub fn row(one: &Tried, base: &Tried) -> Row {
    let pairs = || one.measured.iter().zip(&base.measured);
    let change = |of: &dyn Fn(&Measured) -> Option<f64>| {
        let both = pairs().filter_map(|(one, base)| Some((of(one)?, of(base)?)));
        let (ones, others): (Vec<f64>, Vec<f64>) = both.unzip();
        PercentChange::of(&ones, &others)
    };
    let mean = |of: &dyn Fn(&Measured) -> Option<f64>| {
        Estimate::of(&one.measured.iter().filter_map(of).collect::<Vec<f64>>())
    };
    let percent = |log: f64| 100.0 * (libm::exp(log) - 1.0);
    let score = Estimate::of(&scores(one, base));
    Row {
        candidate: one.candidate.clone(),
        congestion: one.world.congestion(),
        score_pct: score.map(|score| Estimate {
            mean: percent(score.mean),
            ci95: score.ci95.map(|ends| ends.map(percent)),
            ..score
        }),
        goodput_kbps: mean(&|it| Some(it.goodput_kbps)),
        goodput_change: change(&|it| Some(it.goodput_kbps)),
        rtt_ms: [0, 1, 2].map(|at| mean(&|it| it.rtt_ms.map(|rtt| rtt[at]))),
        short_s: [0, 1, 2].map(|at| mean(&|it| it.short_s.map(|short| short[at]))),
        short_change: change(&|it| it.short_s.map(|[_, p95, _]| p95)),
        neighbour_change: change(&|it| Some(it.neighbour_kbps)),
        runs: one.measured.len(),
    }
}
