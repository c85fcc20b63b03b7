//! Repetitions of one scenario, and what is shown of them.
//!
//! * [`repeat_watched`]: all repetitions, the first of them under observation.
//! * [`summary`]: a table for people, an object a line for programs.
//! * [`csv`]: every repetition, and the samples of the first.
//! * [`document`]: a report of the first repetition, by time.
//! * [`limits`]: what limited each flow, in a line.
//! * [`number`]: how a mean and its interval are written; [`measure`]: the numbers that several flows have together.

pub mod csv;
pub mod document;
pub mod limits;
pub mod measure;
pub mod number;
pub mod summary;

use crate::progress::Progress;
use crate::repeat::{repeat, seed_of};
use lasthop_scenario::Scenario;
use lasthop_sim::{Outcome, Samples, Watch};

/// All repetitions of a scenario.
pub struct Runs {
    /// One for each repetition, with the seeds `seed`, `seed + 1` …
    pub outcomes: Vec<Outcome>,
    /// What the first one's probes saw, if it was to be sampled.
    pub samples: Samples,
    /// What watched the first one, given back.
    pub watch: Watch,
}

/// Runs a scenario `runs` times (at least once), the first time watched.
pub fn repeat_watched(
    scenario: &Scenario,
    runs: u32,
    seed: u64,
    watch: Watch,
    progress: &dyn Progress,
) -> Runs {
    let probes = watch.probes;
    let watched = probes || !watch.observers.is_empty();
    progress.begin("run", u64::from(runs.max(1)));
    let first = || {
        let (outcome, samples, observers) = match watched {
            true => lasthop_sim::run_watched(scenario, seed, watch),
            false => (lasthop_sim::run(scenario, seed), Samples::default(), Vec::new()),
        };
        progress.step();
        (outcome, samples, Watch { observers, probes })
    };
    let others = || repeat(&[scenario], runs.saturating_sub(1), seed_of(seed, 1), progress);
    let ((outcome, samples, watch), others) = rayon::join(first, others);
    progress.end();
    let outcomes = std::iter::once(outcome).chain(others.into_iter().flatten()).collect();
    Runs { outcomes, samples, watch }
}
