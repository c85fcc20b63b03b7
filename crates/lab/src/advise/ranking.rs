//! Order of the candidates, and whether the order is statistically certain.
//!
//! In a repetition, all candidates have the same random losses. The candidates are therefore compared within each
//! repetition. In this module, "surely" means that the whole 95 % interval supports the statement.
//!
//! The order of two adjacent candidates is certain if the 95 % interval of the difference of their scores excludes
//! zero. The order also counts as certain if the interval lies within ±2 % (indifference zone: Bechhofer, Ann. Math.
//! Stat. 25(1), 1954). Repetitions are added in blocks of four until the order of the first three candidates is certain
//! or the work limit is reached. A pair of cures is ranked only if the pair is surely better than each cure of the
//! pair. A candidate that is surely worse than the third candidate gets no further runs (screening: Gupta,
//! Technometrics 7(2), 1965). Intervals are not corrected for the number of checks and candidates.

use super::repetition::RepetitionMeasures;
use super::{Candidate, CandidateRuns, TOP};
use crate::stats::Estimate;
use crate::stats::change::PercentChange;

/// Indifference zone: scores that differ by less than this share count as equal.
pub const ALIKE: f64 = 0.02;
/// Smallest number of repetitions after which candidates are screened out.
const RUNS_BEFORE_SCREENING: usize = 8;

/// A candidate, and whether its gain over the unchanged path is certain.
#[derive(Clone, Copy, Debug)]
pub struct ScoredCandidate<'a> {
    /// The candidate.
    pub candidate: &'a Candidate,
    /// Whether the score's whole 95 % interval lies above zero.
    pub surely_helps: bool,
}

/// Results of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateResults {
    /// The candidate.
    pub candidate: Candidate,
    /// Congestion control of the user's first flow.
    pub congestion: &'static str,
    /// Gain over the unchanged path, %. The aim selects the numbers that enter the score.
    pub score_pct: Option<Estimate>,
    /// Goodput of the user's flows, kbit/s.
    pub goodput_kbps: Option<Estimate>,
    /// Change of goodput relative to the unchanged path, %.
    pub goodput_change: Option<PercentChange>,
    /// Percentiles 50, 95 and 99 of the smoothed RTT, ms.
    pub rtt_ms: [Option<Estimate>; 3],
    /// Percentiles 50, 95 and 99 of the duration of short transfers, s.
    pub short_s: [Option<Estimate>; 3],
    /// Change of the 95th percentile of the duration of short transfers relative to the unchanged path, %.
    pub short_change: Option<PercentChange>,
    /// Change of the neighbour's goodput relative to the unchanged path, %. The neighbour is a flow without the
    /// candidate's changes.
    pub neighbour_change: Option<PercentChange>,
    /// Number of repetitions.
    pub runs: usize,
}

/// Returns all candidates except the unchanged path, sorted from best to worst.
pub fn scored(candidates: &[CandidateRuns]) -> Vec<ScoredCandidate<'_>> {
    order(candidates)
        .into_iter()
        .map(|at| ScoredCandidate {
            candidate: &candidates[at].candidate,
            surely_helps: score(candidates, at).is_some_and(|score| score.is_above(0.0)),
        })
        .collect()
}

/// Returns the results of all candidates except the unchanged path, sorted from best to worst.
pub fn rows(candidates: &[CandidateRuns]) -> Vec<CandidateResults> {
    order(candidates).into_iter().map(|at| row(&candidates[at], &candidates[0])).collect()
}

/// Whether the order of the first three candidates is certain. The third candidate must also differ from the fourth
/// with certainty.
pub fn is_certain(candidates: &[CandidateRuns]) -> bool {
    let order = order(candidates);
    order.windows(2).take(TOP).all(|pair| {
        let difference = difference(&candidates[pair[0]], &candidates[pair[1]], &candidates[0]);
        difference.is_some_and(|estimate| {
            estimate.ci95.is_some_and(|[low, high]| low > 0.0 || (low > -ALIKE && high < ALIKE))
        })
    })
}

