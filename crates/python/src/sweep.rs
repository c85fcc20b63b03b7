//! A sweep in progress. Either `work` performs the runs on threads of this machine, or the caller distributes the runs.
//! A caller that distributes the runs gets runs from `orders`, performs them with `run_orders` in any process, and
//! stores the results with `store_results`.

use crate::error::{bad_input, of_problem};
use crate::scenario::{Scenario, checked_runs};
use crate::strategy;
use crate::table::{Columns, Table};
use crate::work::{SIGNAL_CHECK_INTERVAL, quantity, run_with_python, threads};
use lasthop_lab::compare::{Quantity, Variation};
use lasthop_lab::runs::random::Determinism;
use lasthop_sim::FLOW_METRICS;
use lasthop_sweep::batch;
use lasthop_sweep::driver::{Driver, RunCount, Shard};
use lasthop_sweep::grid::Grid;
use lasthop_sweep::row::{RunRow, SubjectMetrics, subject_metrics};
use lasthop_sweep::rule::{DEFAULT_MAX_RUNS, Precision};
use lasthop_sweep::store::{Combination, Error, Store, StoreReader, StoredRun};
use lasthop_sweep::thread_pool::ThreadPool;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A sweep in progress. Until closed, the sweep is the only writer of its store.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct Sweep {
    driver: Mutex<Option<Driver>>,
    number: i64,
    notes: Vec<String>,
}

#[pymethods]
impl Sweep {
    /// Begins or continues a sweep in this store: every combination of the values of `keys`, each with `runs` runs. If
    /// `until` is given, a combination has as many runs as the means of `metrics` need for the relative precision
    /// `until`, and at most `runs`.
    #[new]
    #[pyo3(signature = (scenario, keys, store, runs=None, until=None, metrics=Vec::new(), seed=None, shard=(1, 1)))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        keys: Vec<(String, Vec<String>)>,
        store: PathBuf,
        runs: Option<i64>,
        until: Option<f64>,
        metrics: Vec<String>,
        seed: Option<u64>,
        shard: (u32, u32),
    ) -> PyResult<Sweep> {
        let variations: Vec<Variation> =
            keys.into_iter().map(|(path, values)| Variation { path, values }).collect();
        let grid = Grid::of(&scenario.draft, &variations).map_err(|problem| of_problem(py, &problem))?;
        let Some(first) = grid.points.first().map(|point| &point.scenario) else {
            return Err(bad_input(py, "the sweep has no points", "give each key at least one value"));
        };
        let runs = checked_runs(py, runs)?;
        let mut chosen =
            metrics.iter().map(|name| quantity(py, name)).collect::<PyResult<Vec<Quantity>>>()?;
        if chosen.is_empty() {
            chosen.push(Quantity::OfFlow(&FLOW_METRICS[0]));
        }
        let count = match until {
            None => {
                let determinism = Determinism::of(grid.points.iter().map(|point| &*point.scenario));
                RunCount::Runs(runs.unwrap_or_else(|| determinism.worth_running(first.runs)))
            }
            Some(share) => match Precision::new(share) {
                Some(precision) => RunCount::Until(precision, chosen, runs.unwrap_or(DEFAULT_MAX_RUNS)),
                None => {
                    let message = format!("until = {share}: expected a share of the mean between 0 and 1");
                    return Err(bad_input(py, message, "for instance until=0.02 for 2 %"));
                }
            },
        };
        let shard = Shard { number: shard.0, of: shard.1 };
        let seed = seed.unwrap_or(first.seed);
        let begun = py.detach(|| Driver::begin(Store::open(&store)?, &grid, count, seed, shard));
        let driver = begun.map_err(|error| store_error(py, &error))?;
        let notes = lasthop_scenario::notes_of_all(grid.points.iter().map(|point| &*point.scenario));
        Ok(Sweep { number: driver.sweep(), driver: Mutex::new(Some(driver)), notes })
    }

    /// Notes on the scenarios, without duplicates.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Number of the sweep in its store.
    #[getter]
    fn number(&self) -> i64 {
        self.number
    }

    /// Three numbers of runs: finished, remaining as far as known, and found in the store at the start.
    fn progress(&self) -> (u64, u64, u64) {
        self.driver().as_ref().map_or((0, 0, 0), |it| (it.done(), it.left(), it.found()))
    }

    /// Messages of failed runs.
    fn failed(&self) -> Vec<String> {
        self.driver().as_ref().map_or(Vec::new(), |driver| driver.failed().to_vec())
    }

    /// Number of points that lack the requested precision after the maximum number of runs.
    fn inexact(&self) -> usize {
        self.driver().as_ref().map_or(0, Driver::inexact)
    }

    /// Performs all runs on threads of this machine, and calls `on_progress` periodically. Ctrl-C interrupts the runs.
    #[pyo3(signature = (jobs=None, on_progress=None))]
    fn work(&self, py: Python<'_>, jobs: Option<i64>, on_progress: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        let most = self.driver().as_ref().map_or(1, |it| it.left().max(1).try_into().unwrap_or(usize::MAX));
        let count = lasthop_lab::in_order::threads(threads(py, jobs)?, most);
        let mut pool = ThreadPool::start(count).map_err(|error| {
            bad_input(
                py,
                format!("cannot start a thread: {error}"),
                "the limit of processes may be reached: see ulimit -u",
            )
        })?;
        let mut reported = 0;
        loop {
            let goes_on = py.detach(|| self.step(&mut pool)).map_err(|error| store_error(py, &error))?;
            let done = self.progress().0;
            if let Some(on_progress) = on_progress.as_ref().filter(|_| done > reported || !goes_on) {
                on_progress.call0()?;
                reported = done;
            }
            if !goes_on {
                return Ok(());
            }
            py.check_signals()?;
        }
    }

    /// Returns up to `most` runs for `run_orders`: digest, scenario and seed of each run. Returns an empty list if no
    /// run is available now.
    fn orders(&self, most: usize) -> Vec<(String, String, u64)> {
        let mut driver = self.driver();
        let Some(driver) = driver.as_mut() else { return Vec::new() };
        let jobs = std::iter::from_fn(|| driver.poll_job()).take(most);
        jobs.map(|job| (job.digest, job.text.to_string(), job.seed)).collect()
    }

    /// Stores results of `run_orders`. Returns the sum of the durations of the runs, s.
    fn store_results(&self, py: Python<'_>, packed: &[u8]) -> PyResult<f64> {
        let rows = py.detach(|| batch::unpack(packed)).ok_or_else(|| {
            bad_input(
                py,
                "these bytes are not a result of run_orders",
                "the executor must return results unchanged",
            )
        })?;
        let wall_s = rows.iter().map(|row| row.wall_s).sum();
        py.detach(|| self.store_rows(rows)).map_err(|error| store_error(py, &error))?;
        Ok(wall_s)
    }

    /// Stores a run as failed, with the reason `why`.
    fn abandon(&self, py: Python<'_>, digest: String, seed: u64, why: String) -> PyResult<()> {
        let row = RunRow { digest, seed, wall_s: 0.0, outcome: Err(why) };
        py.detach(|| self.store_rows(vec![row])).map_err(|error| store_error(py, &error))
    }

    /// Commits all results and closes the store.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Some(driver) = self.driver().take() else { return Ok(()) };
        py.detach(|| driver.into_store().map(Store::close)).map_err(|error| store_error(py, &error))
    }
}

