//! All runs of a paper, arranged by grid and cell. The metrics of a run are stored, but not the outcome of the run.

use super::cells::{GridCell, Mode};
use super::columns;
use super::expression::Expression;
use super::file::{AnswerPart, Grid};
use super::jobs::{Jobs, MetricReader, Metrics, ResolvedScenario};
use super::measure::View;
use super::run_store::RunStore;
use super::study::Study;
use super::value::{Coordinates, Value};
use super::width;
use crate::progress::Progress;
use crate::repeat::seed_of;
use lasthop_scenario::{Problem, Scenario};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Results of a grid under one set of answers to open questions.
#[derive(Clone, Debug, Default)]
pub struct GridResults {
    /// Axes of the grid, each with the values that were run.
    pub axes: Vec<(String, Vec<Value>)>,
    /// Number of repetitions that were requested for each cell (combination of axis values).
    pub runs: usize,
    /// Factor that multiplies the length of the runs. The variable `{length}` has this value.
    pub length: u32,
    /// Whether nothing in the scenarios is random.
    pub is_exact: bool,
    cells: Vec<CellResults>,
}

#[derive(Clone, Debug)]
struct CellResults {
    coordinates: Coordinates,
    values: BTreeMap<String, Vec<Option<f64>>>,
}

impl GridResults {
    /// Returns the index of the cell with these coordinates. The coordinates may omit an axis that has a single value.
    pub fn cell(&self, coordinates: &Coordinates) -> Option<usize> {
        let is_there = |cell: &CellResults| {
            self.axes.iter().all(|(axis, values)| match coordinates.get(axis) {
                Some(value) => cell.coordinates[axis].same(value),
                None => values.len() == 1,
            })
        };
        self.cells.iter().position(is_there)
    }

    /// Returns the values of a metric in a cell, one for each repetition.
    pub fn values(&self, metric: &str, cell: usize) -> Option<&[Option<f64>]> {
        self.cells.get(cell)?.values.get(metric).map(Vec::as_slice)
    }

    /// Returns the values of an axis for which cells were run.
    pub fn axis(&self, name: &str) -> &[Value] {
        self.axes.iter().find(|(axis, _)| axis == name).map_or(&[], |(_, values)| values)
    }
}

/// Results of each grid of a paper, under one set of answers.
pub type ResultsByGrid = BTreeMap<String, GridResults>;

/// Request to run some grids under a set of answers to open questions.
pub struct RunRequest<'a> {
    /// Names of the grids.
    pub grids: Vec<&'a str>,
    /// Scenario changes of the answers.
    pub parts: Vec<&'a AnswerPart>,
    /// Extent of the runs.
    pub mode: Mode,
}

impl<'a> RunRequest<'a> {
    fn run(&self, study: &'a Study) -> impl Iterator<Item = (&'a String, &'a Grid)> {
        let grids = self.grids.iter().filter_map(|name| study.file.grid.get_key_value(*name));
        grids.filter(|(_, grid)| !grid.computed && self.mode.runs(grid) > 0)
    }
}

/// Returns the axes of a grid, each with the values to run.
pub fn axes(study: &Study, grid: &Grid, mode: Mode) -> Vec<(String, Vec<Value>)> {
    let axis = |name: &String| {
        let values = study.file.axis.get(name).map(|axis| mode.values(axis)).unwrap_or_default();
        let only = grid.only.get(name);
        let kept = values.iter().filter(|value| only.is_none_or(|only| only.contains(value)));
        (name.clone(), kept.cloned().collect())
    };
    grid.axes.iter().map(axis).collect()
}

/// Returns all combinations of axis values. The values of the first axis vary slowest.
pub fn combinations(axes: &[(String, Vec<Value>)]) -> Vec<Coordinates> {
    let mut combinations = vec![Coordinates::new()];
    for (axis, values) in axes {
        let with =
            |coordinates: Coordinates| values.iter().map(move |value| with_value(&coordinates, axis, value));
        combinations = combinations.into_iter().flat_map(with).collect();
    }
    combinations
}

/// Returns a copy of the coordinates, with this value on this axis.
pub fn with_value(coordinates: &Coordinates, axis: &str, value: &Value) -> Coordinates {
    let mut coordinates = coordinates.clone();
    coordinates.insert(axis.to_owned(), value.clone());
    coordinates
}

struct CellRequest<'a> {
    cell: GridCell<'a>,
    request_index: usize,
    cell_index: usize,
    reader: MetricReader,
    /// Scenario of all repetitions. `None` if the cell draws random values for each repetition.
    fixed: Option<ResolvedScenario>,
    /// Number of requested repetitions.
    runs: u32,
    keys: Vec<String>,
}

impl CellRequest<'_> {
    fn request_runs(&mut self, jobs: &mut Jobs, seed: u64) -> Result<(), Problem> {
        for run in self.keys.len() as u32..self.runs {
            let seed = seed_of(seed, run);
            self.keys.push(match &self.fixed {
                Some(fixed) => jobs.request(fixed, seed, &self.reader),
                None => jobs.request(&ResolvedScenario::of(self.cell.scenario(seed)?), seed, &self.reader),
            });
        }
        Ok(())
    }
}

