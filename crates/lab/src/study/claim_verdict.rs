//! Verdicts on claims. At each point (combination of axis values), a claim holds significantly, fails significantly, or
//! is open.
//!
//! A claim *agrees* if it holds significantly at all points. This rule needs no correction for the number of points
//! because the tests must succeed at all points. A claim *differs* if it fails significantly at one point or more (97.5
//! % one-sided, corrected for the number of points: Holm, Scand. J. Stat. 6, 1979). Otherwise, a claim has the *shape*
//! if the means satisfy the claim at all points. In all remaining cases, the claim is *inconclusive*.

use crate::item::Verdict;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Tolerance of the relation "not worse", as a share. A curve that is lower than a second curve by at most this share
/// is "not worse" than the second curve.
pub const MARGIN: f64 = 0.02;
/// One-sided significance level. Each end of a 95 % interval has the same level.
const LEVEL: f64 = 0.025;

/// Test of a claim at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointTest {
    /// Whether the mean satisfies the claim.
    pub holds: bool,
    /// Probability of data at least as favourable to the claim as ours, if the claim is false.
    pub p_if_false: f64,
    /// Probability of data at least as adverse to the claim as ours, if the claim is true.
    pub p_if_true: f64,
}

impl PointTest {
    /// Returns the result for a point at which the claim certainly holds or certainly fails, so that no test is needed.
    pub const fn known(holds: bool) -> PointTest {
        if holds {
            PointTest { holds, p_if_false: 0.0, p_if_true: 1.0 }
        } else {
            PointTest { holds, p_if_false: 1.0, p_if_true: 0.0 }
        }
    }

    /// Tests whether the mean of `values` is above `least`. Unless `strictly` is true, a mean equal to `least` also
    /// passes. Returns `None` if `values` is empty. `is_exact` means that the scenario has no randomness; one value
    /// then suffices.
    pub fn above(values: &[f64], least: f64, strictly: bool, is_exact: bool) -> Option<PointTest> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let holds = if strictly { mean > least } else { mean >= least };
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
        if values.len() == 1 {
            let open = PointTest { holds, p_if_false: 0.5, p_if_true: 0.5 };
            return Some(if is_exact { PointTest::known(holds) } else { open });
        }
        if variance <= 1e-24 * (mean * mean + least * least) {
            return Some(PointTest::known(holds));
        }
        let t = (mean - least) / libm::sqrt(variance / n);
        let beyond = StudentsT::new(0.0, 1.0, n - 1.0).map_or(0.5, |students| students.sf(t));
        Some(PointTest { holds, p_if_false: beyond, p_if_true: 1.0 - beyond })
    }

    /// Combines two tests. The claim must hold at both points.
    pub fn and(self, other: PointTest) -> PointTest {
        PointTest::all(&[self, other]).unwrap_or(self)
    }

    /// Combines tests. The claim must hold at all points. Returns `None` if `points` is empty.
    pub fn all(points: &[PointTest]) -> Option<PointTest> {
        let least = points.iter().map(|point| point.p_if_true).fold(1.0, f64::min);
        (!points.is_empty()).then(|| PointTest {
            holds: points.iter().all(|point| point.holds),
            p_if_false: points.iter().map(|point| point.p_if_false).fold(0.0, f64::max),
            // A Bonferroni correction for the number of points is applied because each point may fail by chance.
            p_if_true: (least * points.len() as f64).min(1.0),
        })
    }

    /// Whether the claim holds significantly at this point.
    pub fn is_sure(&self) -> bool {
        self.p_if_false <= LEVEL
    }
}

/// Returns the verdict over all points. Returns `None` if `points` is empty.
pub fn verdict(points: &[PointTest]) -> Option<Verdict> {
    if points.is_empty() {
        return None;
    }
    let least_likely = points.iter().map(|point| point.p_if_true).fold(1.0, f64::min);
    Some(match () {
        () if points.iter().all(PointTest::is_sure) => Verdict::Agrees,
        // In the first step of Holm's correction, one significant failure suffices for the verdict.
        () if least_likely * points.len() as f64 <= LEVEL => Verdict::Differs,
        () if points.iter().all(|point| point.holds) => Verdict::Shape,
        () => Verdict::Inconclusive,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_point_by_the_tables() {
        // The mean of the values is 3, and the standard error is sqrt(0.5). The 97.5 % quantile of Student's t with 4
        // degrees of freedom is 2.776.
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        let at = |least| PointTest::above(&values, least, true, false).unwrap();
        let edge = 3.0 - 2.776 * 0.5_f64.sqrt();
        assert!((at(edge).p_if_false - 0.025).abs() < 1e-4);
        assert!(at(edge - 0.1).is_sure() && !at(edge + 0.1).is_sure());
        assert!(!at(4.0).holds && at(2.9).holds);
    }

    #[test]
    fn one_sure_failure_differs_and_chance_is_counted() {
        let sure = PointTest { holds: true, p_if_false: 0.001, p_if_true: 0.999 };
        let open = PointTest { holds: true, p_if_false: 0.2, p_if_true: 0.8 };
        let failed = PointTest { holds: false, p_if_false: 0.98, p_if_true: 0.02 };
        assert_eq!(verdict(&[sure, sure]), Some(Verdict::Agrees));
        assert_eq!(verdict(&[sure, open]), Some(Verdict::Shape));
        assert_eq!(verdict(&[failed]), Some(Verdict::Differs));
        assert_eq!(
            verdict(&[sure, sure, sure, sure, sure, sure, sure, sure, sure, failed]),
            Some(Verdict::Inconclusive)
        );
        assert_eq!(verdict(&[sure, PointTest { p_if_true: 0.001, ..failed }]), Some(Verdict::Differs));
        assert_eq!(verdict(&[]), None);
    }

    #[test]
    fn what_does_not_vary_is_known() {
        assert_eq!(PointTest::above(&[0.0, 0.0], 0.0, true, false), Some(PointTest::known(false)));
        assert_eq!(PointTest::above(&[0.0, 0.0], 0.0, false, false), Some(PointTest::known(true)));
        assert_eq!(PointTest::above(&[1.0], 0.0, true, true), Some(PointTest::known(true)));
        assert!(!PointTest::above(&[1.0], 0.0, true, false).unwrap().is_sure());
        assert_eq!(PointTest::above(&[], 0.0, true, true), None);
    }
}
