//! What a paper gives to the report's first screen: its verdicts by theme, and its headline numbers in margins.

use super::counts;
use super::readings::twin;
use super::reproduce::Done;
use super::rows::binding;
use super::study::Study;
use crate::item::{Item, Verdict};
use crate::overview::{Counts, Distance, ForestRow, Matrix, MatrixCell, MatrixRow};
use crate::papers::cells::words;

/// What claims and numbers can be about.
pub const THEMES: [&str; 5] = ["the cure helps", "order of the cures", "mechanism", "fairness", "tables"];

/// So many headline numbers a paper has at most.
const HEADLINES: usize = 4;

/// A paper on the first screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// Its row of the matrix.
    pub row: MatrixRow,
    /// Whether a paper published what its rows say; if not, the claims are ours.
    pub is_published: bool,
    /// Its headline numbers.
    pub headlines: Vec<ForestRow>,
}

/// A paper's line of the overview; `answer` is the paper's outcome in a sentence.
pub fn of(study: &Study, done: &Done<'_>, answer: &str) -> Overview {
    let paper = &study.file.paper;
    let verdicts = |theme: &str| -> Vec<Verdict> {
        let items = done.items.iter().filter(|item| theme_of(study, item) == theme);
        items.filter_map(|item| item.verdict).collect()
    };
    let cell = |theme: &&str| MatrixCell { counts: Counts::of(verdicts(theme)), anchor: paper.clone() };
    let counts = counts::of(done.items.iter());
    let row = MatrixRow {
        title: paper.clone(),
        anchor: paper.clone(),
        sentence: match answer.is_empty() {
            true => format!("{}: {}.", study.file.summary, counts::words(&counts)),
            false => format!("{answer} Of {} rows {}.", counts.all(), counts::words(&counts)),
        },
        cells: THEMES.iter().map(cell).collect(),
    };
    let is_headline = |item: &&Item| {
        let row = study.published.iter().find(|row| is_row(row, item));
        row.and_then(|row| binding(study, row)).is_some_and(|binding| binding.headline)
    };
    let best = done.readings.first();
    let headline = |item: &Item| {
        let other = best.and_then(|read| twin(item, &read.items));
        ForestRow {
            label: format!("{paper}: {}", words(item)),
            anchor: paper.clone(),
            default: distance(item),
            best: other.and_then(distance),
        }
    };
    let is_published = !study.file.ours;
    Overview {
        row,
        is_published,
        headlines: done.items.iter().filter(is_headline).take(HEADLINES).map(headline).collect(),
    }
}

/// The matrix of several papers.
pub fn matrix(overviews: &[Overview]) -> Matrix {
    Matrix {
        caption: "How the numbers and claims come out, by what they are about, under the default reading"
            .into(),
        themes: THEMES.map(String::from).to_vec(),
        rows: overviews.iter().map(|overview| overview.row.clone()).collect(),
    }
}

/// What a row is about: a claim says so itself, a number is of a table unless its rows say otherwise.
fn theme_of<'a>(study: &'a Study, item: &Item) -> &'a str {
    let claim = study.file.claim.iter().find(|claim| claim.item == item.item && claim.series == item.series);
    if let (Some(claim), None) = (claim, item.margin) {
        return claim.theme.as_deref().unwrap_or("mechanism");
    }
    let row = study.published.iter().find(|row| is_row(row, item));
    row.and_then(|row| binding(study, row)).and_then(|binding| binding.theme.as_deref()).unwrap_or("tables")
}

fn is_row(row: &super::published::Published, item: &Item) -> bool {
    row.item == item.item
        && row.series == item.series
        && row.metric == item.metric
        && Some(row.value()) == item.published
}

fn distance(item: &Item) -> Option<Distance> {
    Distance::of(item.measured?, item.ci95, item.published?, item.margin?)
}
