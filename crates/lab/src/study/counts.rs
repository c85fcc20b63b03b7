//! Number of rows with each verdict, and the number of rows expected to differ by chance.

use crate::item::{Item, Verdict};
use crate::overview::VerdictCounts;
use crate::stats::quantile;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Counts the verdicts of these rows.
pub fn of<'a>(items: impl Iterator<Item = &'a Item>) -> VerdictCounts {
    VerdictCounts::of(items.filter_map(|item| item.verdict))
}

/// Returns the counts as text: `6 agree, 2 differ, 4 are inconclusive, 1 has the shape`. Counts of 0 are omitted.
pub fn words(counts: &VerdictCounts) -> String {
    let one = |count: usize, singular: &str, plural: &str| {
        (count > 0).then(|| format!("{count} {}", if count == 1 { singular } else { plural }))
    };
    let parts = [
        one(counts.agrees, "agrees", "agree"),
        one(counts.differs, "differs", "differ"),
        one(counts.inconclusive, "is inconclusive", "are inconclusive"),
        one(counts.undecidable, "is undecidable", "are undecidable"),
        one(counts.shape, "has the shape", "have the shape"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

/// Number of rows that differ, compared with the number expected by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance {
    /// Number of rows with a verdict.
    pub rows: usize,
    /// Upper limit of the expected number of rows that differ by chance alone, if all published numbers and claims are
    /// correct: 2.5 % of the rows.
    pub expected: f64,
    /// Number of published numbers with the verdict `differs`.
    pub differ: usize,
    /// Number of published numbers that still differ if the false discovery rate is limited to 5 % (Benjamini,
    /// Hochberg, J. R. Stat. Soc. B 57(1), 1995).
    pub kept: usize,
}

impl Chance {
    /// Computes the numbers of differing rows, and the number expected by chance.
    pub fn of<'a>(items: impl Iterator<Item = &'a Item> + Clone) -> Chance {
        let rows = items.clone().filter(|item| item.verdict.is_some()).count();
        let mut chances: Vec<f64> = items.clone().filter_map(p_value).collect();
        chances.sort_by(f64::total_cmp);
        let count = chances.len() as f64;
        let is_kept =
            |(at, chance): (usize, &f64)| (*chance <= 0.05 * (at as f64 + 1.0) / count).then_some(at + 1);
        let kept = chances.iter().enumerate().filter_map(is_kept).next_back().unwrap_or(0);
        let is_number = |item: &&Item| item.margin.is_some() && item.verdict == Some(Verdict::Differs);
        Chance { rows, expected: 0.025 * rows as f64, differ: items.filter(is_number).count(), kept }
    }

    /// Returns a summary sentence.
    pub fn words(&self) -> String {
        let still = match self.differ {
            0 => "no number still differs".to_owned(),
            all => format!("{} of {all} numbers still differ", self.kept.min(all)),
        };
        format!(
            "Chance alone is expected to make {} or fewer of these rows differ. If the false discovery rate is limited \
             to 5 %, {still}.",
            libm::ceil(self.expected),
        )
    }
}

/// Returns the p-value of our deviation from the published number. For a number from one run, the p-value is
/// `Item::chance`. For any other number, the null hypothesis is that the true value lies at the edge of the margin.
fn p_value(item: &Item) -> Option<f64> {
    if item.chance.is_some() {
        return item.chance;
    }
    let (published, margin, mean) = (item.published?, item.margin?, item.measured?);
    let [low, high] = item.ci95?;
    let beyond = (mean - published).abs() - margin;
    let half = (high - low) / 2.0;
    if half <= 0.0 || item.runs < 2 {
        return Some(if beyond > 0.0 { 0.0 } else { 1.0 });
    }
    let freedom = item.runs - 1;
    let error = half / quantile(freedom);
    let students = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
    Some(students.sf(beyond / error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Estimate;

    fn number(mean: f64, half: f64, verdict: Verdict) -> Item {
        let ours = Estimate { mean, ci95: Some([mean - half, mean + half]), runs: 10 };
        let item = Item::new("test", "one", "").measured(Some(ours));
        Item { published: Some(100.0), margin: Some(5.0), verdict: Some(verdict), ..item }
    }

    #[test]
    fn one_that_barely_differs_among_many_does_not_stay() {
        let mut items: Vec<Item> = (0..39).map(|_| number(100.0, 1.0, Verdict::Agrees)).collect();
        // This number lies just outside the margin. Its p-value is 2.5 %, so that one such row among 40 rows is
        // expected by chance.
        items.push(number(107.0, 1.99, Verdict::Differs));
        let chance = Chance::of(items.iter());
        assert_eq!((chance.rows, chance.differ, chance.kept), (40, 1, 0));
        assert!((chance.expected - 1.0).abs() < 1e-12);
        items.push(number(150.0, 1.0, Verdict::Differs));
        assert_eq!(Chance::of(items.iter()).kept, 1);
    }

    #[test]
    fn counts_in_words() {
        let items = [number(100.0, 1.0, Verdict::Agrees), number(120.0, 1.0, Verdict::Differs)];
        let counts = of(items.iter());
        assert_eq!(words(&counts), "1 agrees, 1 differs");
        assert_eq!(counts.all(), 2);
    }
}
