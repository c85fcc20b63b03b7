//! Which run is next, and what becomes of one that came back.
//!
//! `poll_job` gives runs until there is none, `handle_row` takes them back in any order. What is in the store already is
//! not given. The order is the first run of every point, then the second of every one …; every point has the same seeds.

use crate::grid::Grid;
use crate::row::Row;
use crate::rule::Precision;
use crate::store::{Error, Run, Store};
use lasthop_lab::compare::Quantity;
use lasthop_lab::repeat::seed_of;
use lasthop_lab::runs::random::Repeats;
use lasthop_scenario::Scenario;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows wait no longer than this until they are safe. Each commit waits for the disk.
const SAFE_WITHIN: Duration = Duration::from_millis(250);

/// How often each point is run.
#[derive(Clone)]
pub enum Count {
    /// So many times.
    Runs(u32),
    /// Until the means over flows of these numbers are so exact, or so many times. One run where nothing is random.
    Until(Precision, Vec<Quantity>, u32),
}

impl Count {
    /// How often a point may be run.
    fn most(&self, scenario: &Scenario) -> u32 {
        match self {
            Count::Runs(runs) => *runs,
            Count::Until(_, _, most) => Repeats::of(std::iter::once(scenario)).worth_running(*most),
        }
    }

    fn quantities(&self) -> Option<&[Quantity]> {
        match self {
            Count::Runs(_) => None,
            Count::Until(_, quantities, _) => Some(quantities),
        }
    }

    /// What the rule looks at in a run.
    fn looked_at(&self, run: &Run) -> Vec<Option<f64>> {
        self.quantities().unwrap_or_default().iter().map(|quantity| run.of_all(*quantity)).collect()
    }
}

/// One of several parts that are run apart from each other, on other machines say: the `number`-th of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub number: u32,
    /// At least 1.
    pub of: u32,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Whether the piece of this place is in it.
    fn has(self, place: u64) -> bool {
        place % u64::from(self.of) == u64::from(self.number - 1)
    }
}

/// A run to be done.
#[derive(Clone, Debug)]
pub struct Job {
    /// Of which point.
    pub digest: String,
    /// What is run.
    pub scenario: Arc<Scenario>,
    /// The same as TOML, for who is in another process.
    pub text: Arc<str>,
    /// With which seed.
    pub seed: u64,
}

/// A point under way. Combinations that come to the same scenario are one.
struct Under {
    digest: String,
    scenario: Arc<Scenario>,
    text: Arc<str>,
    /// By run, from 0: the numbers that the rule looks at; without a rule none. A run that failed has no numbers.
    done: BTreeMap<u32, Vec<Option<f64>>>,
    /// Runs wanted so far; grows as the rule looks.
    wanted: u32,
    /// Of these not back yet, in this shard.
    open: u32,
}

/// A sweep under way, the only one who writes to its store.
pub struct Driver {
    store: Store,
    sweep: i64,
    seed: u64,
    count: Count,
    shard: Shard,
    points: Vec<Under>,
    /// How many points there are.
    of: u64,
    places: BTreeMap<String, usize>,
    /// The next run of each point that may have further ones: its number, then the point.
    next: BinaryHeap<Reverse<(u32, usize)>>,
    /// Rows not yet in the store, the first since then.
    waiting: Vec<Row>,
    since: Option<Instant>,
    found: u64,
    done: u64,
    failed: Vec<String>,
}

