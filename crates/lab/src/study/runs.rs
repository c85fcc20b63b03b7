//! All runs of a paper by grid and cell; only metrics of a run are stored.

use super::cells::{Cell, Mode};
use super::columns;
use super::expression::Expression;
use super::file::{Grid, Part};
use super::jobs::{Jobs, Metrics, Reader, Resolved};
use super::measure::View;
use super::store::Store;
use super::study::Study;
use super::value::{Place, Value};
use super::width;
use crate::progress::Progress;
use crate::repeat::seed_of;
use lasthop_scenario::{Problem, Scenario};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Results of a grid under some answers.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Axes with the values that were run.
    pub axes: Vec<(String, Vec<Value>)>,
    /// Requested repetitions.
    pub runs: usize,
    /// Duration of the runs relative to length 1.
    pub length: u32,
    /// Whether nothing is random.
    pub is_exact: bool,
    cells: Vec<CellResults>,
}

#[derive(Clone, Debug)]
struct CellResults {
    place: Place,
    values: BTreeMap<String, Vec<Option<f64>>>,
}

impl Results {
    /// Index of the cell at a place; axes with a single value may be missing.
    pub fn cell(&self, place: &Place) -> Option<usize> {
        let is_there = |cell: &CellResults| {
            self.axes.iter().all(|(axis, values)| match place.get(axis) {
                Some(value) => cell.place[axis].same(value),
                None => values.len() == 1,
            })
        };
        self.cells.iter().position(is_there)
    }

    /// Values of a metric by repetition in a cell.
    pub fn values(&self, metric: &str, cell: usize) -> Option<&[Option<f64>]> {
        self.cells.get(cell)?.values.get(metric).map(Vec::as_slice)
    }

    /// Values of an axis that were run.
    pub fn axis(&self, name: &str) -> &[Value] {
        self.axes.iter().find(|(axis, _)| axis == name).map_or(&[], |(_, values)| values)
    }
}

/// Results of a paper under one set of answers, by grid.
pub type Frame = BTreeMap<String, Results>;

/// Grids to run under a set of answers.
pub struct Order<'a> {
    /// Names of the grids.
    pub grids: Vec<&'a str>,
    /// Parts of the answers.
    pub parts: Vec<&'a Part>,
    /// Extent of the runs.
    pub mode: Mode,
}

impl<'a> Order<'a> {
    fn run(&self, study: &'a Study) -> impl Iterator<Item = (&'a String, &'a Grid)> {
        let grids = self.grids.iter().filter_map(|name| study.file.grid.get_key_value(*name));
        grids.filter(|(_, grid)| !grid.computed && self.mode.runs(grid) > 0)
    }
}

/// Axes of a grid with the values to run.
pub fn axes(study: &Study, grid: &Grid, mode: Mode) -> Vec<(String, Vec<Value>)> {
    let axis = |name: &String| {
        let values = study.file.axis.get(name).map(|axis| mode.values(axis)).unwrap_or_default();
        let only = grid.only.get(name);
        let kept = values.iter().filter(|value| only.is_none_or(|only| only.takes(value)));
        (name.clone(), kept.cloned().collect())
    };
    grid.axes.iter().map(axis).collect()
}

/// All combinations; the first axis varies slowest.
pub fn places(axes: &[(String, Vec<Value>)]) -> Vec<Place> {
    let mut places = vec![Place::new()];
    for (axis, values) in axes {
        let with = |place: Place| values.iter().map(move |value| with_value(&place, axis, value));
        places = places.into_iter().flat_map(with).collect();
    }
    places
}

/// The place with a value on one axis.
pub fn with_value(place: &Place, axis: &str, value: &Value) -> Place {
    let mut place = place.clone();
    place.insert(axis.to_owned(), value.clone());
    place
}

struct Asked<'a> {
    cell: Cell<'a>,
    order: usize,
    number: usize,
    reader: Reader,
    /// Scenario of all repetitions, if the cell draws no values.
    fixed: Option<Resolved>,
    /// Requested repetitions.
    runs: u32,
    keys: Vec<String>,
}

impl Asked<'_> {
    fn ask(&mut self, jobs: &mut Jobs, seed: u64) -> Result<(), Problem> {
        for run in self.keys.len() as u32..self.runs {
            let seed = seed_of(seed, run);
            self.keys.push(match &self.fixed {
                Some(fixed) => jobs.ask(fixed, seed, &self.reader),
                None => jobs.ask(&Resolved::of(self.cell.scenario(seed)?), seed, &self.reader),
            });
        }
        Ok(())
    }
}

