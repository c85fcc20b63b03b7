//! Distributions of sizes and times.

use crate::random::Stream;

/// A distribution of positive numbers with a given mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Spread {
    /// Constant.
    #[default]
    Fixed,
    /// Exponential.
    Exponential,
    /// Pareto of shape 1.5: finite mean and infinite variance. On and off times of self-similar traffic are Pareto
    /// distributed with shapes from 1 to 2 (Willinger et al., IEEE/ACM ToN 5, 1997). 1.5 is also ns-2's default.
    Pareto,
    /// Log-normal with sigma 1.3: many small values, few large ones. Sizes of web files are log-normal (Downey,
    /// Computer Communications 28, 2005); this sigma is typical, without a source.
    Web,
    /// Log-normal with sigma 0.3: sizes of video segments of one quality (a typical value, without a source).
    Video,
}

const SHAPE: f64 = 1.5;

impl Spread {
    /// Names, in the order of the variants.
    pub const NAMES: &'static [&'static str] = &["fixed", "exponential", "pareto", "web", "video"];

    /// Returns the distribution of this name.
    pub fn named(name: &str) -> Option<Spread> {
        let all = [Spread::Fixed, Spread::Exponential, Spread::Pareto, Spread::Web, Spread::Video];
        Spread::NAMES.iter().position(|known| *known == name).map(|at| all[at])
    }

    /// Whether values vary.
    pub fn is_random(self) -> bool {
        self != Spread::Fixed
    }

    /// Draws a number with this mean, in the unit of `mean`. Takes zero, one or two draws from `random`.
    pub fn draw(self, random: &mut Stream, mean: f64) -> f64 {
        match self {
            Spread::Fixed => mean,
            Spread::Exponential => random.exponential(mean),
            // Divides the minimum by a root of a uniform number. This number is never zero.
            Spread::Pareto => mean * (SHAPE - 1.0) / SHAPE * libm::pow(1.0 - random.uniform(), -1.0 / SHAPE),
            Spread::Web => mean * log_normal(random, 1.3),
            Spread::Video => mean * log_normal(random, 0.3),
        }
    }

    /// Draws a whole number of bytes, at least 1, with this mean.
    pub fn draw_bytes(self, random: &mut Stream, mean: u64) -> u64 {
        libm::round(self.draw(random, mean as f64)).clamp(1.0, 1e15) as u64
    }
}

/// Returns a log-normal number of mean 1: exp(sigma Z - sigma² / 2). Z is a standard normal number by the method of Box
/// and Muller (1958).
fn log_normal(random: &mut Stream, sigma: f64) -> f64 {
    // `1 - uniform` is never zero, so that its logarithm is finite.
    let (one, other) = (1.0 - random.uniform(), random.uniform());
    let normal = libm::sqrt(-2.0 * libm::log(one)) * libm::cos(std::f64::consts::TAU * other);
    libm::exp(sigma * normal - 0.5 * sigma * sigma)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws 90,000 numbers: means must agree within five standard errors, and medians within 3 %.
    #[test]
    fn numbers_have_their_mean_and_their_median() {
        // The table has the standard deviation and the median, each divided by the mean. For the exponential
        // distribution these are 1 and ln 2; for the log-normal distribution, sqrt(exp(σ²) - 1) and exp(-σ²/2).
        let normal =
            |sigma: f64| (libm::sqrt(libm::exp(sigma * sigma) - 1.0), libm::exp(-0.5 * sigma * sigma));
        for (spread, (deviation, median)) in [
            (Spread::Exponential, (1.0, std::f64::consts::LN_2)),
            (Spread::Web, normal(1.3)),
            (Spread::Video, normal(0.3)),
        ] {
            let mut random = Stream::named(7, "spread");
            let mut all: Vec<f64> = (0..90_000).map(|_| spread.draw(&mut random, 2.0) / 2.0).collect();
            let mean = all.iter().sum::<f64>() / 90_000.0;
            assert!((mean - 1.0).abs() < 5.0 * deviation / 300.0, "{spread:?}: {mean}");
            all.sort_by(f64::total_cmp);
            let found = all[45_000];
            assert!((found / median - 1.0).abs() < 0.03, "{spread:?}: {found}, not {median}");
        }
        assert_eq!(Spread::Fixed.draw(&mut Stream::named(7, "spread"), 3.5), 3.5);
    }

    /// P(X > x) = (x_m / x)^1.5, x_m = mean / 3. The variance is infinite, so the test compares shares instead of
    /// means.
    #[test]
    fn pareto_s_tail_is_a_power() {
        let mut random = Stream::named(7, "pareto");
        let all: Vec<f64> = (0..90_000).map(|_| Spread::Pareto.draw(&mut random, 3.0)).collect();
        assert!(all.iter().all(|x| *x >= 1.0 - 1e-12));
        for (x, share) in [(2.0_f64, 0.353_553), (4.0, 0.125), (100.0, 0.001)] {
            let found = all.iter().filter(|other| **other > x).count() as f64 / 90_000.0;
            let error = (share * (1.0 - share) / 90_000.0_f64).sqrt();
            assert!((found - share).abs() < 5.0 * error, "{x}: {found}, not {share}");
        }
    }

    #[test]
    fn every_name_is_one() {
        assert!(Spread::NAMES.iter().all(|name| Spread::named(name).is_some()));
        assert_eq!((Spread::named("pareto"), Spread::named("Pareto")), (Some(Spread::Pareto), None));
    }
}