/// Runs all requests and returns the results of each request. Equal scenarios are run only once. In full runs, a cell
/// gets more repetitions if our result for a published number depends on the cell and its interval is too wide
/// ([`width`]).
///
/// # Errors
/// Fails if a scenario is invalid, which is checked before any run. Also fails if a run gets stuck: virtual time no
/// longer advances.
pub fn run(
    study: &Study,
    requests: &[RunRequest<'_>],
    seed: u64,
    store: &RunStore,
    progress: &dyn Progress,
) -> Result<Vec<ResultsByGrid>, Problem> {
    let mut cells = cell_requests(study, requests, seed)?;
    let mut jobs = Jobs::default();
    loop {
        cells.iter_mut().try_for_each(|one| one.request_runs(&mut jobs, seed))?;
        progress.begin(&study.file.paper, jobs.unfinished() as u64);
        let ran = jobs.run(store, progress);
        progress.end();
        ran.map_err(|stuck| study.text.problem_near(&[], "paper", stuck.message).advise(stuck.help))?;
        let results = collect_results(study, requests, &cells, &jobs);
        if progress.is_cancelled() || !request_more(study, requests, &results, &mut cells) {
            return Ok(results);
        }
    }
}

fn cell_requests<'a>(
    study: &'a Study,
    requests: &'a [RunRequest<'a>],
    seed: u64,
) -> Result<Vec<CellRequest<'a>>, Problem> {
    let mut cells = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        for (name, grid) in request.run(study) {
            let metrics: Metrics = Arc::new(study.metrics_of(name));
            for (at, coordinates) in combinations(&axes(study, grid, request.mode)).into_iter().enumerate() {
                let cell =
                    GridCell { study, name, grid, coordinates, parts: &request.parts, mode: request.mode };
                let resolved = ResolvedScenario::of(checked(&cell, &metrics, seed)?);
                cells.push(CellRequest {
                    reader: MetricReader::of(&cell, Arc::clone(&metrics)),
                    fixed: (!cell.draws()).then_some(resolved),
                    cell,
                    request_index: number,
                    cell_index: at,
                    runs: request.mode.runs(grid),
                    keys: Vec::new(),
                });
            }
        }
    }
    Ok(cells)
}

/// Requests more repetitions for cells with wide intervals. Returns whether any repetition was requested.
fn request_more(
    study: &Study,
    requests: &[RunRequest<'_>],
    results: &[ResultsByGrid],
    cells: &mut [CellRequest<'_>],
) -> bool {
    let mut has_more = false;
    for (number, request) in requests.iter().enumerate().filter(|(_, request)| request.mode.grows()) {
        for read_cells in width::wide(&View::of(study, &results[number])) {
            let is_read = |one: &&mut CellRequest<'_>| {
                one.request_index == number
                    && read_cells.contains(&(one.cell.name.to_owned(), one.cell_index))
            };
            let mut read: Vec<&mut CellRequest<'_>> = cells.iter_mut().filter(is_read).collect();
            let grids = read.iter().map(|one| one.cell.grid);
            let most =
                grids.filter(|grid| grid.random).map(|grid| request.mode.most(grid)).min().unwrap_or(0);
            // Cells from which the same number is computed need equal numbers of repetitions.
            let fewest = read.iter().map(|one| one.keys.len() as u32).min().unwrap_or(0);
            let wanted = width::next(fewest, most);
            for one in read.iter_mut().filter(|one| one.runs < wanted) {
                one.runs = wanted;
                has_more = true;
            }
        }
    }
    has_more
}

/// Checks the scenarios and formulas of all cells without a run. Returns the number of cells.
pub fn check(study: &Study, requests: &[RunRequest<'_>], seed: u64) -> Result<usize, Problem> {
    cell_requests(study, requests, seed).map(|cells| cells.len())
}

/// Checks the scenario of the cell's first repetition and all formulas. Returns this scenario.
fn checked(cell: &GridCell<'_>, metrics: &[(String, Expression)], seed: u64) -> Result<Scenario, Problem> {
    let scenario = cell.scenario(seed)?;
    for (metric, formula) in metrics {
        columns::check(formula, &scenario, &cell.coordinates, &cell.grid.groups).map_err(
            |(message, help)| {
                let heading = format!("[metric.{metric}]");
                let quoted = format!("[metric.\"{metric}\"]");
                let text = &cell.study.text;
                let heading = if text.text.contains(&heading) { heading } else { quoted };
                text.problem_near(
                    &[&heading],
                    &cell.study.file.metric[metric].of,
                    format!("{message} (in the grid `{}`)", cell.name),
                )
                .advise(help)
            },
        )?;
    }
    Ok(scenario)
}

fn collect_results(
    study: &Study,
    requests: &[RunRequest<'_>],
    cells: &[CellRequest<'_>],
    jobs: &Jobs,
) -> Vec<ResultsByGrid> {
    let of = |request: &RunRequest<'_>| {
        let computed = study.file.grid.iter().filter(|(_, grid)| grid.computed);
        let empty = |(name, grid): (&String, &Grid)| {
            let (axes, runs) = (axes(study, grid, request.mode), request.mode.runs(grid) as usize);
            let is_exact = grid.computed || !grid.random;
            (
                name.clone(),
                GridResults { axes, runs, length: request.mode.length(grid), is_exact, cells: Vec::new() },
            )
        };
        computed.chain(request.run(study)).map(empty).collect()
    };
    let mut results: Vec<ResultsByGrid> = requests.iter().map(of).collect();
    for one in cells {
        let of = |at: usize| one.keys.iter().map(|key| jobs.values(key)?[at]).collect();
        let metrics = one.reader.metrics().enumerate();
        let values = metrics.map(|(at, metric)| (metric.to_owned(), of(at))).collect();
        if let Some(grid_results) = results[one.request_index].get_mut(one.cell.name) {
            grid_results.cells.push(CellResults { coordinates: one.cell.coordinates.clone(), values });
        }
    }
    results
}
