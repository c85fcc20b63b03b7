//! Stopping rule: a sequential procedure that adds runs until a relative precision is reached.
//!
//! Runs of a point (one combination of values) are added until the half-width of the 95 % confidence interval is at
//! most γ / (1 + γ) of the mean. γ is the required relative error (Law, Simulation Modeling and Analysis, 5th ed. 2015,
//! §9.4.1, after Law and Kelton). Chow and Robbins (Ann. Math. Stat. 36, 1965) prove the coverage in the limit of γ
//! towards 0. The first check is after ten runs, as Law advises. The next check follows when the number of runs has
//! grown by a tenth, and by at least ten. With more frequent checks, the rule would more often end too early by chance.

use lasthop_lab::stats::Estimate;

/// Number of runs before the first check.
pub const FIRST_CHECK: u32 = 10;
/// Default limit of the number of runs of one point.
pub const DEFAULT_MAX_RUNS: u32 = 10_000;

/// Required relative precision of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    relative: f64,
}

impl Precision {
    /// Returns the precision with the relative error `relative`, such as 0.02. Returns `None` unless `relative` is
    /// above 0 and below 1.
    pub fn new(relative: f64) -> Option<Precision> {
        (relative > 0.0 && relative < 1.0).then_some(Precision { relative })
    }

    /// Returns the number of runs at the next check. `checked` is the number of runs at the last check, or 0 if no
    /// check was made.
    pub fn next_check(checked: u32) -> u32 {
        if checked == 0 { FIRST_CHECK } else { checked.saturating_add((checked / 10).max(10)) }
    }

    /// Whether the confidence interval of these values is narrow enough. Also returns true if no run reports the
    /// metric, so that the metric requests no more runs.
    pub fn is_reached(&self, values: &[Option<f64>]) -> bool {
        self.is_reached_beside(values, values)
    }

    /// Whether the half-width of the interval of `values` is small enough relative to the mean of `of`. This check is
    /// for paired differences: their own mean may be zero.
    pub fn is_reached_beside(&self, values: &[Option<f64>], of: &[Option<f64>]) -> bool {
        match estimate(values).zip(estimate(of)) {
            Some((estimate, of)) => {
                estimate.half_width().is_some_and(|half| half <= self.allowed() * of.mean.abs())
            }
            None => true,
        }
    }

    /// Estimates the total number of runs until [`Precision::is_reached`] returns true, from these values.
    pub fn expected(&self, values: &[Option<f64>]) -> u32 {
        self.expected_beside(values, values)
    }

    /// Returns the expected total number of runs until [`Precision::is_reached_beside`] returns true.
    pub fn expected_beside(&self, values: &[Option<f64>], of: &[Option<f64>]) -> u32 {
        let known = estimate(values).zip(estimate(of));
        let Some((half, of)) = known.and_then(|(estimate, of)| Some((estimate.half_width()?, of))) else {
            return FIRST_CHECK;
        };
        // The width of the interval is inversely proportional to the square root of the number of runs.
        let ratio = half / (self.allowed() * of.mean.abs());
        let runs = values.len() as f64 * ratio * ratio;
        // If both the interval and the mean are zero, the ratio is undefined.
        if runs.is_nan() { FIRST_CHECK } else { runs.min(f64::from(u32::MAX)) as u32 }
    }

    fn allowed(&self) -> f64 {
        self.relative / (1.0 + self.relative)
    }
}

