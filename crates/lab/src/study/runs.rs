//! All runs of a paper: each scenario once with each seed, on all cores; what is kept of a run are its metrics.

use super::cells::{Cell, Mode};
use super::columns::{self, Run};
use super::expression::Expression;
use super::file::{Grid, Ordered, Part};
use super::store::{Store, Values};
use super::study::Study;
use super::value::{Place, Texts, Value};
use crate::digest;
use crate::progress::Progress;
use crate::repeat::seed_of;
use lasthop_scenario::{Problem, Scenario};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A grid's results under some answers.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Its axes with the values that were run.
    pub axes: Vec<(String, Vec<Value>)>,
    /// Repetitions asked for.
    pub runs: usize,
    /// Whether nothing in it is random.
    pub is_exact: bool,
    /// By cell.
    cells: Vec<CellResults>,
}

#[derive(Clone, Debug)]
struct CellResults {
    place: Place,
    /// By metric and repetition.
    values: BTreeMap<String, Vec<Option<f64>>>,
}

impl Results {
    /// A metric's values by repetition at a place; axes with one value need not be named.
    pub fn values(&self, metric: &str, place: &Place) -> Option<&[Option<f64>]> {
        let is_there = |cell: &&CellResults| {
            self.axes.iter().all(|(axis, values)| match place.get(axis) {
                Some(value) => cell.place[axis].same(value),
                None => values.len() == 1,
            })
        };
        self.cells.iter().find(is_there)?.values.get(metric).map(Vec::as_slice)
    }

    /// The values of an axis that were run.
    pub fn axis(&self, name: &str) -> &[Value] {
        self.axes.iter().find(|(axis, _)| axis == name).map_or(&[], |(_, values)| values)
    }
}

/// A paper's results under one set of answers, by grid.
pub type Frame = BTreeMap<String, Results>;

/// Grids to be run under a set of answers.
pub struct Order<'a> {
    /// Their names.
    pub grids: Vec<&'a str>,
    /// The answers' parts.
    pub parts: Vec<&'a Part>,
    /// How much.
    pub mode: Mode,
}

impl<'a> Order<'a> {
    /// The grids of which something is run.
    fn run(&self, study: &'a Study) -> impl Iterator<Item = (&'a String, &'a Grid)> {
        let grids = self.grids.iter().filter_map(|name| study.file.grid.get_key_value(*name));
        grids.filter(|(_, grid)| !grid.computed && self.mode.runs(grid) > 0)
    }
}

/// The axes of a grid with the values that are run.
pub fn axes(study: &Study, grid: &Grid, mode: Mode) -> Vec<(String, Vec<Value>)> {
    let axis = |name: &String| {
        let values = study.file.axis.get(name).map(|axis| mode.values(axis)).unwrap_or_default();
        let only = grid.only.get(name);
        let kept = values.iter().filter(|value| only.is_none_or(|only| only.takes(value)));
        (name.clone(), kept.cloned().collect())
    };
    grid.axes.iter().map(axis).collect()
}

/// Every combination, the first axis slowest.
pub fn places(axes: &[(String, Vec<Value>)]) -> Vec<Place> {
    let mut places = vec![Place::new()];
    for (axis, values) in axes {
        let with = |place: Place| values.iter().map(move |value| with_value(&place, axis, value));
        places = places.into_iter().flat_map(with).collect();
    }
    places
}

/// A place with a value on one axis.
pub fn with_value(place: &Place, axis: &str, value: &Value) -> Place {
    let mut place = place.clone();
    place.insert(axis.to_owned(), value.clone());
    place
}

struct Job<'a> {
    cell: Cell<'a>,
    metrics: Arc<Vec<(String, Expression)>>,
    scenario: Option<Arc<Scenario>>,
    /// The scenario's keys as they are set.
    written: String,
    seed: u64,
}

