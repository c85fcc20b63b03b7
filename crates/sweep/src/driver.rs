//! Driver of a sweep: chooses the order of the runs and stores their results.
//!
//! A point is one combination of values. [`Driver::poll_job`] returns the next run to execute, until the sweep is
//! complete. Runs that the store already contains are skipped. [`Driver::handle_row`] accepts results in any order. All
//! points are simulated with the first seed before any point is simulated with the second seed. Every point uses the
//! same seeds.

use crate::grid::Grid;
use crate::row::RunRow;
use crate::rule::Precision;
use crate::store::{Error, Store, StoredRun};
use lasthop_lab::compare::Quantity;
use lasthop_lab::repeat::seed_of;
use lasthop_lab::runs::random::Determinism;
use lasthop_scenario::Scenario;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time from the arrival of a result to its commit. Results are committed in groups because each commit waits
/// for the disk.
const COMMIT_INTERVAL: Duration = Duration::from_millis(250);

/// Number of runs of each point. The number is fixed, or a stopping rule determines it.
#[derive(Clone)]
pub enum RunCount {
    /// A fixed number of runs.
    Runs(u32),
    /// A stopping rule. Runs are added until the means of these quantities over flows reach this precision, or until
    /// the number of runs reaches this limit. A scenario without randomness has only one run.
    Until(Precision, Vec<Quantity>, u32),
}

impl RunCount {
    fn max_runs(&self, scenario: &Scenario) -> u32 {
        match self {
            RunCount::Runs(runs) => *runs,
            RunCount::Until(_, _, most) => Determinism::of(std::iter::once(scenario)).worth_running(*most),
        }
    }

    fn quantities(&self) -> Option<&[Quantity]> {
        match self {
            RunCount::Runs(_) => None,
            RunCount::Until(_, quantities, _) => Some(quantities),
        }
    }

    fn rule_values(&self, run: &StoredRun) -> Vec<Option<f64>> {
        self.quantities().unwrap_or_default().iter().map(|quantity| run.of_all(*quantity)).collect()
    }
}

/// A shard: part `number` of the `of` parts of a sweep. Different machines may simulate the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of this part, counted from 1.
    pub number: u32,
    /// Number of parts of the sweep, at least 1.
    pub of: u32,
}

impl Shard {
    /// The whole sweep as a single part.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    fn has(self, index: u64) -> bool {
        index % u64::from(self.of) == u64::from(self.number - 1)
    }
}

/// Run to execute.
#[derive(Clone, Debug)]
pub struct RunJob {
    /// Digest of the point that the run belongs to.
    pub digest: String,
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The resolved scenario as TOML, which other processes parse.
    pub text: Arc<str>,
    /// The seed.
    pub seed: u64,
}

/// Point in progress. Combinations that resolve to the same scenario share one point.
struct PointState {
    digest: String,
    scenario: Arc<Scenario>,
    text: Arc<str>,
    /// Values that the stopping rule checks, by the number of the run (from 0). The list of values is empty for a
    /// failed run, and for all runs if the sweep has no stopping rule.
    done: BTreeMap<u32, Vec<Option<f64>>>,
    /// Number of runs that are currently wanted. The stopping rule may raise this number.
    wanted: u32,
    /// Number of wanted runs of this shard whose results are missing.
    open: u32,
}

/// Sweep in progress. The driver is the only writer of its store. All errors of the driver are errors of the store.
pub struct Driver {
    store: Store,
    sweep: i64,
    seed: u64,
    count: RunCount,
    shard: Shard,
    points: Vec<PointState>,
    point_count: u64,
    index_by_digest: BTreeMap<String, usize>,
    /// Heap of pairs: number of a run, and index of a point. Each point that may need more runs has one pair, for its
    /// next run. The smallest pair is popped first.
    next: BinaryHeap<Reverse<(u32, usize)>>,
    /// Results that are not committed.
    waiting: Vec<RunRow>,
    /// Arrival time of the first result that is not committed.
    since: Option<Instant>,
    found: u64,
    done: u64,
    failed: Vec<String>,
}