impl Sweep {
    fn driver(&self) -> MutexGuard<'_, Option<Driver>> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store_rows(&self, rows: Vec<RunRow>) -> Result<(), Error> {
        match self.driver().as_mut() {
            Some(driver) => rows.into_iter().try_for_each(|row| driver.handle_row(row)),
            None => Ok(()),
        }
    }

    /// Submits runs and stores results until the next check for signals. Returns false if all runs are done.
    fn step(&self, pool: &mut ThreadPool) -> Result<bool, Error> {
        let mut driver = self.driver();
        let Some(driver) = driver.as_mut() else { return Ok(false) };
        let until = Instant::now() + SIGNAL_CHECK_INTERVAL;
        loop {
            while pool.has_room()
                && let Some(job) = driver.poll_job()
            {
                pool.submit(job);
            }
            if pool.is_idle() {
                return Ok(false);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return driver.handle_time().map(|()| true);
            }
            if let Some(row) = pool.next_within(left) {
                driver.handle_row(row)?;
            }
        }
    }
}

/// Performs runs for a sweep of another process. Returns the bytes for `Sweep.store_results`. `strategies` are
/// mechanisms in Python: kind of mechanism (seam), name, and the object, which is copied for each use.
#[pyfunction]
#[pyo3(signature = (orders, strategies=Vec::new()))]
pub fn run_orders(
    py: Python<'_>,
    orders: Vec<(String, String, u64)>,
    strategies: Vec<strategy::Named>,
) -> PyResult<Bound<'_, PyBytes>> {
    static KNOWN: batch::ScenarioCache = batch::ScenarioCache::empty();
    let rows = if strategies.is_empty() {
        py.detach(|| batch::run(&orders, &KNOWN))
    } else {
        run_with_strategies(py, &orders, strategies)?
    };
    rows.map(|rows| PyBytes::new(py, &batch::pack(&rows))).map_err(|why| {
        let message = format!("a worker cannot run this sweep: {why}");
        bad_input(
            py,
            message,
            "install the same version of lasthop on all machines, with the same recordings",
        )
    })
}

