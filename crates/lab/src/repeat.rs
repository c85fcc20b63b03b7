//! Repetitions of scenarios on all cores. The results do not depend on the number of threads.

use crate::progress::Progress;
use crate::stats::Estimate;
use lasthop_scenario::Scenario;
use lasthop_sim::{FlowMetric, Outcome};
use rayon::prelude::*;

/// Returns the seed of repetition `run`. Repetitions with the same number have the same random losses in all scenarios.
pub fn seed_of(seed: u64, run: u32) -> u64 {
    seed.wrapping_add(u64::from(run))
}

/// Runs each scenario `runs` times with the seeds `seed`, `seed + 1` …, in the current rayon thread pool (see
/// [`on_threads`]). Returns the outcomes of each scenario, sorted by repetition.
pub fn repeat(scenarios: &[&Scenario], runs: u32, seed: u64, progress: &dyn Progress) -> Vec<Vec<Outcome>> {
    let jobs: Vec<(&Scenario, u64)> = scenarios
        .iter()
        .flat_map(|scenario| (0..runs).map(move |run| (*scenario, seed_of(seed, run))))
        .collect();
    let mut outcomes = run_all(&jobs, progress).into_iter();
    (0..scenarios.len()).map(|_| outcomes.by_ref().take(runs as usize).flatten().collect()).collect()
}

/// Runs each scenario with its seed. Returns `None` for each scenario that was not run because the user cancelled.
pub fn run_all(jobs: &[(&Scenario, u64)], progress: &dyn Progress) -> Vec<Option<Outcome>> {
    // Each thread takes one job at a time. If a thread took several jobs at once, that thread could still have jobs
    // waiting while other threads are idle.
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

/// Calls `work` in a pool of `jobs` threads. `None` means one thread for each core.
pub fn on_threads<T: Send>(jobs: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build() {
        Ok(pool) => pool.install(work),
        // If the pool cannot be created, the global pool or the current thread does the work.
        Err(_) => work(),
    }
}

/// Returns the mean of a flow's metric over the repetitions. Repetitions in which the metric is undefined are omitted.
pub fn estimate(outcomes: &[Outcome], flow: usize, metric: &FlowMetric) -> Option<Estimate> {
    estimate_by(outcomes, |outcome| outcome.flows.get(flow).and_then(metric.of))
}

/// Returns the mean of a number over the repetitions. Repetitions in which the number is undefined are omitted.
pub fn estimate_by(outcomes: &[Outcome], of: impl Fn(&Outcome) -> Option<f64>) -> Option<Estimate> {
    let values: Vec<f64> = outcomes.iter().filter_map(of).collect();
    Estimate::of(&values)
}