impl Driver {
    /// Starts or continues a sweep. The repetitions of each point use the seeds `seed`, `seed + 1` …
    pub fn begin(
        mut store: Store,
        grid: &Grid,
        count: RunCount,
        seed: u64,
        shard: Shard,
    ) -> Result<Driver, Error> {
        let sweep = store.add(grid)?;
        let mut index_by_digest = BTreeMap::new();
        let mut points = Vec::new();
        let contents = store.contents();
        contents.with_snapshot(|| {
            for point in &grid.points {
                if index_by_digest.contains_key(&point.digest) {
                    continue;
                }
                index_by_digest.insert(point.digest.clone(), points.len());
                let most = count.max_runs(&point.scenario);
                let mut done = BTreeMap::new();
                for run in contents.runs(&point.digest, count.quantities().is_some())? {
                    let number = run.seed.wrapping_sub(seed);
                    if number < u64::from(most) {
                        done.insert(number as u32, count.rule_values(&run));
                    }
                }
                points.push(PointState {
                    digest: point.digest.clone(),
                    scenario: Arc::clone(&point.scenario),
                    text: point.text.as_str().into(),
                    done,
                    wanted: 0,
                    open: 0,
                });
            }
            Ok::<_, Error>(())
        })?;
        let mut driver = Driver {
            store,
            sweep,
            seed,
            count,
            shard,
            point_count: points.len() as u64,
            points,
            index_by_digest,
            next: BinaryHeap::new(),
            waiting: Vec::new(),
            since: None,
            found: 0,
            done: 0,
            failed: Vec::new(),
        };
        (0..driver.points.len()).for_each(|index| driver.request_runs(index));
        Ok(driver)
    }

    /// Returns the next run to execute. Returns `None` if no run can start now. If in addition no run is in progress,
    /// the sweep is complete.
    pub fn poll_job(&mut self) -> Option<RunJob> {
        while let Some(Reverse((run, index))) = self.next.pop() {
            let point = &self.points[index];
            if run + 1 < point.wanted {
                self.next.push(Reverse((run + 1, index)));
            }
            if self.is_in_shard(run, index) && !point.done.contains_key(&run) {
                return Some(RunJob {
                    digest: point.digest.clone(),
                    scenario: Arc::clone(&point.scenario),
                    text: Arc::clone(&point.text),
                    seed: seed_of(self.seed, run),
                });
            }
        }
        None
    }

    /// Accepts the result of a run. If the oldest uncommitted result arrived at least 250 ms ago, commits all results.
    /// If not, a later call of this function or of [`Driver::handle_time`] commits them.
    pub fn handle_row(&mut self, row: RunRow) -> Result<(), Error> {
        let Some(index) = self.index_by_digest.get(&row.digest).copied() else { return Ok(()) };
        let number = row.seed.wrapping_sub(self.seed);
        let point = &self.points[index];
        if number >= u64::from(point.wanted) || point.done.contains_key(&(number as u32)) {
            return Ok(());
        }
        if let Err(why) = &row.outcome {
            self.failed.push(format!("seed {}: {why}", row.seed));
        }
        let subject_metrics = row.outcome.as_ref().map(Vec::as_slice).unwrap_or_default();
        let values =
            self.count.rule_values(&StoredRun { seed: row.seed, subject_metrics: subject_metrics.to_vec() });
        let point = &mut self.points[index];
        point.done.insert(number as u32, values);
        point.open -= 1;
        self.done += 1;
        self.waiting.push(row);
        if self.points[index].open == 0 {
            self.request_runs(index);
        }
        self.since.get_or_insert_with(Instant::now);
        self.handle_time()
    }

    /// Commits all results if the oldest uncommitted result arrived at least 250 ms ago.
    pub fn handle_time(&mut self) -> Result<(), Error> {
        match self.since {
            Some(since) if since.elapsed() >= COMMIT_INTERVAL => self.commit(),
            _ => Ok(()),
        }
    }

