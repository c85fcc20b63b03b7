//! What a paper gives to the report's first screen: its verdicts by theme, and its headline numbers in margins.

use super::counts;
use super::file::Binding;
use super::readings::twin;
use super::reproduce::Done;
use super::rows::{binding, claim_of, published_of};
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
    let is_headline = |item: &&Item| binding_of(study, item).is_some_and(|binding| binding.headline);
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

/// Theme of a row: the claim's own; a number belongs to the tables unless its rows name another theme.
fn theme_of<'a>(study: &'a Study, item: &Item) -> &'a str {
    if let Some(claim) = claim_of(study, item) {
        return claim.theme.as_deref().unwrap_or("mechanism");
    }
    binding_of(study, item).and_then(|binding| binding.theme.as_deref()).unwrap_or("tables")
}

/// The measurement of the published number that a row stands beside.
fn binding_of<'a>(study: &'a Study, item: &Item) -> Option<&'a Binding> {
    binding(study, published_of(study, item)?)
}

fn distance(item: &Item) -> Option<Distance> {
    Distance::of(item.measured?, item.ci95, item.published?, item.margin?)
}