impl Driver {
    /// Begins, or goes on with, a sweep. Repetitions have the seeds `seed`, `seed + 1` …
    ///
    /// # Errors
    /// What the store says.
    pub fn begin(
        mut store: Store,
        grid: &Grid,
        count: Count,
        seed: u64,
        shard: Shard,
    ) -> Result<Driver, Error> {
        let sweep = store.add(grid)?;
        let mut places = BTreeMap::new();
        let mut points = Vec::new();
        let contents = store.contents();
        contents.at_once(|| {
            for point in &grid.points {
                if places.contains_key(&point.digest) {
                    continue;
                }
                places.insert(point.digest.clone(), points.len());
                let most = count.most(&point.scenario);
                let mut done = BTreeMap::new();
                for run in contents.runs(&point.digest, count.quantities().is_some())? {
                    let number = run.seed.wrapping_sub(seed);
                    if number < u64::from(most) {
                        done.insert(number as u32, count.looked_at(&run));
                    }
                }
                points.push(Under {
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
            of: points.len() as u64,
            points,
            places,
            next: BinaryHeap::new(),
            waiting: Vec::new(),
            since: None,
            found: 0,
            done: 0,
            failed: Vec::new(),
        };
        (0..driver.points.len()).for_each(|place| driver.extend(place));
        Ok(driver)
    }

    /// The next run to do; `None`: none for now, or none at all if nothing is out.
    pub fn poll_job(&mut self) -> Option<Job> {
        while let Some(Reverse((run, place))) = self.next.pop() {
            let point = &self.points[place];
            if run + 1 < point.wanted {
                self.next.push(Reverse((run + 1, place)));
            }
            if self.is_mine(run, place) && !point.done.contains_key(&run) {
                return Some(Job {
                    digest: point.digest.clone(),
                    scenario: Arc::clone(&point.scenario),
                    text: Arc::clone(&point.text),
                    seed: seed_of(self.seed, run),
                });
            }
        }
        None
    }

    /// A run has ended. It is in the store within a quarter of a second if this or [`Driver::handle_time`] is called by
    /// then.
    ///
    /// # Errors
    /// What the store says.
    pub fn handle_row(&mut self, row: Row) -> Result<(), Error> {
        let Some(place) = self.places.get(&row.digest).copied() else { return Ok(()) };
        let number = row.seed.wrapping_sub(self.seed);
        let point = &self.points[place];
        if number >= u64::from(point.wanted) || point.done.contains_key(&(number as u32)) {
            return Ok(());
        }
        if let Err(why) = &row.outcome {
            self.failed.push(format!("seed {}: {why}", row.seed));
        }
        let parts = row.outcome.as_ref().map(Vec::as_slice).unwrap_or_default();
        let values = self.count.looked_at(&Run { seed: row.seed, parts: parts.to_vec() });
        let point = &mut self.points[place];
        point.done.insert(number as u32, values);
        point.open -= 1;
        self.done += 1;
        self.waiting.push(row);
        if self.points[place].open == 0 {
            self.extend(place);
        }
        self.since.get_or_insert_with(Instant::now);
        self.handle_time()
    }

    /// Time has passed: what has waited long enough is made safe.
    ///
    /// # Errors
    /// What the store says.
    pub fn handle_time(&mut self) -> Result<(), Error> {
        match self.since {
            Some(since) if since.elapsed() >= SAFE_WITHIN => self.commit(),
            _ => Ok(()),
        }
    }

    /// Makes safe what came back.
    ///
    /// # Errors
    /// What the store says.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.store.keep(&self.waiting)?;
        self.waiting.clear();
        self.since = None;
        Ok(())
    }

    /// Runs of this sweep that were in the store before.
    pub fn found(&self) -> u64 {
        self.found
    }

    /// Runs that came back.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Runs that are still to come back; with a rule as many as it will probably take.
    pub fn left(&self) -> u64 {
        let open: u64 = self.points.iter().map(|point| u64::from(point.open)).sum();
        let Count::Until(precision, ..) = &self.count else { return open };
        let further = |point: &Under| {
            let most = self.count.most(&point.scenario);
            let needed = columns(&point.done, point.wanted).iter().map(|it| precision.expected(it)).max();
            needed.unwrap_or(0).min(most).saturating_sub(point.wanted)
        };
        open + self.points.iter().filter(|point| point.open > 0).map(|it| u64::from(further(it))).sum::<u64>()
    }

    /// What the runs said that failed.
    pub fn failed(&self) -> &[String] {
        &self.failed
    }

    /// Points whose means are not as exact as was asked for, although they have been run as often as they may be.
    pub fn inexact(&self) -> usize {
        let Count::Until(precision, _, most) = &self.count else { return 0 };
        let is_inexact = |point: &&Under| {
            let enough = |values: &Vec<Option<f64>>| precision.is_reached(values);
            point.wanted >= *most && point.open == 0 && !columns(&point.done, *most).iter().all(enough)
        };
        self.points.iter().filter(is_inexact).count()
    }

    /// The sweep's number in its store.
    pub fn sweep(&self) -> i64 {
        self.sweep
    }

    /// The store, when all is done or nothing more is wanted.
    ///
    /// # Errors
    /// What the store says.
    pub fn into_store(mut self) -> Result<Store, Error> {
        self.commit()?;
        Ok(self.store)
    }

    /// Lets a point have further runs until some of them are to be done here, or it has enough.
    fn extend(&mut self, place: usize) {
        while self.points[place].open == 0 {
            let point = &self.points[place];
            let (before, most) = (point.wanted, self.count.most(&point.scenario));
            let wanted = match &self.count {
                Count::Runs(runs) => *runs,
                // Other points' runs: a rule needs all runs of a point.
                Count::Until(..) if !self.shard.has(place as u64) => 0,
                Count::Until(precision, ..) => {
                    let enough = |values: &Vec<Option<f64>>| precision.is_reached(values);
                    match before > 0 && columns(&point.done, before).iter().all(enough) {
                        true => before,
                        false => Precision::next_look(before).min(most),
                    }
                }
            };
            if wanted <= before {
                return;
            }
            let mine = || (before..wanted).filter(|run| self.is_mine(*run, place));
            let mut open = mine().filter(|run| !point.done.contains_key(run)).peekable();
            let first = open.peek().copied();
            let open = open.count() as u32;
            self.found += mine().count() as u64 - u64::from(open);
            let point = &mut self.points[place];
            (point.wanted, point.open) = (wanted, open);
            self.next.extend(first.map(|run| Reverse((run, place))));
        }
    }

    /// Whether a run is this shard's: every so many-th run, or point where a rule needs all of a point's.
    fn is_mine(&self, run: u32, place: usize) -> bool {
        match self.count {
            Count::Runs(_) => self.shard.has(u64::from(run) * self.of + place as u64),
            Count::Until(..) => self.shard.has(place as u64),
        }
    }
}

/// The first so many runs' values, by number.
fn columns(done: &BTreeMap<u32, Vec<Option<f64>>>, runs: u32) -> Vec<Vec<Option<f64>>> {
    let width = done.values().next().map_or(0, Vec::len);
    let of = |at: usize| done.range(..runs).map(|(_, values)| values.get(at).copied().flatten()).collect();
    (0..width).map(of).collect()
}
