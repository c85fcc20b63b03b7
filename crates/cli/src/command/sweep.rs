//! Command `lasthop sweep`: runs every combination of values and keeps the results in a store.

use super::results;
use super::run::Repetitions;
use crate::bar::Bar;
use crate::cost;
use crate::failure::Failure;
use crate::finished::{Completion, POLL_INTERVAL};
use crate::output::{self, Format};
use crate::scenario_args;
use crate::target::interrupts;
use crate::values::{self, Choices, SweptKey};
use clap::Args;
use lasthop_lab::compare::{Quantity, Variation};
use lasthop_lab::cost::{RunPlan, estimate};
use lasthop_lab::in_order::threads;
use lasthop_lab::progress::Progress;
use lasthop_lab::runs::random::Determinism;
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::FLOW_METRICS;
use lasthop_sweep::driver::{Driver, RunCount, Shard};
use lasthop_sweep::grid::Grid;
use lasthop_sweep::results::ResultSelection;
use lasthop_sweep::rule::{DEFAULT_MAX_RUNS, Precision};
use lasthop_sweep::store::Store;
use lasthop_sweep::thread_pool::ThreadPool;
use std::path::PathBuf;

const MORE: &str = "\
Repeat the command to continue an interrupted sweep: runs in the store are not repeated.
`lasthop results FILE` lists, filters and exports the store, and merges shards.";

/// Run every combination of values and keep the results in a crash-safe store. Prints one row per combination
#[derive(Args)]
#[command(after_help = MORE)]
pub(crate) struct Sweep {
    /// Scenario file, name of a ready path, or one line: rate=10Mbit/s,rtt=20ms,loss=1% or lte,loss=1%
    path: String,
    /// Key with one or more values: recovery=sack,reno. Repeat --set for every combination
    #[arg(long, value_name = "PATH=A,B,C")]
    set: Vec<SweptKey>,
    /// Store of the runs: a file, created if missing
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    #[command(flatten)]
    repetitions: Repetitions,
    /// Run each point until half the 95 % interval of every --metric is within this percentage of its mean. Minimum: 10
    /// runs; maximum: --runs, or 10000
    #[arg(long, value_name = "2%", value_parser = values::precision)]
    until: Option<Precision>,
    /// Run only shard I of N, into a store of its own; `lasthop results --merge` merges the stores of all shards
    #[arg(long, value_name = "I/N", value_parser = values::shard, default_value = "1/1", hide_default_value = true)]
    shard: Shard,
    /// Metrics to print, and for --until: goodput_kbps,timeouts; repeatable (default: goodput)
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = values::quantity)]
    metric: Vec<Quantity>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

impl Sweep {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let choices = || self.set.iter().map(|SweptKey(choices)| choices);
        values::refuse_invalid("--set", choices())?;
        let settings: Vec<Variation> = choices()
            .filter(|Choices { path, .. }| path != "seed" && path != "runs")
            .map(Variation::from)
            .collect();
        let mut draft = Draft::load(&self.path)?;
        for Choices { path, values } in
            choices().filter(|Choices { path, .. }| path == "seed" || path == "runs")
        {
            draft.set(path, &values[0])?;
        }
        let grid = Grid::of(&draft, &settings)?;
        let scenarios = || grid.points.iter().map(|point| &*point.scenario);
        scenario_args::print_notes(&lasthop_scenario::notes_of_all(scenarios()));
        let first = &grid.points[0].scenario;
        let (count, seed) = (self.count(first, &Determinism::of(scenarios())), self.repetitions.seed(first));
        self.print_cost(&count, scenarios());
        let driver = Driver::begin(Store::open(&self.store)?, &grid, count, seed, self.shard)?;
        self.drive(driver)
    }

    fn count(&self, first: &Scenario, determinism: &Determinism) -> RunCount {
        match self.until {
            None => RunCount::Runs(self.repetitions.runs(first, determinism)),
            Some(precision) => {
                let chosen = if self.metric.is_empty() {
                    vec![Quantity::OfFlow(&FLOW_METRICS[0])]
                } else {
                    self.metric.clone()
                };
                RunCount::Until(precision, chosen, self.repetitions.max_runs().unwrap_or(DEFAULT_MAX_RUNS))
            }
        }
    }

    fn print_cost<'s>(&self, count: &RunCount, scenarios: impl ExactSizeIterator<Item = &'s Scenario>) {
        // With `--until`, the number of runs is not known in advance, so the cost cannot be estimated.
        let RunCount::Runs(runs) = count else { return };
        let points = scenarios.len();
        let share = (*runs as usize).div_ceil(self.shard.of as usize);
        let plan = RunPlan {
            runs: share,
            threads: threads(self.repetitions.jobs, share * points),
            keeps_outcomes: false,
            sampled: 0,
        };
        cost::print_if_large(&estimate(scenarios, plan), &plan);
    }

    fn drive(&self, mut driver: Driver) -> Result<(), Failure> {
        if driver.found() > 0 {
            let (found, left) = (driver.found(), driver.left());
            output::note(&format!("note: {found} runs are in the store, {left} remain"));
        }
        let threads = threads(self.repetitions.jobs, driver.left().try_into().unwrap_or(usize::MAX));
        let pool = ThreadPool::start(threads).map_err(Failure::no_threads)?;
        let bar = Bar::default();
        bar.begin("sweep", driver.left());
        let worked = interrupts::handle_during(|| work(&mut driver, pool, &bar));
        bar.end();
        // The results so far are committed even after an error.
        let committed = driver.commit();
        worked.and(committed.map_err(Failure::from))?;
        let (done, of) = (driver.done(), driver.done() + driver.left());
        let (failed, inexact, sweep) = (driver.failed().to_vec(), driver.inexact(), driver.sweep());
        let store = driver.into_store()?;
        let wanted = ResultSelection { quantities: self.metric.clone(), ..ResultSelection::default() };
        results::show(&store.contents(), sweep, &wanted, self.format)?;
        store.close();
        if inexact > 0 {
            output::note(&format!(
                "note: {inexact} points miss the precision of --until after the maximum number of runs"
            ));
        }
        if let Some(first) = failed.first() {
            let message = format!("{} of {of} runs failed; the first: {first}", failed.len());
            return Err(Failure::failed(message, "repeat the command to retry the failed runs"));
        }
        Completion::of(done as usize, of as usize).into_result()
    }
}

fn work(driver: &mut Driver, mut pool: ThreadPool, bar: &Bar) -> Result<(), Failure> {
    loop {
        while pool.has_room()
            && let Some(job) = driver.poll_job()
        {
            pool.submit(job);
        }
        if pool.is_idle() || interrupts::is_interrupted() {
            return Ok(());
        }
        match pool.next_within(POLL_INTERVAL) {
            Some(row) => {
                driver.handle_row(row)?;
                bar.expect(driver.done() + driver.left());
                bar.advance(1);
            }
            None => driver.handle_time()?,
        }
    }
}
