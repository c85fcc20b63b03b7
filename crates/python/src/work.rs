//! Execution of repetitions from Python. Ctrl-C interrupts the runs.
//!
//! Runs without Python objects use all cores. The calling thread waits for these runs without Python's global
//! interpreter lock, and checks for signals. Runs that call Python stay on the calling thread. At intervals, the
//! calling thread handles signals and lets other threads run.

use crate::error::bad_input;
use crate::events::Events;
use crate::results::{self, Comparison, Runs};
use crate::scenario::{Scenario, checked_runs};
use crate::strategy;
use lasthop_lab::compare::{Comparison as Cases, Quantity, Variation, cases};
use lasthop_lab::in_order::{InOrder, NextResult};
use lasthop_lab::repeat::seed_of;
use lasthop_lab::runs::random::Determinism;
use lasthop_sim::{Observation, Outcome, Samples, SteppedRun, Stuck};
use pyo3::prelude::*;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two checks for signals, such as Ctrl-C.
pub const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Number of events between two checks of the stop flag. These events take 1 to 2 ms.
pub const EVENTS_PER_STEP: usize = 4096;
/// Number of events between two checks for signals in a run that calls Python. Such a run is slower than other runs.
pub const EVENTS_PER_PYTHON_STEP: usize = 512;

/// Interval at which a run that calls Python releases Python's global interpreter lock. CPython hands the lock over
/// only if another thread has requested it, and a thread requests the lock after waiting 5 ms
/// (`sys.setswitchinterval`). Intervals below 5 ms would therefore starve other threads.
const RELEASE_INTERVAL: Duration = Duration::from_millis(10);

struct FinishedRun {
    outcome: Outcome,
    samples: Samples,
    events: Option<Events>,
}

/// Runs a scenario several times.
#[pyfunction]
#[pyo3(signature = (scenario, runs=None, seed=None, jobs=None, samples=false, events=false))]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    runs: Option<i64>,
    seed: Option<u64>,
    jobs: Option<i64>,
    samples: bool,
    events: bool,
) -> PyResult<Runs> {
    let checked = scenario.checked.clone();
    let determinism = Determinism::of(std::iter::once(&*checked));
    let runs = checked_runs(py, runs)?.unwrap_or_else(|| determinism.worth_running(checked.runs));
    let seed = seed.unwrap_or(checked.seed);
    let repetition = move |run: usize| Repetition {
        scenario: checked.clone(),
        seed: seed_of(seed, run as u32),
        samples: samples && run == 0,
        events: events && run == 0,
    };
    let mut all =
        Runs { scenario: scenario.checked.clone(), outcomes: Vec::new(), samples: None, events: None };
    run_each(py, runs as usize, jobs, scenario.has_strategies, repetition, |done| {
        if all.outcomes.is_empty() {
            all.samples = samples.then_some(done.samples);
            all.events = done.events;
        }
        all.outcomes.push(done.outcome);
    })?;
    Ok(all)
}

/// Runs every combination of the values. With the same seed, all combinations have the same losses (paired runs).
#[pyfunction]
#[pyo3(signature = (scenario, vary, runs=None, seed=None, jobs=None, metrics=Vec::new(), against=Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub fn compare(
    py: Python<'_>,
    scenario: &Scenario,
    vary: Vec<(String, Vec<String>)>,
    runs: Option<i64>,
    seed: Option<u64>,
    jobs: Option<i64>,
    metrics: Vec<String>,
    against: Vec<(String, String)>,
) -> PyResult<Comparison> {
    let chosen = metrics.iter().map(|name| quantity(py, name)).collect::<PyResult<Vec<Quantity>>>()?;
    let variations: Vec<Variation> =
        vary.into_iter().map(|(path, values)| Variation { path, values }).collect();
    let cases =
        cases(&scenario.draft, &variations).map_err(|problem| crate::error::of_problem(py, &problem))?;
    let determinism = Determinism::of(cases.iter().map(|case| &case.scenario));
    let Some(first) = cases.first().map(|case| &case.scenario) else {
        return Err(bad_input(py, "there are no values to compare", "give each key at least one value"));
    };
    let runs = checked_runs(py, runs)?.unwrap_or_else(|| determinism.worth_running(first.runs));
    let seed = seed.unwrap_or(first.seed);
    let paths = variations.into_iter().map(|variation| variation.path).collect();
    let mut done = Cases::new(paths, cases, chosen);
    if !against.is_empty() {
        let one = |(path, value)| Variation { path, values: vec![value] };
        let against: Vec<Variation> = against.into_iter().map(one).collect();
        done.set_baseline(&against)
            .map_err(|it| bad_input(py, format!("`against`: {}", it.message), it.help))?;
    }
    let scenarios: Vec<_> = done.cases.iter().map(|case| Arc::new(case.scenario.clone())).collect();
    let count = runs as usize * scenarios.len();
    let repetition = move |at: usize| Repetition {
        scenario: scenarios[at % scenarios.len()].clone(),
        seed: seed_of(seed, (at / scenarios.len()) as u32),
        samples: false,
        events: false,
    };
    run_each(py, count, jobs, scenario.has_strategies, repetition, |one| {
        let (case, _) = done.next_index();
        done.push(case, one.outcome);
    })?;
    done.truncate_to_independent(&determinism);
    Ok(Comparison(done))
}

