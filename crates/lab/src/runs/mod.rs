//! Repetitions of one scenario, and output of their results.
//!
//! * [`begin`]: runs all repetitions, and observes the first repetition over time.
//! * [`clock`]: virtual time of runs in progress.
//! * [`glance`]: first screen in the terminal.
//! * [`summary`]: means of flows as a table and as JSON.
//! * [`groups`]: flows that share a column of a table.
//! * [`links`]: means of links.
//! * [`classes`]: numbers of each class of flows. A class contains all replicas of a flow.
//! * [`completion`]: completion times, including transfers that the run's end cuts off.
//! * [`distribution`]: distribution of completion times.
//! * [`sizes`]: completion times of transfers of similar size.
//! * [`csv`]: all repetitions, and samples of the first repetition, as CSV.
//! * [`fields`]: descriptions of columns and fields.
//! * [`document`]: the report.
//! * [`first_screen`]: the first screen of the report.
//! * [`sequence`]: recorded segments in a report.
//! * [`limits`]: limits of each flow's rate.
//! * [`random`]: detection of scenarios whose repetitions are all equal.
//! * [`number`]: formats of means and intervals.
//! * [`label`]: names of metrics.
//! * [`measure`]: numbers of several flows together.

pub mod classes;
pub mod clock;
pub mod completion;
pub mod csv;
pub mod distribution;
pub mod document;
pub mod fields;
pub mod first_screen;
pub mod glance;
pub mod groups;
pub mod label;
pub mod limits;
pub mod links;
pub mod measure;
pub mod number;
pub mod random;
pub mod sequence;
pub mod sizes;
pub mod summary;

use crate::in_order::InOrder;
use crate::repeat::seed_of;
use clock::VirtualClock;
use lasthop_charts::segments::{SegmentRecorder, Segments};
use lasthop_engine::Observer;
use lasthop_scenario::Scenario;
use lasthop_sim::{Observation, Outcome, Samples, SteppedRun};
use std::any::Any;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Repetitions of a scenario.
#[derive(Default)]
pub struct Runs {
    /// Outcomes of the repetitions. The seeds of the repetitions are `seed`, `seed + 1` …
    pub outcomes: Vec<Outcome>,
    /// Samples of the first repetition. Empty if no samples were requested.
    pub samples: Samples,
    /// Segments of the first repetition, one entry for each recorded flow. Empty if no recording was requested.
    pub segments: Vec<Segments>,
}

/// One repetition.
pub struct Repetition {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Observations of the run. `None` if no observation was requested.
    pub observations: Option<Observations>,
    /// Whether the run reached its end. If not, the outcome covers the time until the user stopped the run.
    pub is_whole: bool,
}

/// Observations of a run.
pub struct Observations {
    /// Samples of flows and queues over time. Empty if no samples were requested.
    pub samples: Samples,
    /// Observers of the run, with the data that they recorded.
    pub observers: Vec<Box<dyn Observer>>,
}

impl Observations {
    /// Removes the segment recorders from the observers and returns the recorded segments. The recorders must be the
    /// last observers.
    pub fn segments(&mut self) -> Vec<Segments> {
        let is_recorder = |one: &dyn Observer| (one as &dyn Any).is::<SegmentRecorder>();
        let first = self.observers.iter().position(|one| is_recorder(one.as_ref()));
        let first = first.unwrap_or(self.observers.len());
        sequence::finish_recorders(
            self.observers.split_off(first).into_iter().map(|one| one as Box<dyn Any>).collect(),
        )
    }
}

impl Repetition {
    /// Runs a scenario once. Observes the run if `observation` requests anything.
    pub fn run(scenario: &Scenario, seed: u64, observation: Observation) -> Repetition {
        Repetition::run_by(&VirtualClock::default(), scenario, seed, observation)
    }

    /// Does the same as [`Repetition::run`]. In addition, `clock` shows the progress and can end the run early.
    pub fn run_by(
        clock: &VirtualClock,
        scenario: &Scenario,
        seed: u64,
        observation: Observation,
    ) -> Repetition {
        let probes = observation.probes;
        let mut running = SteppedRun::new(scenario, seed, observation);
        let is_whole = clock.drive(&mut running);
        let (outcome, samples, observers) = if is_whole { running.finish() } else { running.finish_early() };
        let is_observed = probes || !observers.is_empty();
        let observations = is_observed.then_some(Observations { samples, observers });
        Repetition { outcome, observations, is_whole }
    }
}

/// Starts `runs` repetitions (at least one) on `threads` threads (`None`: one thread for each core). `observation`
/// selects the data to record in the first repetition. Link delays are measured in every repetition.
///
/// # Errors
/// Fails if the system provides no thread.
pub fn begin(
    scenario: &Arc<Scenario>,
    runs: u32,
    seed: u64,
    observation: Observation,
    threads: Option<usize>,
) -> io::Result<InOrder<Repetition>> {
    begin_sampled(scenario, runs, seed, observation, false, threads)
}

/// Does the same as [`begin`]. In addition, every repetition is sampled over time if `samples_all` is set.
pub fn begin_sampled(
    scenario: &Arc<Scenario>,
    runs: u32,
    seed: u64,
    observation: Observation,
    samples_all: bool,
    threads: Option<usize>,
) -> io::Result<InOrder<Repetition>> {
    let (scenario, observation) = (scenario.clone(), Mutex::new(Some(observation)));
    let clock = Arc::new(VirtualClock::of((0..runs.max(1)).map(|_| scenario.duration)));
    let shown = clock.clone();
    let work = InOrder::begin(runs.max(1) as usize, threads, move |run| {
        let observation =
            (run == 0).then(|| observation.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut observation = observation.flatten().unwrap_or_default();
        observation.probes |= samples_all;
        observation.link_delays = true;
        Repetition::run_by(&clock, &scenario, seed_of(seed, run as u32), observation)
    })?;
    Ok(work.with_clock(shown))
}
