//! Means with their Student-t 95 % intervals.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean of independent repetitions with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower and upper end of the interval; both the mean if there is one repetition only.
    pub ci95: [f64; 2],
    /// Repetitions.
    pub runs: usize,
}

impl Estimate {
    /// The mean of `values`; `None` without any.
    ///
    /// A single value has no interval that could be computed: it is given as wide as the whole line.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let runs = values.len();
        if runs == 0 {
            return None;
        }
        let n = runs as f64;
        let mean = values.iter().sum::<f64>() / n;
        if runs == 1 {
            return Some(Estimate { mean, ci95: [f64::NEG_INFINITY, f64::INFINITY], runs });
        }
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let half = quantile(runs - 1) * (variance / n).sqrt();
        Some(Estimate { mean, ci95: [mean - half, mean + half], runs })
    }

    /// Half the interval's width.
    pub fn half_width(&self) -> f64 {
        (self.ci95[1] - self.ci95[0]) / 2.0
    }
}

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom.
fn quantile(freedom: usize) -> f64 {
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
        // Student 1908; any statistics table: t(0.975) for 1, 4, 9 and 29 degrees of freedom.
        for (freedom, table) in [(1, 12.706), (4, 2.776), (9, 2.262), (29, 2.045)] {
            assert!((quantile(freedom) - table).abs() < 5e-4, "{freedom}");
        }
    }

    #[test]
    fn an_interval_worked_by_hand() {
        // Mean 3, s^2 = 2.5, n = 5: half width 2.776 sqrt(0.5) = 1.963.
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((estimate.mean - 3.0).abs() < 1e-12);
        assert!((estimate.half_width() - 1.963).abs() < 1e-3);
        assert_eq!(Estimate::of(&[]), None);
    }
}
