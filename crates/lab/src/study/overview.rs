//! The paper's part of the report's first screen: verdicts for each theme, and distances of our headline numbers from
//! the published numbers. The unit of a distance is the margin of the published number.

use super::counts;
use super::file::Binding;
use super::readings::matching_row;
use super::reproduce::PaperResults;
use super::rows::{binding, claim_of, published_of};
use super::study::Study;
use crate::item::{Item, Verdict};
use crate::overview::{Distance, ForestRow, Matrix, MatrixCell, MatrixRow, VerdictCounts};
use crate::papers::cells::words;

/// Themes of claims and numbers.
pub const THEMES: [&str; 5] = ["the cure helps", "order of the cures", "mechanism", "fairness", "tables"];

/// Largest number of headline numbers of one paper.
const HEADLINES: usize = 4;

/// The paper's part of the first screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// Row of the paper in the matrix of verdicts.
    pub row: MatrixRow,
    /// Whether the numbers and claims come from the paper. If not, the claims are our own expectations.
    pub is_published: bool,
    /// Distances of our headline numbers from the published numbers.
    pub headlines: Vec<ForestRow>,
}

/// Returns the overview of a paper. `answer` is the result of the reproduction in one sentence.
pub fn of(study: &Study, results: &PaperResults<'_>, answer: &str) -> Overview {
    let paper = &study.file.paper;
    let verdicts = |theme: &str| -> Vec<Verdict> {
        let items = results.items.iter().filter(|item| theme_of(study, item) == theme);
        items.filter_map(|item| item.verdict).collect()
    };
    let cell =
        |theme: &&str| MatrixCell { counts: VerdictCounts::of(verdicts(theme)), anchor: paper.clone() };
    let counts = counts::of(results.items.iter());
    let row = MatrixRow {
        title: paper.clone(),
        anchor: paper.clone(),
        sentence: if answer.is_empty() {
            format!("{}: {}.", study.file.summary, counts::words(&counts))
        } else {
            format!("{answer} Of {} rows, {}.", counts.all(), counts::words(&counts))
        },
        cells: THEMES.iter().map(cell).collect(),
    };
    let is_headline = |item: &&Item| binding_of(study, item).is_some_and(|binding| binding.headline);
    let best = results.readings.first();
    let headline = |item: &Item| {
        let other = best.and_then(|reading_results| matching_row(item, &reading_results.items));
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
        headlines: results.items.iter().filter(is_headline).take(HEADLINES).map(headline).collect(),
    }
}

/// Returns the matrix of verdicts, with one row for each paper.
pub fn matrix(overviews: &[Overview]) -> Matrix {
    Matrix {
        caption: "Verdicts on numbers and claims by theme, under the default reading".into(),
        themes: THEMES.map(String::from).to_vec(),
        rows: overviews.iter().map(|overview| overview.row.clone()).collect(),
    }
}

/// Returns the theme of a row. The default theme of a claim is `mechanism`. The theme of a number is set in its
/// `[[published]]` entry of `study.toml`; the default is `tables`.
fn theme_of<'a>(study: &'a Study, item: &Item) -> &'a str {
    if let Some(claim) = claim_of(study, item) {
        return claim.theme.as_deref().unwrap_or("mechanism");
    }
    binding_of(study, item).and_then(|binding| binding.theme.as_deref()).unwrap_or("tables")
}

fn binding_of<'a>(study: &'a Study, item: &Item) -> Option<&'a Binding> {
    binding(study, published_of(study, item)?)
}

fn distance(item: &Item) -> Option<Distance> {
    Distance::of(item.measured?, item.ci95, item.published?, item.margin?)
}
