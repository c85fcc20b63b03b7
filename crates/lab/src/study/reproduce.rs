//! Reproduction of a paper: runs of all readings and answers, then its rows.

use super::cells::Mode;
use super::file::{Part, Try};
use super::measure::View;
use super::readings::{self, Read};
use super::runs::{self, Frame, Order};
use super::store::Store;
use super::study::Study;
use super::{causes, ns2, overview, prose, rows};
use crate::item::Item;
use crate::papers::{Reproduction, Settings};
use crate::progress::Progress;
use lasthop_scenario::Problem;

/// An answer under test.
pub struct Tried<'a> {
    /// Index of the try.
    pub number: usize,
    /// The try.
    pub tried: &'a Try,
    /// `question: answer`, or `default`.
    pub label: String,
    /// Question.
    pub question: &'a str,
    /// Parts of the answer; empty under the default reading.
    parts: &'a [Part],
    /// Results.
    pub frame: Frame,
    /// Rows.
    pub items: Vec<Item>,
}

/// Results of a paper's runs.
pub struct Done<'a> {
    /// Results under the default reading.
    pub frame: Frame,
    /// Rows under the default reading.
    pub items: Vec<Item>,
    /// Results under each answer.
    pub tried: Vec<Tried<'a>>,
    /// Results under other readings.
    pub readings: Vec<Read<'a>>,
}

impl Done<'_> {
    /// All rows: default reading, other readings, answers.
    pub fn rows(&self) -> impl Iterator<Item = &Item> {
        let readings = self.readings.iter().flat_map(|read| &read.items);
        self.items.iter().chain(readings).chain(self.tried.iter().flat_map(|tried| &tried.items))
    }
}

/// Runs a paper; fails if its files are invalid.
pub fn run<'a>(
    study: &'a Study,
    settings: &Settings,
    store: &Store,
    progress: &dyn Progress,
) -> Result<Done<'a>, Problem> {
    let mut tried = tries(study);
    let orders = orders(study, &tried, settings.quick)?;
    let mut frames = runs::run(study, &orders, settings.seed, store, progress)?.into_iter();
    let frame = frames.next().unwrap_or_default();
    let mut items = rows::all(&View::of(study, &frame));
    let read = |(name, reading): (&'a String, _)| {
        let frame = frames.next().unwrap_or_default();
        let of_reading = |item| Item { reading: name.clone(), ..item };
        let items = rows::all(&View::of(study, &frame)).into_iter().map(of_reading).collect();
        Read { name, reading, items }
    };
    let mut readings: Vec<Read<'a>> = study.file.reading.iter().map(read).collect();
    for (one, frame) in tried.iter_mut().zip(frames) {
        let under = |item: Item| Item {
            item: format!("{}{}", crate::item::AGAIN, item.item),
            reading: one.label.clone(),
            ..item.at("setting", one.label.as_str())
        };
        one.items = rows::tried(&View::of(study, &frame), one.tried).into_iter().map(under).collect();
        one.frame = frame;
    }
    let others = readings.iter_mut().map(|read| &mut read.items);
    let others = others.chain(tried.iter_mut().map(|tried| &mut tried.items)).flatten();
    ns2::attach(study, items.iter_mut().chain(others));
    causes::attach(study, &mut items, &mut readings, &mut tried);
    Ok(Done { frame, items, tried, readings })
}

/// Makes every scenario of a paper without runs; returns the number of cells, or an error if its files are invalid.
pub fn check(study: &Study, settings: &Settings) -> Result<usize, Problem> {
    runs::check(study, &orders(study, &tries(study), settings.quick)?, settings.seed)
}

fn orders<'a>(study: &'a Study, tried: &[Tried<'a>], quick: bool) -> Result<Vec<Order<'a>>, Problem> {
    let grids = || study.file.grid.keys().map(String::as_str).collect();
    let once = Mode { quick, tries: false };
    let mut orders = vec![Order { grids: grids(), parts: Vec::new(), mode: once }];
    for (name, reading) in &study.file.reading {
        let named = reading.grids.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let parts = readings::parts(study, name, reading)?;
        orders.push(Order { grids: named.unwrap_or_else(grids), parts, mode: once });
    }
    let mode = Mode { quick, tries: true };
    orders.extend(tried.iter().map(|one| Order {
        grids: one.tried.grids.iter().map(String::as_str).collect(),
        parts: one.parts.iter().collect(),
        mode,
    }));
    Ok(orders)
}

/// Runs a paper and writes its chapter; fails as [`run`], or if the chapter's text is invalid.
pub fn chapter(
    study: &Study,
    settings: &Settings,
    store: &Store,
    progress: &dyn Progress,
) -> Result<Reproduction, Problem> {
    let done = run(study, settings, store, progress)?;
    let chapter = prose::chapter(study, &done, settings.seed)?;
    let answer = prose::answer(study, &done)?;
    let overview = overview::of(study, &done, &answer);
    Ok(Reproduction {
        paper: study.file.paper.clone(),
        items: done.rows().cloned().collect(),
        chapter,
        overview,
    })
}

/// Label of an answer in rows: `smallest RTO: 1 s`.
pub fn label(question: &str, answer: &str) -> String {
    format!("{question}: {answer}")
}

/// Every answer of every try without results; the default reading first if the try includes it.
fn tries(study: &Study) -> Vec<Tried<'_>> {
    let mut all = Vec::new();
    for (number, tried) in study.file.tries.iter().enumerate() {
        let mut add = |question, label, parts| {
            let (frame, items) = (Frame::new(), Vec::new());
            all.push(Tried { number, tried, label, question, parts, frame, items });
        };
        if tried.default {
            add("", crate::item::DEFAULT.to_owned(), &[]);
        }
        let questions = study.file.question.iter().filter(|(name, _)| tried.questions.matches(name));
        for (question, answers) in questions {
            answers.iter().for_each(|(answer, parts)| add(question, label(question, answer), &parts.0));
        }
    }
    all
}