    /// Commits all uncommitted results.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.store.commit(&self.waiting)?;
        self.waiting.clear();
        self.since = None;
        Ok(())
    }

    /// Returns the number of runs of this sweep that the store already had.
    pub fn found(&self) -> u64 {
        self.found
    }

    /// Returns the number of runs whose results have arrived.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Returns the number of runs whose results are missing. With a stopping rule, the number is an estimate.
    pub fn left(&self) -> u64 {
        let open: u64 = self.points.iter().map(|point| u64::from(point.open)).sum();
        let RunCount::Until(precision, ..) = &self.count else { return open };
        let further = |point: &PointState| {
            let most = self.count.max_runs(&point.scenario);
            let needed = columns(&point.done, point.wanted).iter().map(|it| precision.expected(it)).max();
            needed.unwrap_or(0).min(most).saturating_sub(point.wanted)
        };
        open + self.points.iter().filter(|point| point.open > 0).map(|it| u64::from(further(it))).sum::<u64>()
    }

    /// Returns the error messages of the failed runs.
    pub fn failed(&self) -> &[String] {
        &self.failed
    }

    /// Returns the number of points that reached the limit of runs without the required precision.
    pub fn inexact(&self) -> usize {
        let RunCount::Until(precision, _, most) = &self.count else { return 0 };
        let is_inexact = |point: &&PointState| {
            let enough = |values: &Vec<Option<f64>>| precision.is_reached(values);
            point.wanted >= *most && point.open == 0 && !columns(&point.done, *most).iter().all(enough)
        };
        self.points.iter().filter(is_inexact).count()
    }

    /// Returns the number of the sweep in its store.
    pub fn sweep(&self) -> i64 {
        self.sweep
    }

    /// Commits all results and returns the store.
    pub fn into_store(mut self) -> Result<Store, Error> {
        self.commit()?;
        Ok(self.store)
    }

    /// Requests more runs of a point until this shard has a run to execute, or until the point needs no more runs.
    fn request_runs(&mut self, index: usize) {
        while self.points[index].open == 0 {
            let point = &self.points[index];
            let (before, most) = (point.wanted, self.count.max_runs(&point.scenario));
            let wanted = match &self.count {
                RunCount::Runs(runs) => *runs,
                // A stopping rule needs all runs of a point in one shard. A point of a different shard gets no runs.
                RunCount::Until(..) if !self.shard.has(index as u64) => 0,
                RunCount::Until(precision, ..) => {
                    let enough = |values: &Vec<Option<f64>>| precision.is_reached(values);
                    if before > 0 && columns(&point.done, before).iter().all(enough) {
                        before
                    } else {
                        Precision::next_check(before).min(most)
                    }
                }
            };
            if wanted <= before {
                return;
            }
            let mine = || (before..wanted).filter(|run| self.is_in_shard(*run, index));
            let mut open = mine().filter(|run| !point.done.contains_key(run)).peekable();
            let first = open.peek().copied();
            let open = open.count() as u32;
            self.found += mine().count() as u64 - u64::from(open);
            let point = &mut self.points[index];
            (point.wanted, point.open) = (wanted, open);
            self.next.extend(first.map(|run| Reverse((run, index))));
        }
    }

    /// Whether a run belongs to this shard. With a fixed number of runs, the runs are divided among the shards. With a
    /// stopping rule, whole points are divided among the shards.
    fn is_in_shard(&self, run: u32, index: usize) -> bool {
        match self.count {
            RunCount::Runs(_) => self.shard.has(u64::from(run) * self.point_count + index as u64),
            RunCount::Until(..) => self.shard.has(index as u64),
        }
    }
}

/// Returns the values of the runs with numbers below `runs`, one list for each quantity.
fn columns(done: &BTreeMap<u32, Vec<Option<f64>>>, runs: u32) -> Vec<Vec<Option<f64>>> {
    let width = done.values().next().map_or(0, Vec::len);
    let of = |at: usize| done.range(..runs).map(|(_, values)| values.get(at).copied().flatten()).collect();
    (0..width).map(of).collect()
}
