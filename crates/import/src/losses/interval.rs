//! Confidence interval of a probability from its profile likelihood.

/// Half of the 95th percentile of chi-square with one degree of freedom.
const HALF: f64 = 1.920_729_410_347_062;

/// Returns the 95 % interval (Wilks 1938): all probabilities whose log likelihood is at most 1.92 below the maximum.
pub(crate) fn of_share(happened: f64, of: f64) -> [f64; 2] {
    if of <= 0.0 {
        return [0.0, 1.0];
    }
    let height = |p: f64| {
        let term = |count: f64, p: f64| if count > 0.0 { count * libm::log(p) } else { 0.0 };
        term(happened, p) + term(of - happened, 1.0 - p)
    };
    let best = happened / of;
    let top = height(best);
    let edge = |mut inside: f64, mut outside: f64| {
        for _ in 0..100 {
            let middle = 0.5 * (inside + outside);
            if top - height(middle) < HALF { inside = middle } else { outside = middle }
        }
        inside
    };
    [if happened > 0.0 { edge(best, 0.0) } else { 0.0 }, if happened < of { edge(best, 1.0) } else { 1.0 }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_likelihood() {
        // For 0 of n events the likelihood is (1 - p)^n, so the upper bound is 1 - exp(-1.9207 / n).
        let [low, high] = of_share(0.0, 100.0);
        assert!(low == 0.0 && (high - (1.0 - libm::exp(-HALF / 100.0))).abs() < 1e-9);
        // For large counts the interval is as wide as the normal interval, 1.96 sqrt(p (1 - p) / n) to each side,
        // within 2 %.
        let [low, high] = of_share(20_000.0, 100_000.0);
        let half = 1.959_964 * (0.2_f64 * 0.8 / 100_000.0).sqrt();
        assert!(((high - low) / (2.0 * half) - 1.0).abs() < 0.02);
        assert_eq!(of_share(0.0, 0.0), [0.0, 1.0]);
    }
}