fn estimate(values: &[Option<f64>]) -> Option<Estimate> {
    Estimate::of(&values.iter().flatten().copied().collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Stream;

    #[test]
    fn worked_by_hand() {
        // The values are five times 95 and five times 105. With standard deviation 5.270 and t(9) = 2.262, the
        // half-width is 3.770, which is 3.77 % of the mean. This is γ / (1 + γ) for γ = 3.92 %.
        let values: Vec<Option<f64>> =
            (0..10).map(|at| Some(if at % 2 == 0 { 95.0 } else { 105.0 })).collect();
        assert!(Precision::new(0.0393).unwrap().is_reached(&values));
        assert!(!Precision::new(0.0391).unwrap().is_reached(&values));
        // Halving the relative error requires four times as many runs.
        let expected = |relative| Precision::new(relative).unwrap().expected(&values);
        assert_eq!(expected(0.0392), 9);
        assert!((39..=41).contains(&expected(0.0193)), "{}", expected(0.0193));
    }

    /// Differences of -1 and 1 have the mean 0. The half-width of their interval is 0.754: 0.754 % of a mean of 100.
    #[test]
    fn differences_are_measured_by_what_they_are_of() {
        let differences: Vec<Option<f64>> =
            (0..10).map(|at| Some(if at % 2 == 0 { -1.0 } else { 1.0 })).collect();
        let firsts = [Some(100.0); 10];
        // For γ = 0.760 %, γ / (1 + γ) is 0.754 %.
        let reached = |relative| Precision::new(relative).unwrap().is_reached_beside(&differences, &firsts);
        assert!(reached(0.0077) && !reached(0.0075));
        assert!(!Precision::new(0.9).unwrap().is_reached(&differences));
        let expected = Precision::new(0.0038).unwrap().expected_beside(&differences, &firsts);
        assert!((39..=41).contains(&expected), "{expected}");
    }

    #[test]
    fn looks_are_ten_runs_or_a_tenth_apart() {
        let mut looks = vec![0];
        while looks.len() < 15 {
            looks.push(Precision::next_check(looks[looks.len() - 1]));
        }
        assert_eq!(looks, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 121, 133, 146]);
    }

    #[test]
    fn numbers_without_a_spread_stop_at_once() {
        let precision = Precision::new(0.01).unwrap();
        assert!(precision.is_reached(&[Some(0.0); 10]) && precision.is_reached(&[Some(7.0); 10]));
        assert!(precision.is_reached(&[None; 10]));
        assert!(!precision.is_reached(&[Some(7.0), None, None]));
        assert_eq!(precision.expected(&[Some(0.0); 10]), FIRST_CHECK);
        for wrong in [0.0, -0.1, 1.0, f64::NAN] {
            assert_eq!(Precision::new(wrong), None);
        }
    }

    /// Draws a number from the standard normal distribution (Box-Muller transform).
    fn normal(stream: &mut Stream) -> f64 {
        let radius = (-2.0 * (1.0 - stream.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * stream.uniform()).cos()
    }

    /// Applies the stopping rule to many random sequences. Returns three numbers: the share of sequences whose interval
    /// contains the mean, the share whose mean is close enough, and the mean number of runs.
    fn coverage(relative: f64, draws: u32, mean: f64, draw: fn(&mut Stream) -> f64) -> [f64; 3] {
        let precision = Precision::new(relative).unwrap();
        let mut stream = Stream::named(13, "coverage");
        let (mut covered, mut near, mut runs) = (0, 0, 0);
        for _ in 0..draws {
            let mut values: Vec<Option<f64>> = Vec::new();
            let mut look = Precision::next_check(0);
            loop {
                values.resize_with(look as usize, || Some(draw(&mut stream)));
                if precision.is_reached(&values) {
                    break;
                }
                look = Precision::next_check(look);
            }
            let known: Vec<f64> = values.iter().flatten().copied().collect();
            let estimate = Estimate::of(&known).unwrap();
            covered += u32::from(estimate.ci95.is_some_and(|[low, high]| low <= mean && mean <= high));
            near += u32::from((estimate.mean - mean).abs() <= relative * mean);
            runs += known.len();
        }
        let share = |count: u32| f64::from(count) / f64::from(draws);
        [share(covered), share(near), runs as f64 / f64::from(draws)]
    }

    /// For γ above 0, the coverage may be below 95 %: Chow and Robbins prove only the limit of γ towards 0
    /// (measurements: Law, Kelton and Koenig, Commun. Stat. B 10, 1981). For 2,000 sequences, three standard errors are
    /// 1.5 percentage points.
    #[test]
    fn the_interval_covers_as_it_says() {
        for (name, relative, least, mean, draw) in [
            ("normal, spread 10 %", 0.02, 99.9, 10.0, (|s| 10.0 + normal(s)) as fn(&mut Stream) -> f64),
            ("normal, spread 30 %", 0.05, 152.5, 10.0, |s| 10.0 + 3.0 * normal(s)),
            ("exponential", 0.10, 464.8, 1.0, |s| -(1.0 - s.uniform()).ln()),
        ] {
            let [covered, near, runs] = coverage(relative, 2_000, mean, draw);
            assert!((covered - 0.95).abs() < 0.015, "{name}: {covered}");
            assert!(near > 0.95 - 0.015, "{name}: {near}");
            // `least` is the number of runs for a known relative spread: (1.96 x spread / (γ / (1 + γ)))². The number
            // may be larger by 15 %, because successive checks are at least a tenth apart.
            assert!(runs > 0.95 * least && runs < 1.15 * least, "{name}: {runs} of {least}");
        }
    }
}