/// Runs all orders; one frame for each. Equal scenarios are run once.
///
/// # Errors
/// The first thing that is wrong with any of their scenarios, before anything is run; or that the user stopped it.
pub fn run(
    study: &Study,
    orders: &[Order<'_>],
    seed: u64,
    store: &Store,
    progress: &dyn Progress,
) -> Result<Vec<Frame>, Problem> {
    let mut jobs: Vec<Job<'_>> = Vec::new();
    let mut known: BTreeMap<(&str, String, u64), usize> = BTreeMap::new();
    // By order, grid, cell and repetition: the job.
    let mut wanted = Vec::new();
    for order in orders {
        for (name, grid) in order.run(study) {
            let metrics = Arc::new(study.metrics_of(name));
            for place in places(&axes(study, grid, order.mode)) {
                let cell = Cell { study, name, grid, place, parts: &order.parts, mode: order.mode };
                let key = cell.key()?;
                let mut shared = None;
                let mut numbers = Vec::new();
                for run in 0..order.mode.runs(grid) {
                    let seed = seed_of(seed, run);
                    let full = (name.as_str(), key.clone(), seed);
                    let number = match known.get(&full) {
                        Some(number) => *number,
                        None => {
                            if shared.is_none() {
                                shared = Some(checked(&cell, &metrics, seed)?);
                            }
                            let scenario = shared.clone().filter(|_| !cell.draws());
                            let (cell, written) = (cell.clone(), key.clone());
                            jobs.push(Job { cell, metrics: Arc::clone(&metrics), scenario, written, seed });
                            known.insert(full, jobs.len() - 1);
                            jobs.len() - 1
                        }
                    };
                    numbers.push(number);
                }
                wanted.push(numbers);
            }
        }
    }
    progress.begin(&study.file.paper, jobs.len() as u64);
    let done: Result<Vec<Values>, Problem> = jobs.par_iter().map(|job| job.run(store, progress)).collect();
    progress.end();
    let done = done?;
    let mut wanted = wanted.into_iter();
    Ok(orders.iter().map(|order| frame(study, order, &mut wanted, &done)).collect())
}

/// Makes a scenario of every cell without running it, and checks every formula there.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(study: &Study, orders: &[Order<'_>], seed: u64) -> Result<usize, Problem> {
    let mut cells = 0;
    for order in orders {
        for name in &order.grids {
            let Some((name, grid)) = study.file.grid.get_key_value(*name) else { continue };
            if order.mode.runs(grid) == 0 {
                continue;
            }
            let metrics = study.metrics_of(name);
            for place in places(&axes(study, grid, order.mode)) {
                let cell = Cell { study, name, grid, place, parts: &order.parts, mode: order.mode };
                checked(&cell, &metrics, seed)?;
                cells += 1;
            }
        }
    }
    Ok(cells)
}

/// The cell's first scenario, in which every formula has been checked.
fn checked(cell: &Cell<'_>, metrics: &[(String, Expression)], seed: u64) -> Result<Arc<Scenario>, Problem> {
    let scenario = cell.scenario(seed)?;
    for (metric, formula) in metrics {
        columns::check(formula, &scenario, &cell.place, &cell.groups()).map_err(|(message, help)| {
            let heading = format!("[metric.{metric}]");
            let quoted = format!("[metric.\"{metric}\"]");
            let text = &cell.study.text;
            let heading = if text.text.contains(&heading) { heading } else { quoted };
            text.about(
                &[&heading],
                &cell.study.file.metric[metric].of,
                format!("{message} (in the grid `{}`)", cell.name),
            )
            .advise(help)
        })?;
    }
    Ok(Arc::new(scenario))
}

impl Job<'_> {
    fn run(&self, store: &Store, progress: &dyn Progress) -> Result<Values, Problem> {
        if progress.is_cancelled() {
            return Ok(vec![None; self.metrics.len()]);
        }
        let scenario = match &self.scenario {
            Some(scenario) => Arc::clone(scenario),
            None => Arc::new(self.cell.scenario(self.seed)?),
        };
        let groups = self.cell.groups();
        let key = self.key(&scenario, &groups);
        let values = match store.find(&key) {
            Some(values) => values.clone(),
            None => {
                let outcome = lasthop_sim::run(&scenario, self.seed);
                let run = Run { outcome: &outcome, place: &self.cell.place, groups: &groups };
                let values = self.metrics.iter().map(|(_, formula)| formula.value(&run)).collect();
                store.keep(&key, &values);
                values
            }
        };
        progress.step();
        Ok(values)
    }

    /// All that decides its numbers: the scenario as it is written and as it is read, the metrics, the seed.
    fn key(&self, scenario: &Scenario, groups: &Ordered<Texts>) -> String {
        let metrics = format!("{:?} {groups:?} {:?}", self.metrics, self.cell.place);
        digest::key(&[&self.written, &format!("{scenario:?}"), &metrics, &self.seed.to_string()])
    }
}

fn frame(
    study: &Study,
    order: &Order<'_>,
    wanted: &mut impl Iterator<Item = Vec<usize>>,
    done: &[Values],
) -> Frame {
    let mut frame = Frame::new();
    for (name, grid) in study.file.grid.iter().filter(|(_, grid)| grid.computed) {
        let axes = axes(study, grid, order.mode);
        frame.insert(name.clone(), Results { axes, is_exact: true, ..Results::default() });
    }
    for (name, grid) in order.run(study) {
        let axes = axes(study, grid, order.mode);
        let metrics: Vec<String> = study.metrics_of(name).into_iter().map(|(metric, _)| metric).collect();
        let cells = places(&axes)
            .into_iter()
            .zip(wanted.by_ref())
            .map(|(place, jobs)| {
                let of = |at: usize| jobs.iter().map(|job| done[*job][at]).collect();
                let values =
                    metrics.iter().enumerate().map(|(at, metric)| (metric.clone(), of(at))).collect();
                CellResults { place, values }
            })
            .collect();
        let runs = order.mode.runs(grid) as usize;
        frame.insert(name.clone(), Results { axes, runs, is_exact: !grid.random, cells });
    }
    frame
}
