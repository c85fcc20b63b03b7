//! Reproduction of a paper: runs all readings and answers, then computes the rows of the results.

use super::cells::Mode;
use super::file::{AnswerPart, Try};
use super::measure::View;
use super::readings::{self, ReadingResults};
use super::run_store::RunStore;
use super::runs::{self, ResultsByGrid, RunRequest};
use super::study::Study;
use super::{causes, ns2, overview, prose, rows};
use crate::item::Item;
use crate::papers::{Reproduction, ReproductionSettings};
use crate::progress::Progress;
use lasthop_scenario::Problem;

/// Runs under one answer to an open question. An entry `[[try]]` of `study.toml` requests these runs.
pub struct AnswerRun<'a> {
    /// Index of the entry `[[try]]`, from 0.
    pub try_index: usize,
    /// Entry `[[try]]` that requests the runs.
    pub definition: &'a Try,
    /// Label in the results: `question: answer`, or `default` for the default reading.
    pub label: String,
    /// Open question that the answer settles. The text is empty for the default reading.
    pub question: &'a str,
    /// Scenario changes of the answer. The list is empty for the default reading.
    parts: &'a [AnswerPart],
    /// Metrics of each grid, measured in the runs under this answer.
    pub by_grid: ResultsByGrid,
    /// Rows of the results: published numbers, claims and points, with our measurements under this answer.
    pub items: Vec<Item>,
}

/// Results of all runs of a paper.
pub struct PaperResults<'a> {
    /// Metrics of each grid, measured under the default reading.
    pub by_grid: ResultsByGrid,
    /// Rows of the results under the default reading.
    pub items: Vec<Item>,
    /// Runs of single answers, with their results.
    pub answer_runs: Vec<AnswerRun<'a>>,
    /// Rows of the results under each reading other than the default reading.
    pub readings: Vec<ReadingResults<'a>>,
}

impl PaperResults<'_> {
    /// Returns all rows. The rows of the default reading are first, then the rows of other readings, then the rows of
    /// single answers.
    pub fn rows(&self) -> impl Iterator<Item = &Item> {
        let readings = self.readings.iter().flat_map(|reading| &reading.items);
        self.items.iter().chain(readings).chain(self.answer_runs.iter().flat_map(|run| &run.items))
    }
}

/// Runs a paper. Fails if the paper's files are invalid, or if a run gets stuck: virtual time no longer advances.
pub fn run<'a>(
    study: &'a Study,
    settings: &ReproductionSettings,
    store: &RunStore,
    progress: &dyn Progress,
) -> Result<PaperResults<'a>, Problem> {
    let mut answer_runs = answer_runs(study);
    let requests = run_requests(study, &answer_runs, settings.quick)?;
    let mut all_results = runs::run(study, &requests, settings.seed, store, progress)?.into_iter();
    let by_grid = all_results.next().unwrap_or_default();
    let mut items = rows::all(&View::of(study, &by_grid));
    let read = |(name, reading): (&'a String, _)| {
        let by_grid = all_results.next().unwrap_or_default();
        let of_reading = |item| Item { reading: name.clone(), ..item };
        let items = rows::all(&View::of(study, &by_grid)).into_iter().map(of_reading).collect();
        ReadingResults { name, reading, items }
    };
    let mut readings: Vec<ReadingResults<'a>> = study.file.reading.iter().map(read).collect();
    for (one, by_grid) in answer_runs.iter_mut().zip(all_results) {
        let under = |item: Item| Item {
            item: format!("{}{}", crate::item::SENSITIVITY_PREFIX, item.item),
            reading: one.label.clone(),
            ..item.at("setting", one.label.as_str())
        };
        one.items =
            rows::under_answer(&View::of(study, &by_grid), one.definition).into_iter().map(under).collect();
        one.by_grid = by_grid;
    }
    let others = readings.iter_mut().map(|reading| &mut reading.items);
    let others = others.chain(answer_runs.iter_mut().map(|run| &mut run.items)).flatten();
    ns2::attach(study, items.iter_mut().chain(others));
    causes::attach(study, &mut items, &mut readings, &mut answer_runs);
    Ok(PaperResults { by_grid, items, answer_runs, readings })
}

/// Checks every scenario of a paper without a run. Returns the number of cells. Fails if the paper's files are invalid.
pub fn check(study: &Study, settings: &ReproductionSettings) -> Result<usize, Problem> {
    runs::check(study, &run_requests(study, &answer_runs(study), settings.quick)?, settings.seed)
}

fn run_requests<'a>(
    study: &'a Study,
    answer_runs: &[AnswerRun<'a>],
    quick: bool,
) -> Result<Vec<RunRequest<'a>>, Problem> {
    let grids = || study.file.grid.keys().map(String::as_str).collect();
    let once = Mode { quick, under_answers: false };
    let mut requests = vec![RunRequest { grids: grids(), parts: Vec::new(), mode: once }];
    for (name, reading) in &study.file.reading {
        let named = reading.grids.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let parts = readings::parts(study, name, reading)?;
        requests.push(RunRequest { grids: named.unwrap_or_else(grids), parts, mode: once });
    }
    let mode = Mode { quick, under_answers: true };
    requests.extend(answer_runs.iter().map(|one| RunRequest {
        grids: one.definition.grids.iter().map(String::as_str).collect(),
        parts: one.parts.iter().collect(),
        mode,
    }));
    Ok(requests)
}

/// Runs a paper and writes its chapter. Fails if [`run`] fails or the text of the chapter is invalid.
pub fn chapter(
    study: &Study,
    settings: &ReproductionSettings,
    store: &RunStore,
    progress: &dyn Progress,
) -> Result<Reproduction, Problem> {
    let results = run(study, settings, store, progress)?;
    let chapter = prose::chapter(study, &results, settings.seed)?;
    let answer = prose::answer(study, &results)?;
    let overview = overview::of(study, &results, &answer);
    Ok(Reproduction {
        paper: study.file.paper.clone(),
        items: results.rows().cloned().collect(),
        chapter,
        overview,
    })
}

/// Returns the label that rows show for an answer, such as `smallest RTO: 1 s`.
pub fn label(question: &str, answer: &str) -> String {
    format!("{question}: {answer}")
}

/// Returns the runs under answers, without results. For each entry `[[try]]`, the list has one entry for each answer to
/// each question of the `[[try]]`. If the `[[try]]` includes the default reading, an entry for the default reading
/// precedes the answers.
fn answer_runs(study: &Study) -> Vec<AnswerRun<'_>> {
    let mut all = Vec::new();
    for (try_index, definition) in study.file.tries.iter().enumerate() {
        let mut add = |question, label, parts| {
            let (by_grid, items) = (ResultsByGrid::new(), Vec::new());
            all.push(AnswerRun { try_index, definition, label, question, parts, by_grid, items });
        };
        if definition.default {
            add("", crate::item::DEFAULT.to_owned(), &[]);
        }
        let questions = study.file.question.iter().filter(|(name, _)| definition.questions.matches(name));
        for (question, answers) in questions {
            answers.iter().for_each(|(answer, parts)| add(question, label(question, answer), &parts.0));
        }
    }
    all
}
