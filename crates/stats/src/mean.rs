//! Means with 95 % intervals by Student's t.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean of independent repetitions, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Bounds of the 95 % interval. `None` if only one repetition was run.
    pub ci95: Option<[f64; 2]>,
    /// Number of repetitions.
    pub runs: usize,
}

impl Estimate {
    /// Computes the mean of `values`. Returns `None` if `values` is empty.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let runs = values.len();
        if runs == 0 {
            return None;
        }
        let n = runs as f64;
        let mean = values.iter().sum::<f64>() / n;
        if runs == 1 {
            return Some(Estimate { mean, ci95: None, runs });
        }
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let half = quantile(runs - 1) * (variance / n).sqrt();
        Some(Estimate { mean, ci95: half.is_finite().then_some([mean - half, mean + half]), runs })
    }

    /// Limits the interval to the possible values of the quantity, such as 0 to 1 for a share.
    pub fn within(self, bounds: Option<[f64; 2]>) -> Estimate {
        let [least, most] = bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        Estimate { ci95: self.ci95.map(|[low, high]| [low.max(least), high.min(most)]), ..self }
    }

    /// Returns half of the interval's width. Returns `None` if the estimate has no interval.
    pub fn half_width(&self) -> Option<f64> {
        self.ci95.map(|[low, high]| (high - low) / 2.0)
    }

    /// Whether the whole interval is above a bound. Returns false if the estimate has no interval.
    pub fn is_above(&self, bound: f64) -> bool {
        self.ci95.is_some_and(|[low, _]| low > bound)
    }
}

/// Linearised ratio of paired means (delta method). If the base is highly variable, use
/// [`crate::change::PercentChange`] instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioOfMeans {
    ratio: f64,
    base: f64,
}

impl RatioOfMeans {
    /// Returns the ratio of the mean of `ones` to the mean of `others`, which are paired. Returns `None` if no pair is
    /// given, or if the mean of `others` is not positive.
    pub fn of(ones: &[f64], others: &[f64]) -> Option<RatioOfMeans> {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let base = mean(others);
        let is_defined = !ones.is_empty() && ones.len() == others.len() && base > 0.0;
        is_defined.then(|| RatioOfMeans { ratio: mean(ones) / base, base })
    }

    /// Returns the contribution of one pair to the change, %. The mean of the contributions of all pairs is the change,
    /// 100 (ratio - 1), and the standard error of this mean is the standard error of the change.
    pub fn change(&self, one: f64, other: f64) -> f64 {
        100.0 * (self.ratio + (one - self.ratio * other) / self.base - 1.0)
    }
}

/// Computes the change of a mean, %: 100 (mean of `ones` / mean of `others` - 1) with its interval ([`RatioOfMeans`]).
pub fn change_of_means(ones: &[f64], others: &[f64]) -> Option<Estimate> {
    let ratio = RatioOfMeans::of(ones, others)?;
    let changes: Vec<f64> = ones.iter().zip(others).map(|(one, other)| ratio.change(*one, *other)).collect();
    Estimate::of(&changes)
}

/// Returns the 97.5 % quantile of Student's t with `freedom` degrees of freedom.
pub fn quantile(freedom: usize) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom as f64) {
        Ok(t) => t.inverse_cdf(0.975),
        Err(_) => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_tables() {
        // The expected values are t(0.975) for 1, 4, 9 and 29 degrees of freedom, from any table of Student's t.
        for (freedom, table) in [(1, 12.706), (4, 2.776), (9, 2.262), (29, 2.045)] {
            assert!((quantile(freedom) - table).abs() < 5e-4, "{freedom}");
        }
    }

    #[test]
    fn an_interval_worked_by_hand() {
        // With mean 3, s^2 = 2.5 and n = 5, the half width is 2.776 sqrt(0.5) = 1.963.
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((estimate.mean - 3.0).abs() < 1e-12);
        assert!((estimate.half_width().unwrap() - 1.963).abs() < 1e-3);
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn a_change_of_means_worked_by_hand() {
        // The means are 6 and 4, a change of 50 %. If all pairs have the same ratio, the width of the interval is zero.
        let estimate = change_of_means(&[3.0, 9.0], &[2.0, 6.0]).unwrap();
        assert!((estimate.mean - 50.0).abs() < 1e-9 && estimate.half_width().unwrap() < 1e-9);
        // The mean of the ratios (3 and 1) would be a change of 100 %. The change of the means is 50 %.
        let estimate = change_of_means(&[6.0, 6.0], &[2.0, 6.0]).unwrap();
        assert!((estimate.mean - 50.0).abs() < 1e-9);
        // The residuals are 6 - 1.5 x 2 = 3 and 6 - 1.5 x 6 = -3. Divided by the base 4 and added to the ratio 1.5, the
        // residuals give 2.25 and 0.75. The changes are therefore +125 % and -25 %, with s = 106.07 percentage points
        // and a standard error of 75 percentage points. With one degree of freedom, t = 12.706, so that the half width
        // is 12.706 x 75.
        assert!((estimate.half_width().unwrap() - 952.97).abs() < 0.1);
        assert_eq!(change_of_means(&[], &[]), None);
    }

    #[test]
    fn an_interval_ends_where_its_quantity_does() {
        let of = |values: &[f64], bounds| Estimate::of(values).unwrap().within(bounds);
        assert_eq!(of(&[0.8, 1.0, 0.9], Some([0.0, 1.0])).ci95.unwrap()[1], 1.0);
        // For two values, the half width of the interval is 12.7 standard errors (Student's t).
        let counts = of(&[0.0, 2.0], Some([0.0, f64::INFINITY]));
        assert!(counts.ci95.is_some_and(|[low, high]| low == 0.0 && high > 13.0), "{counts:?}");
        assert!(of(&[0.0, 2.0], None).ci95.unwrap()[0] < -11.0);
        assert_eq!(of(&[0.5], Some([0.0, 1.0])).ci95, None);
    }

    #[test]
    fn no_interval_is_above_nothing() {
        let single = Estimate::of(&[5.0]).unwrap();
        assert_eq!((single.half_width(), single.is_above(0.0)), (None, false));
        // Two values of 5 have the mean 5 and a half width of 0.
        let equal = Estimate::of(&[5.0, 5.0]).unwrap();
        assert!(equal.is_above(4.9) && !equal.is_above(5.0));
    }
}
