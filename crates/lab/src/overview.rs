//! First screen of a report: verdicts on each chapter's numbers and claims, and distances between our numbers and the
//! published ones.

use crate::item::Verdict;

/// Table with a row for each chapter and a column for each theme.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Matrix {
    /// Caption above the table or plot.
    pub caption: String,
    /// Column headings: `mechanism`, `fairness`.
    pub themes: Vec<String>,
    /// Rows.
    pub rows: Vec<MatrixRow>,
}

/// Row of a chapter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MatrixRow {
    /// Title of the chapter.
    pub title: String,
    /// Anchor of the chapter (its id).
    pub anchor: String,
    /// Result of the reproduction in a sentence.
    pub sentence: String,
    /// One cell for each theme.
    pub cells: Vec<MatrixCell>,
}

/// Verdicts of one chapter on one theme.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MatrixCell {
    /// Number of published numbers and claims for each verdict; all are 0 if the theme has none.
    pub counts: VerdictCounts,
    /// Anchor to link to: `<chapter>-<figure or heading>`, or the chapter's id; empty for no link.
    pub anchor: String,
}

/// Number of published numbers and claims for each verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VerdictCounts {
    /// Number of [`Verdict::Agrees`].
    pub agrees: usize,
    /// Number of [`Verdict::Shape`].
    pub shape: usize,
    /// Number of [`Verdict::Undecidable`].
    pub undecidable: usize,
    /// Number of [`Verdict::Inconclusive`].
    pub inconclusive: usize,
    /// Number of [`Verdict::Differs`].
    pub differs: usize,
}

impl VerdictCounts {
    /// Counts `verdicts`.
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> VerdictCounts {
        let mut counts = VerdictCounts::default();
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

    /// Verdicts with their counts, the best first.
    pub fn each(&self) -> [(Verdict, usize); 5] {
        [
            (Verdict::Agrees, self.agrees),
            (Verdict::Shape, self.shape),
            (Verdict::Undecidable, self.undecidable),
            (Verdict::Inconclusive, self.inconclusive),
            (Verdict::Differs, self.differs),
        ]
    }

    /// Total of all counts.
    pub fn all(&self) -> usize {
        self.each().iter().map(|(_, count)| count).sum()
    }

    /// The worst verdict that occurs; `None` if none occurs.
    pub fn worst(&self) -> Option<Verdict> {
        self.each().into_iter().rev().find(|(_, count)| *count > 0).map(|(verdict, _)| verdict)
    }
}

/// Forest plot: distances of measured from published numbers, in units of the accepted margin.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Forest {
    /// Caption above the table or plot.
    pub caption: String,
    /// One row for each number. Only the first 40 rows are drawn; further rows are only counted.
    pub rows: Vec<ForestRow>,
}

/// Row of a published number.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ForestRow {
    /// Name of the paper and the number: `hasegawa: largest gain of mac`.
    pub label: String,
    /// Anchor to link to, as in [`MatrixCell`].
    pub anchor: String,
    /// Distance in the default reading, which follows the paper's text only; `None` if undefined.
    pub default: Option<Distance>,
    /// Distance under the best answers to open questions, if there are any.
    pub best: Option<Distance>,
}

/// Distance of our number from the published number, in margins. At 0 both numbers are equal; beyond ±1 our number is
/// outside of the band of agreement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Distance: (ours - published) / margin.
    pub margins: f64,
    /// 95 % interval of the distance.
    pub ci95: Option<[f64; 2]>,
}

impl Distance {
    /// Distance of `ours`; `None` unless all values are finite and `margin` is positive. An infinite interval becomes
    /// `None`.
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
        let counts = VerdictCounts::of([Agrees, Shape, Agrees, Differs, Inconclusive]);
        assert_eq!(
            counts,
            VerdictCounts { agrees: 2, shape: 1, undecidable: 0, inconclusive: 1, differs: 1 }
        );
        assert_eq!(counts.worst(), Some(Differs));
        assert_eq!(VerdictCounts::of([Agrees, Inconclusive, Shape]).worst(), Some(Inconclusive));
        assert_eq!(VerdictCounts::default().worst(), None);
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
