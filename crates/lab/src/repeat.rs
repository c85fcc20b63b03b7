//! Repetitions of scenarios on all cores: the same results in the same order for any number of threads.

use crate::progress::Progress;
use crate::stats::Estimate;
use lasthop_scenario::Scenario;
use lasthop_sim::{Metric, Outcome};
use rayon::prelude::*;

/// The seed of the `run`-th repetition: repetitions of different scenarios with the same number meet the same losses.
pub fn seed_of(seed: u64, run: u32) -> u64 {
    seed.wrapping_add(u64::from(run))
}

/// Runs each scenario `runs` times with the seeds `seed`, `seed + 1` …; one list of outcomes per scenario, by repetition.
///
/// Runs in the current rayon thread pool; see [`on_threads`].
pub fn repeat(scenarios: &[&Scenario], runs: u32, seed: u64, progress: &dyn Progress) -> Vec<Vec<Outcome>> {
    let jobs: Vec<(&Scenario, u64)> = scenarios
        .iter()
        .flat_map(|scenario| (0..runs).map(move |run| (*scenario, seed_of(seed, run))))
        .collect();
    let mut outcomes = run_all(&jobs, progress).into_iter();
    (0..scenarios.len()).map(|_| outcomes.by_ref().take(runs as usize).flatten().collect()).collect()
}

/// Runs each scenario with its seed; `None` for those that were not run because the user wants to stop.
pub fn run_all(jobs: &[(&Scenario, u64)], progress: &dyn Progress) -> Vec<Option<Outcome>> {
    // One by one: else the thread that has the last bundle runs it alone while the others wait.
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

/// Calls `work` with `jobs` threads for [`repeat`]; `None`: one per core.
pub fn on_threads<T: Send>(jobs: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build() {
        Ok(pool) => pool.install(work),
        // No threads to be had: the global pool, or this thread, does it all.
        Err(_) => work(),
    }
}

/// A metric of one flow over repetitions; those in which it is undefined are left out.
pub fn estimate(outcomes: &[Outcome], flow: usize, metric: &Metric) -> Option<Estimate> {
    estimate_by(outcomes, |outcome| outcome.flows.get(flow).and_then(metric.of))
}

/// A number of each outcome over repetitions; those in which it is undefined are left out.
pub fn estimate_by(outcomes: &[Outcome], of: impl Fn(&Outcome) -> Option<f64>) -> Option<Estimate> {
    let values: Vec<f64> = outcomes.iter().filter_map(of).collect();
    Estimate::of(&values)
}