/// Marks candidates that are surely worse than the third candidate of the ranking, by more than [`ALIKE`].
pub fn screen_out(candidates: &mut [CandidateRuns]) {
    let Some(third) = order(candidates).get(TOP - 1).copied() else { return };
    if candidates[third].repetitions.len() < RUNS_BEFORE_SCREENING {
        return;
    }
    let behind: Vec<usize> = (1..candidates.len())
        .filter(|at| {
            let difference = difference(&candidates[third], &candidates[*at], &candidates[0]);
            difference.is_some_and(|estimate| estimate.is_above(ALIKE))
        })
        .collect();
    behind.into_iter().for_each(|at| candidates[at].is_screened_out = true);
}

/// Returns indices in `candidates`, sorted by falling score. Equal scores keep their order. Index 0 (the unchanged
/// path) and redundant pairs are omitted.
fn order(candidates: &[CandidateRuns]) -> Vec<usize> {
    let is_in = |at: &usize| {
        !candidates[*at].repetitions.is_empty() && !is_redundant_pair(candidates, &candidates[*at])
    };
    let mut order: Vec<usize> = (1..candidates.len()).filter(is_in).collect();
    let mean = |at: usize| score(candidates, at).map_or(f64::NEG_INFINITY, |score| score.mean);
    order.sort_by(|one, other| mean(*other).total_cmp(&mean(*one)));
    order
}

/// Whether the candidate is a pair of cures that is not surely better than each cure of the pair.
pub fn is_redundant_pair(candidates: &[CandidateRuns], pair: &CandidateRuns) -> bool {
    let is_no_better = |part: &CandidateRuns| {
        let difference = difference(pair, part, &candidates[0]);
        !difference.is_some_and(|estimate| estimate.is_above(0.0))
    };
    let is_part = |one: &&CandidateRuns| pair.candidate.parts.contains(&one.candidate.name);
    candidates.iter().filter(is_part).any(is_no_better)
}

fn score(candidates: &[CandidateRuns], at: usize) -> Option<Estimate> {
    Estimate::of(&scores(&candidates[at], &candidates[0]))
}

fn scores(one: &CandidateRuns, base: &CandidateRuns) -> Vec<f64> {
    one.repetitions.iter().zip(&base.repetitions).map(|(one, before)| one.score(before, base.aim)).collect()
}

fn difference(one: &CandidateRuns, other: &CandidateRuns, base: &CandidateRuns) -> Option<Estimate> {
    let (ones, others) = (scores(one, base), scores(other, base));
    let differences: Vec<f64> = ones.iter().zip(&others).map(|(one, other)| one - other).collect();
    Estimate::of(&differences)
}

/// Returns the results of the candidate `one`. Changes are relative to the unchanged path `base`.
pub fn row(one: &CandidateRuns, base: &CandidateRuns) -> CandidateResults {
    let pairs = || one.repetitions.iter().zip(&base.repetitions);
    let change = |of: &dyn Fn(&RepetitionMeasures) -> Option<f64>| {
        let both = pairs().filter_map(|(one, base)| Some((of(one)?, of(base)?)));
        let (ones, others): (Vec<f64>, Vec<f64>) = both.unzip();
        PercentChange::of(&ones, &others)
    };
    let mean = |of: &dyn Fn(&RepetitionMeasures) -> Option<f64>| {
        Estimate::of(&one.repetitions.iter().filter_map(of).collect::<Vec<f64>>())
    };
    let percent = |log: f64| 100.0 * (libm::exp(log) - 1.0);
    let score = Estimate::of(&scores(one, base));
    CandidateResults {
        candidate: one.candidate.clone(),
        congestion: one.scenarios.congestion(),
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
        runs: one.repetitions.len(),
    }
}
