//! What a reader sees first: how the claims of each chapter come out, and how far our numbers are from the published
//! ones.

use crate::item::Verdict;

/// Chapters by themes.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Matrix {
    /// Caption above it.
    pub caption: String,
    /// Its columns: `mechanism`, `fairness`.
    pub themes: Vec<String>,
    /// Its rows.
    pub rows: Vec<MatrixRow>,
}

/// A chapter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MatrixRow {
    /// What it is called.
    pub title: String,
    /// Where it is on the page: a chapter's id.
    pub anchor: String,
    /// The outcome in a sentence.
    pub sentence: String,
    /// A cell for each theme.
    pub cells: Vec<MatrixCell>,
}

/// What was judged of a theme in a chapter.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MatrixCell {
    /// How its numbers and claims come out; all 0 if it has none.
    pub counts: Counts,
    /// Where they are on the page: `<chapter>-<figure or heading>`, or the chapter's id; empty for no link.
    pub anchor: String,
}

/// How many numbers and claims come out how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Those that agree.
    pub agrees: usize,
    /// Those of which only the shape does.
    pub shape: usize,
    /// Those that no number of repetitions tells.
    pub undecidable: usize,
    /// Those that more repetitions would tell.
    pub inconclusive: usize,
    /// Those that differ.
    pub differs: usize,
}

impl Counts {
    /// Counts `verdicts`.
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Counts {
        let mut counts = Counts::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Agrees => &mut counts.agrees,
                Verdict::Shape => &mut counts.shape,
                Verdict::Undecidable => &mut counts.undecidable,
                Verdict::Inconclusive => &mut counts.inconclusive,
                Verdict::Differs => &mut counts.differs,
            } += 1;
        }
        counts
    }

    /// Each verdict with its count, the best first.
    pub fn each(&self) -> [(Verdict, usize); 5] {
        [
            (Verdict::Agrees, self.agrees),
            (Verdict::Shape, self.shape),
            (Verdict::Undecidable, self.undecidable),
            (Verdict::Inconclusive, self.inconclusive),
            (Verdict::Differs, self.differs),
        ]
    }

    /// All of them.
    pub fn all(&self) -> usize {
        self.each().iter().map(|(_, count)| count).sum()
    }

    /// The worst that occurs; `None` without any.
    pub fn worst(&self) -> Option<Verdict> {
        self.each().into_iter().rev().find(|(_, count)| *count > 0).map(|(verdict, _)| verdict)
    }
}

/// A forest plot: how far numbers are from what was published, in units of the margin within which they agree.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Forest {
    /// Caption above it.
    pub caption: String,
    /// A row for each number; those beyond the 40th are only counted.
    pub rows: Vec<ForestRow>,
}

/// A published number.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ForestRow {
    /// What it is, with its paper: `hasegawa: largest gain of mac`.
    pub label: String,
    /// Where it is on the page, as in [`MatrixCell`].
    pub anchor: String,
    /// With the paper's text alone; `None` where it is undefined.
    pub default: Option<Distance>,
    /// With the best answers to its open questions, if there are any.
    pub best: Option<Distance>,
}

/// How far a number is from the published one, in margins: 0 is equal, beyond ±1 it is outside the band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// (Ours - published) / margin.
    pub margins: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
}

impl Distance {
    /// The distance of `ours` with its interval from `published`; `None` unless all is finite and `margin` above 0. An
    /// interval without ends is none.
    pub fn of(ours: f64, ci95: Option<[f64; 2]>, published: f64, margin: f64) -> Option<Distance> {
        let margins = |value: f64| (value - published) / margin;
        let ci95 = ci95.map(|ends| ends.map(margins)).filter(|ends| ends.iter().all(|end| end.is_finite()));
        (margins(ours).is_finite() && margin > 0.0).then_some(Distance { margins: margins(ours), ci95 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_verdict_decides() {
        use Verdict::{Agrees, Differs, Inconclusive, Shape};
        let counts = Counts::of([Agrees, Shape, Agrees, Differs, Inconclusive]);
        assert_eq!(counts, Counts { agrees: 2, shape: 1, undecidable: 0, inconclusive: 1, differs: 1 });
        assert_eq!(counts.worst(), Some(Differs));
        assert_eq!(Counts::of([Agrees, Inconclusive, Shape]).worst(), Some(Inconclusive));
        assert_eq!(Counts::default().worst(), None);
    }

    #[test]
    fn a_distance_is_in_margins() {
        let near = Distance { margins: 0.5, ci95: Some([-0.5, 1.5]) };
        assert_eq!(Distance::of(96.5, Some([91.5, 101.5]), 94.0, 5.0), Some(near));
        assert_eq!(
            Distance::of(96.5, Some([f64::NEG_INFINITY, f64::INFINITY]), 94.0, 5.0).map(|one| one.ci95),
            Some(None)
        );
        assert_eq!(Distance::of(f64::NAN, None, 94.0, 5.0), None);
        assert_eq!(Distance::of(1.0, None, 1.0, 0.0), None);
    }
}