/// Runs all orders, equal scenarios once; returns one frame per order. In full runs, cells of published numbers with
/// wide intervals get more repetitions ([`width`]).
///
/// # Errors
/// If a scenario is invalid (checked before any run), or a run gets stuck.
pub fn run(
    study: &Study,
    orders: &[Order<'_>],
    seed: u64,
    store: &Store,
    progress: &dyn Progress,
) -> Result<Vec<Frame>, Problem> {
    let mut asked = asked(study, orders, seed)?;
    let mut jobs = Jobs::default();
    loop {
        asked.iter_mut().try_for_each(|one| one.ask(&mut jobs, seed))?;
        progress.begin(&study.file.paper, jobs.open() as u64);
        let ran = jobs.run(store, progress);
        progress.end();
        ran.map_err(|stuck| study.text.about(&[], "paper", stuck.message).advise(stuck.help))?;
        let frames = frames(study, orders, &asked, &jobs);
        if progress.is_cancelled() || !grown(study, orders, &frames, &mut asked) {
            return Ok(frames);
        }
    }
}

fn asked<'a>(study: &'a Study, orders: &'a [Order<'a>], seed: u64) -> Result<Vec<Asked<'a>>, Problem> {
    let mut asked = Vec::new();
    for (number, order) in orders.iter().enumerate() {
        for (name, grid) in order.run(study) {
            let metrics: Metrics = Arc::new(study.metrics_of(name));
            for (at, place) in places(&axes(study, grid, order.mode)).into_iter().enumerate() {
                let cell = Cell { study, name, grid, place, parts: &order.parts, mode: order.mode };
                let resolved = Resolved::of(checked(&cell, &metrics, seed)?);
                asked.push(Asked {
                    reader: Reader::of(&cell, Arc::clone(&metrics)),
                    fixed: (!cell.draws()).then_some(resolved),
                    cell,
                    order: number,
                    number: at,
                    runs: order.mode.runs(grid),
                    keys: Vec::new(),
                });
            }
        }
    }
    Ok(asked)
}

/// Requests more repetitions; returns whether any cell got some.
fn grown(study: &Study, orders: &[Order<'_>], frames: &[Frame], asked: &mut [Asked<'_>]) -> bool {
    let mut has_grown = false;
    for (number, order) in orders.iter().enumerate().filter(|(_, order)| order.mode.grows()) {
        for reads in width::wide(&View::of(study, &frames[number])) {
            let is_read = |one: &&mut Asked<'_>| {
                one.order == number && reads.contains(&(one.cell.name.to_owned(), one.number))
            };
            let mut read: Vec<&mut Asked<'_>> = asked.iter_mut().filter(is_read).collect();
            let grids = read.iter().map(|one| one.cell.grid);
            let most = grids.filter(|grid| grid.random).map(|grid| order.mode.most(grid)).min().unwrap_or(0);
            // Compared cells need equal numbers of repetitions.
            let fewest = read.iter().map(|one| one.keys.len() as u32).min().unwrap_or(0);
            let wanted = width::next(fewest, most);
            for one in read.iter_mut().filter(|one| one.runs < wanted) {
                one.runs = wanted;
                has_grown = true;
            }
        }
    }
    has_grown
}

/// Checks scenarios and formulas of all cells without runs; returns the number of cells.
pub fn check(study: &Study, orders: &[Order<'_>], seed: u64) -> Result<usize, Problem> {
    asked(study, orders, seed).map(|asked| asked.len())
}

/// The cell's first scenario, with all formulas checked.
fn checked(cell: &Cell<'_>, metrics: &[(String, Expression)], seed: u64) -> Result<Scenario, Problem> {
    let scenario = cell.scenario(seed)?;
    for (metric, formula) in metrics {
        columns::check(formula, &scenario, &cell.place, &cell.grid.groups).map_err(|(message, help)| {
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
    Ok(scenario)
}

fn frames(study: &Study, orders: &[Order<'_>], asked: &[Asked<'_>], jobs: &Jobs) -> Vec<Frame> {
    let of = |order: &Order<'_>| {
        let computed = study.file.grid.iter().filter(|(_, grid)| grid.computed);
        let results = |(name, grid): (&String, &Grid)| {
            let (axes, runs) = (axes(study, grid, order.mode), order.mode.runs(grid) as usize);
            let is_exact = grid.computed || !grid.random;
            (
                name.clone(),
                Results { axes, runs, length: order.mode.length(grid), is_exact, cells: Vec::new() },
            )
        };
        computed.chain(order.run(study)).map(results).collect()
    };
    let mut frames: Vec<Frame> = orders.iter().map(of).collect();
    for one in asked {
        let of = |at: usize| one.keys.iter().map(|key| jobs.values(key)?[at]).collect();
        let metrics = one.reader.metrics().enumerate();
        let values = metrics.map(|(at, metric)| (metric.to_owned(), of(at))).collect();
        if let Some(results) = frames[one.order].get_mut(one.cell.name) {
            results.cells.push(CellResults { place: one.cell.place.clone(), values });
        }
    }
    frames
}
