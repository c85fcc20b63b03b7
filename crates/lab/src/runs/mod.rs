//! Repetitions of one scenario, and what is shown of them.
//!
//! * [`begin`]: all repetitions, one after the other as they are finished, the first of them under observation.
//! * [`summary`]: a table for people, an object a line for programs; [`links`]: the same of links.
//! * [`completion`]: when finite transfers were complete, those that were cut off among them.
//! * [`distribution`]: how their times are distributed, drawn and row by row.
//! * [`csv`]: every repetition, and the samples of the first.
//! * [`document`]: a report of the first repetition, by time.
//! * [`fields`]: what columns and fields mean.
//! * [`limits`]: what limited each flow, in a line; [`random`]: whether repetitions differ.
//! * [`sequence`]: which segments of a run a report shows.
//! * [`number`]: how a mean and its interval are written; [`measure`]: the numbers that several flows have together.

pub mod completion;
pub mod csv;
pub mod distribution;
pub mod document;
pub mod fields;
pub mod limits;
pub mod links;
pub mod measure;
pub mod number;
pub mod random;
pub mod sequence;
pub mod summary;

use crate::in_order::InOrder;
use crate::repeat::seed_of;
use lasthop_charts::segments::{Segments, Taker};
use lasthop_engine::Observer;
use lasthop_scenario::Scenario;
use lasthop_sim::{Outcome, Samples, Watch};
use std::any::Any;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Repetitions of a scenario.
#[derive(Default)]
pub struct Runs {
    /// One for each repetition, with the seeds `seed`, `seed + 1` …
    pub outcomes: Vec<Outcome>,
    /// What the first one's probes saw, if it was to be sampled.
    pub samples: Samples,
    /// The first one's segments by flow, if it was to be drawn.
    pub segments: Vec<Segments>,
}

/// One of them.
pub struct Repetition {
    /// What came out.
    pub outcome: Outcome,
    /// What was seen, if it was watched or sampled.
    pub watched: Option<Watched>,
}

/// What was seen of a run.
pub struct Watched {
    /// By the probes, if it was to be sampled.
    pub samples: Samples,
    /// What watched it, given back.
    pub observers: Vec<Box<dyn Observer>>,
}

impl Watched {
    /// What was seen of segments, if the last observers took notes of them; to be asked once.
    pub fn segments(&mut self) -> Vec<Segments> {
        let is_taker = |one: &dyn Observer| (one as &dyn Any).is::<Taker>();
        let first = self.observers.iter().position(|one| is_taker(one.as_ref()));
        let first = first.unwrap_or(self.observers.len());
        sequence::taken(self.observers.split_off(first).into_iter().map(|one| one as Box<dyn Any>).collect())
    }
}

impl Repetition {
    /// Runs a scenario once, watched if there is anything to watch.
    pub fn run(scenario: &Scenario, seed: u64, watch: Watch) -> Repetition {
        if !watch.probes && !watch.waits && watch.observers.is_empty() {
            return Repetition { outcome: lasthop_sim::run(scenario, seed), watched: None };
        }
        let probes = watch.probes;
        let (outcome, samples, observers) = lasthop_sim::run_watched(scenario, seed, watch);
        let is_seen = probes || !observers.is_empty();
        Repetition { outcome, watched: is_seen.then_some(Watched { samples, observers }) }
    }
}

/// Begins to run a scenario `runs` times (at least once), the first time watched, on so many threads (`None`: one per
/// core). How long packets take on links is measured each time.
///
/// # Errors
/// If there are no threads to be had.
pub fn begin(
    scenario: &Arc<Scenario>,
    runs: u32,
    seed: u64,
    watch: Watch,
    threads: Option<usize>,
) -> io::Result<InOrder<Repetition>> {
    begin_sampled(scenario, runs, seed, watch, false, threads)
}

/// The same; with `samples_all` every repetition is sampled.
///
/// # Errors
/// As [`begin`].
pub fn begin_sampled(
    scenario: &Arc<Scenario>,
    runs: u32,
    seed: u64,
    watch: Watch,
    samples_all: bool,
    threads: Option<usize>,
) -> io::Result<InOrder<Repetition>> {
    let (scenario, watch) = (scenario.clone(), Mutex::new(Some(watch)));
    InOrder::begin(runs.max(1) as usize, threads, move |run| {
        let watch = (run == 0).then(|| watch.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut watch = watch.flatten().unwrap_or_default();
        watch.probes |= samples_all;
        watch.waits = true;
        Repetition::run(&scenario, seed_of(seed, run as u32), watch)
    })
}
