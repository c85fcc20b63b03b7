//! Repetitions of scenarios on all cores; results do not depend on the number of threads.

use crate::progress::Progress;
use crate::stats::Estimate;
use lasthop_scenario::Scenario;
use lasthop_sim::{FlowMetric, Outcome};
use rayon::prelude::*;

/// Seed of repetition `run`. Repetitions with the same number have the same random losses in all scenarios.
pub fn seed_of(seed: u64, run: u32) -> u64 {
    seed.wrapping_add(u64::from(run))
}

/// Runs each scenario `runs` times with seeds `seed`, `seed + 1` …, in the current rayon thread pool (see
/// [`on_threads`]). Returns the outcomes of each scenario, by repetition.
pub fn repeat(scenarios: &[&Scenario], runs: u32, seed: u64, progress: &dyn Progress) -> Vec<Vec<Outcome>> {
    let jobs: Vec<(&Scenario, u64)> = scenarios
        .iter()
        .flat_map(|scenario| (0..runs).map(move |run| (*scenario, seed_of(seed, run))))
        .collect();
    let mut outcomes = run_all(&jobs, progress).into_iter();
    (0..scenarios.len()).map(|_| outcomes.by_ref().take(runs as usize).flatten().collect()).collect()
}

/// Runs each scenario with its seed; `None` for scenarios that were not run because the user cancelled.
pub fn run_all(jobs: &[(&Scenario, u64)], progress: &dyn Progress) -> Vec<Option<Outcome>> {
    // Each thread takes one job at a time. If threads took several jobs, one thread would be busy with its last jobs
    // while the others are idle.
    jobs.par_iter()
        .with_max_len(1)
        .map(|(scenario, seed)| {
            if progress.is_cancelled() {
                return None;
            }
            let outcome = lasthop_sim::run(scenario, *seed);
            progress.step();
            Some(outcome)
        })
        .collect()
}

/// Calls `work` in a pool of `jobs` threads; `None` means one thread per core.
pub fn on_threads<T: Send>(jobs: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build() {
        Ok(pool) => pool.install(work),
        // If no threads can be created, the global pool or this thread does the work.
        Err(_) => work(),
    }
}

/// Mean of a flow's metric over repetitions. Repetitions in which the metric is undefined are left out.
pub fn estimate(outcomes: &[Outcome], flow: usize, metric: &FlowMetric) -> Option<Estimate> {
    estimate_by(outcomes, |outcome| outcome.flows.get(flow).and_then(metric.of))
}

/// Mean of a number over repetitions. Repetitions in which the number is undefined are left out.
pub fn estimate_by(outcomes: &[Outcome], of: impl Fn(&Outcome) -> Option<f64>) -> Option<Estimate> {
    let values: Vec<f64> = outcomes.iter().filter_map(of).collect();
    Estimate::of(&values)
}
