//! First screen of a report: verdicts on the numbers and claims of each chapter, and distances of measured numbers from
//! published numbers.

use crate::item::Verdict;

/// Table with one row for each chapter and one column for each theme.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Matrix {
    /// Caption above the table.
    pub caption: String,
    /// Column headings, such as `mechanism` or `fairness`.
    pub themes: Vec<String>,
    /// Rows.
    pub rows: Vec<MatrixRow>,
}

/// Row of the matrix for one chapter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MatrixRow {
    /// Title of the chapter.
    pub title: String,
    /// Anchor of the chapter, which is the chapter's id.
    pub anchor: String,
    /// Result of the reproduction in one sentence.
    pub sentence: String,
    /// One cell for each theme.
    pub cells: Vec<MatrixCell>,
}

/// Verdicts on the numbers and claims of one chapter that belong to one theme.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MatrixCell {
    /// Number of published numbers and claims for each verdict. All counts are 0 if the theme has no number and no
    /// claim.
    pub counts: VerdictCounts,
    /// Anchor to which the cell links: `<chapter>-<figure or heading>`, or the chapter's id. The anchor is empty if the
    /// cell has no link.
    pub anchor: String,
}

/// Number of published numbers and claims for each verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VerdictCounts {
    /// Number of verdicts [`Verdict::Agrees`].
    pub agrees: usize,
    /// Number of verdicts [`Verdict::Shape`].
    pub shape: usize,
    /// Number of verdicts [`Verdict::Undecidable`].
    pub undecidable: usize,
    /// Number of verdicts [`Verdict::Inconclusive`].
    pub inconclusive: usize,
    /// Number of verdicts [`Verdict::Differs`].
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

    /// Returns the verdicts with their counts, sorted from best to worst.
    pub fn each(&self) -> [(Verdict, usize); 5] {
        [
            (Verdict::Agrees, self.agrees),
            (Verdict::Shape, self.shape),
            (Verdict::Undecidable, self.undecidable),
            (Verdict::Inconclusive, self.inconclusive),
            (Verdict::Differs, self.differs),
        ]
    }

    /// Returns the sum of all counts.
    pub fn all(&self) -> usize {
        self.each().iter().map(|(_, count)| count).sum()
    }

    /// Returns the worst verdict with a count above 0. Returns `None` if all counts are 0.
    pub fn worst(&self) -> Option<Verdict> {
        self.each().into_iter().rev().find(|(_, count)| *count > 0).map(|(verdict, _)| verdict)
    }
}

/// Forest plot: distances of measured numbers from published numbers, in units of the accepted margin.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Forest {
    /// Caption above the plot.
    pub caption: String,
    /// Rows, one for each published number. Only the first 40 rows are drawn. The report prints the number of rows that
    /// are not drawn.
    pub rows: Vec<ForestRow>,
}

/// Row of the forest plot for one published number.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ForestRow {
    /// Name of the paper and of the number, such as `hasegawa: largest gain of mac`.
    pub label: String,
    /// Anchor to which the row links. The form is the same as in [`MatrixCell`].
    pub anchor: String,
    /// Distance in the default reading, which follows only the paper's text. `None` if the distance is undefined.
    pub default: Option<Distance>,
    /// Distance in the best reading, which answers the paper's open questions. `None` if the paper has no best reading.
    pub best: Option<Distance>,
}

/// Distance of our number from the published number, in units of the margin. At 0, the two numbers are equal. Below −1
/// or above 1, our number lies outside the band of agreement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Distance: (our number − published number) / margin.
    pub margins: f64,
    /// 95 % interval of the distance.
    pub ci95: Option<[f64; 2]>,
}

impl Distance {
    /// Returns the distance of `ours` from `published`. Returns `None` unless all values are finite and `margin` is
    /// positive. An interval with an infinite end becomes `None`.
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