pub fn quantity(py: Python<'_>, name: &str) -> PyResult<Quantity> {
    Quantity::named(name).ok_or_else(|| {
        let known: Vec<&str> = Quantity::all().map(Quantity::name).collect();
        bad_input(py, format!("there is no metric `{name}`"), format!("expected one of {}", known.join(", ")))
    })
}

/// Performs a run on this thread. The scenario has mechanisms in Python.
///
/// # Errors
/// Fails with the first exception of a hook.
pub fn run_with_python(
    py: Python<'_>,
    scenario: Arc<lasthop_scenario::Scenario>,
    seed: u64,
) -> PyResult<Outcome> {
    let repetition = Repetition { scenario, seed, samples: false, events: false };
    repetition.run_on_this_thread(py).map(|done| done.outcome)
}

struct Repetition {
    scenario: Arc<lasthop_scenario::Scenario>,
    seed: u64,
    samples: bool,
    events: bool,
}

impl Repetition {
    fn observation(&self) -> Observation {
        let observers: Vec<Box<dyn lasthop_engine::Observer>> =
            if self.events { vec![Box::<Events>::default()] } else { Vec::new() };
        Observation { observers, probes: self.samples, link_delays: true, stack_logs: Vec::new() }
    }

    /// Ends the run and returns its results. Returns an error if the virtual time of the run did not advance.
    fn finish(running: SteppedRun<'_>) -> Result<FinishedRun, Stuck> {
        let (mut outcome, samples, observers) = running.finish();
        match outcome.stuck.take() {
            None => Ok(FinishedRun { outcome, samples, events: results::events_of(observers) }),
            Some(stuck) => Err(stuck),
        }
    }

    /// Performs the run, and checks `stop` at intervals. Returns `None` if the run was ended by `stop`.
    fn run_unless(&self, stop: &AtomicBool) -> Option<Result<FinishedRun, Stuck>> {
        let mut running = SteppedRun::new(&self.scenario, self.seed, self.observation());
        while running.advance(EVENTS_PER_STEP) {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
        }
        Some(Repetition::finish(running))
    }

    /// Performs the run on this thread. Returns the first exception of a hook as an error.
    fn run_on_this_thread(&self, py: Python<'_>) -> PyResult<FinishedRun> {
        strategy::begin();
        let mut running = SteppedRun::new(&self.scenario, self.seed, self.observation());
        let mut released = Instant::now();
        loop {
            let has_more = running.advance(EVENTS_PER_PYTHON_STEP);
            strategy::failure()?;
            if !has_more {
                return Repetition::finish(running).map_err(|stuck| bad_input(py, stuck.message, stuck.help));
            }
            py.check_signals()?;
            if released.elapsed() >= RELEASE_INTERVAL {
                py.detach(|| ());
                released = Instant::now();
            }
        }
    }
}

fn run_each(
    py: Python<'_>,
    count: usize,
    jobs: Option<i64>,
    on_this_thread: bool,
    repetition: impl Fn(usize) -> Repetition + Send + Sync + 'static,
    mut handle: impl FnMut(FinishedRun),
) -> PyResult<()> {
    let jobs = threads(py, jobs)?;
    if on_this_thread {
        for at in 0..count {
            handle(repetition(at).run_on_this_thread(py)?);
        }
        return Ok(());
    }
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let mut work = InOrder::begin(count, jobs.or(cores()), move |at| repetition(at).run_unless(&stopped))
        .map_err(|error| {
            bad_input(
                py,
                format!("cannot start a thread: {error}"),
                "the limit of processes may be reached: see ulimit -u",
            )
        })?;
    loop {
        match py.detach(|| work.next_within(SIGNAL_CHECK_INTERVAL)) {
            NextResult::Item(Some(Ok(done))) => handle(done),
            NextResult::Item(Some(Err(stuck))) => {
                stop.store(true, Ordering::Relaxed);
                return Err(bad_input(py, stuck.message, stuck.help));
            }
            NextResult::Item(None) | NextResult::NotYet => {}
            NextResult::End => return Ok(()),
        }
        if let Err(interrupt) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            return Err(interrupt);
        }
    }
}

/// Checks that a number of threads is within the range that the command accepts.
pub fn threads(py: Python<'_>, jobs: Option<i64>) -> PyResult<Option<usize>> {
    match jobs {
        None => Ok(None),
        Some(jobs @ 1..=1024) => Ok(usize::try_from(jobs).ok()),
        Some(jobs) => {
            let message = format!("jobs = {jobs}: expected a whole number from 1 to 1024");
            Err(bad_input(py, message, "omit jobs for one thread per core"))
        }
    }
}

fn cores() -> Option<usize> {
    thread::available_parallelism().ok().map(NonZero::get)
}
