//! Tests how well a model's lengths of runs fit the observed lengths, by chi-square.

use super::LossRecord;
use statrs::function::gamma::gamma_ur;

/// Classes of burst lengths: the largest length in each class. A burst is a run of lost packets.
const BURSTS: [u64; 9] = [1, 2, 3, 4, 6, 10, 20, 50, u64::MAX];
/// Classes of gap lengths: the largest length in each class. A gap is a run of arrived packets.
const GAPS: [u64; 9] = [1, 3, 10, 30, 100, 300, 1000, 3000, u64::MAX];
/// Smallest expected count that a class may have (Cochran 1954).
const MIN_EXPECTED: f64 = 5.0;

/// Number of runs in each class. The first and the last run are left out, because the record may cut them off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lengths {
    pub(crate) bursts: [u64; 9],
    pub(crate) gaps: [u64; 9],
}

impl Lengths {
    pub(crate) fn of(record: &LossRecord) -> Lengths {
        let mut lengths = Lengths::default();
        let mut before: Option<(bool, u32)> = None;
        let mut is_first = true;
        for run in record.runs() {
            if let Some((is_lost, length)) = before.replace(run) {
                if !is_first {
                    let (counts, bounds) =
                        if is_lost { (&mut lengths.bursts, &BURSTS) } else { (&mut lengths.gaps, &GAPS) };
                    let class = bounds.iter().position(|bound| u64::from(length) <= *bound).unwrap_or(8);
                    counts[class] += 1;
                }
                is_first = false;
            }
        }
        lengths
    }

    pub(crate) fn count(&self) -> u64 {
        self.bursts.iter().chain(&self.gaps).sum()
    }
}

/// Returns the number of runs in each class that a model predicts. `longer` returns the share of runs that are longer
/// than a given length.
pub(crate) fn expected(counts: &[u64; 9], is_lost: bool, longer: impl Fn(u64) -> f64) -> [f64; 9] {
    let bounds = if is_lost { BURSTS } else { GAPS };
    let total = counts.iter().sum::<u64>() as f64;
    let mut above = 1.0;
    bounds.map(|bound| {
        let below = if bound == u64::MAX { 0.0 } else { longer(bound) };
        let share = (above - below).max(0.0);
        above = below;
        total * share
    })
}

pub(crate) fn class(at: usize, is_lost: bool) -> String {
    let bounds = if is_lost { BURSTS } else { GAPS };
    let from = if at == 0 { 1 } else { bounds[at - 1] + 1 };
    match bounds[at] {
        u64::MAX => format!("{from} and more"),
        to if to == from => format!("{from}"),
        to => format!("{from} to {to}"),
    }
}

/// Result of Pearson's chi-square test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChiSquare {
    /// Sum of (observed - expected)² / expected over all classes.
    pub(crate) sum: f64,
    /// Degrees of freedom of the sum.
    pub(crate) freedom: usize,
    /// Probability that the sum is at least this large if the model is true.
    pub(crate) p: f64,
}

/// Performs one chi-square test for burst lengths and gap lengths together. A class with a small expected count is
/// merged with the next class. Returns `None` if too few classes remain.
pub(crate) fn chi_square(parts: [(&[u64; 9], &[f64; 9]); 2], parameters: usize) -> Option<ChiSquare> {
    let (mut sum, mut classes) = (0.0, 0);
    for (observed, expected) in parts {
        let mut joined: Vec<(f64, f64)> = Vec::new();
        let (mut seen, mut awaited) = (0.0, 0.0);
        for (observed, expected) in observed.iter().zip(expected) {
            seen += *observed as f64;
            awaited += expected;
            if awaited >= MIN_EXPECTED {
                joined.push((seen, awaited));
                (seen, awaited) = (0.0, 0.0);
            }
        }
        match joined.last_mut() {
            Some(last) => *last = (last.0 + seen, last.1 + awaited),
            None => continue,
        }
        sum +=
            joined.iter().map(|(seen, awaited)| (seen - awaited) * (seen - awaited) / awaited).sum::<f64>();
        classes += joined.len() - 1;
    }
    let freedom = classes.checked_sub(parameters).filter(|freedom| *freedom > 0)?;
    Some(ChiSquare { sum, freedom, p: gamma_ur(0.5 * freedom as f64, (0.5 * sum).max(1e-300)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_at_the_edges_are_not_counted() {
        let record: LossRecord = [false, true, true, false, false, true, false].into_iter().collect();
        let lengths = Lengths::of(&record);
        assert_eq!(lengths.bursts, [1, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(lengths.gaps, [0, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn chi_square_is_the_books_one() {
        // Textbook example: 120 throws of a die. The sum is (5² + 2² + 5² + 2² + 6² + 6²) / 20 = 6.5. With five degrees
        // of freedom, tables of the chi-square distribution give p = 0.2606.
        let observed = [25, 18, 15, 22, 26, 14, 0, 0, 0];
        let expected = [20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 0.0, 0.0, 0.0];
        let empty = ([0; 9], [0.0; 9]);
        let ChiSquare { sum, freedom, p } =
            chi_square([(&observed, &expected), (&empty.0, &empty.1)], 0).unwrap();
        assert_eq!((sum, freedom), (6.5, 5));
        assert!((p - 0.2606).abs() < 1e-4, "{p}");
    }
}