/// Performs runs with mechanisms in Python, one run after another. If a hook raises an exception, the result of the run
/// is the exception instead of metrics.
fn run_with_strategies(
    py: Python<'_>,
    orders: &[batch::RunRequest],
    strategies: Vec<strategy::Named>,
) -> PyResult<Result<Vec<RunRow>, String>> {
    let (catalogue, known) = (strategy::catalogue(py, strategies)?, batch::ScenarioCache::empty());
    let mut rows = Vec::new();
    for (digest, text, seed) in orders {
        let scenario = match known.scenario(digest, text, &catalogue) {
            Ok(scenario) => scenario,
            Err(why) => return Ok(Err(why)),
        };
        let begun = Instant::now();
        let outcome = match run_with_python(py, scenario, *seed) {
            Ok(outcome) => Ok(subject_metrics(&outcome)),
            Err(error) if error.is_instance_of::<PyException>(py) => Err(error.to_string()),
            Err(interrupt) => return Err(interrupt),
        };
        let wall_s = begun.elapsed().as_secs_f64();
        rows.push(RunRow { digest: digest.clone(), seed: *seed, wall_s, outcome });
    }
    Ok(Ok(rows))
}

/// Table of a sweep in a store: one row for each run and flow. `sweep` may be omitted if the store has only one sweep.
#[pyfunction]
#[pyo3(signature = (store, sweep=None))]
pub fn read_store(py: Python<'_>, store: PathBuf, sweep: Option<i64>) -> PyResult<Table> {
    rows(py, &store, sweep)
}

/// Adds the runs of other stores. Returns two numbers for each store: new runs, and runs that were known before.
#[pyfunction]
pub fn merge_stores(py: Python<'_>, store: PathBuf, others: Vec<PathBuf>) -> PyResult<Vec<(u64, u64)>> {
    let merged = py.detach(|| {
        // Checks that all other stores are readable before the target store is created.
        others.iter().try_for_each(|other| StoreReader::open(other).map(drop))?;
        let mut store = Store::open(&store)?;
        let merged = others.iter().map(|other| store.merge(other).map(|it| (it.new, it.known)));
        let merged = merged.collect::<Result<Vec<(u64, u64)>, Error>>()?;
        store.close();
        Ok(merged)
    });
    merged.map_err(|error| store_error(py, &error))
}

fn rows(py: Python<'_>, store: &Path, number: Option<i64>) -> PyResult<Table> {
    let failed = |error| store_error(py, &error);
    let reader = StoreReader::open(store).map_err(failed)?;
    let sweeps = reader.contents().sweeps().map_err(failed)?;
    let wanted = sweeps.iter().filter(|sweep| number.is_none_or(|number| sweep.number == number));
    let [sweep] = &wanted.collect::<Vec<_>>()[..] else {
        let (count, shown) = (sweeps.len(), store.display());
        return Err(match number {
            None => {
                bad_input(py, format!("`{shown}` has {count} sweeps"), "choose one, for instance sweep=1")
            }
            Some(number) => {
                bad_input(py, format!("`{shown}` has no sweep {number}"), format!("the store has {count}"))
            }
        });
    };
    let read = || -> Result<Vec<(Combination, Vec<StoredRun>)>, Error> {
        let contents = reader.contents();
        contents.with_snapshot(|| {
            let combinations = contents.combinations(sweep.number)?.into_iter();
            combinations
                .map(|combination| contents.runs(&combination.digest, true).map(|runs| (combination, runs)))
                .collect()
        })
    };
    let read = read().map_err(failed)?;
    // Repetitions have consecutive seeds. The number of a repetition is therefore the same in every combination.
    let first = read.iter().flat_map(|(_, runs)| runs).map(|run| run.seed).min().unwrap_or(0);
    let all: Vec<(&Combination, &StoredRun, &str, &SubjectMetrics)> = read
        .iter()
        .flat_map(|(combination, runs)| runs.iter().map(move |run| (combination, run)))
        .flat_map(|(combination, run)| run.flows().map(move |(name, flow)| (combination, run, name, flow)))
        .collect();
    let mut columns = Columns::default();
    for (at, path) in sweep.paths.iter().enumerate() {
        let values: Vec<&str> =
            all.iter().map(|(combination, ..)| combination.x.get(at).map_or("", String::as_str)).collect();
        columns = columns.values(path, "value of the varied key", &values);
    }
    columns = columns
        .words("flow", "the flow's name", all.iter().map(|(_, _, name, _)| Some(*name)))
        .counts(
            "run",
            "number of the repetition, from 1",
            all.iter().map(|it| i64::try_from(it.1.seed - first + 1).ok()),
        )
        .seeds("seed", "seed of the run: equal seeds give equal losses", all.iter().map(|it| it.1.seed));
    for quantity in Quantity::all() {
        columns = match quantity {
            Quantity::OfFlow(metric) => columns.numbers(metric.name, metric.doc, {
                all.iter().map(|(_, _, _, flow)| flow.number(metric.name))
            }),
            Quantity::Aggregate((name, _, doc)) => {
                columns.numbers(name, doc, all.iter().map(|(_, run, ..)| run.together(name)))
            }
        };
    }
    columns.table(py)
}

fn store_error(py: Python<'_>, error: &Error) -> PyErr {
    bad_input(py, error.to_string(), error.help())
}
