//! miyoshi's analysis (§2.4): how often a window ends in a loss event with n ACKs per segment, and the throughput.
//!
//! A place has `n`, `p` (p_err) and `joined`; the parameters are p_buff, rtt_s, t0_s (s) and b, segments per ACK.

use crate::study::value::{Place, Value};

/// How the loss of all n ACKs (a timeout) joins Eq. 5, which counts triple duplicates alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    /// Not at all, as Eq. 5 is printed.
    AsPrinted,
    /// p(n) + p_err^n.
    Sum,
    /// 1 - (1 - p(n))(1 - p_err^n).
    Independent,
    /// The larger of p(n) and p_err^n.
    Largest,
}

impl Joined {
    /// The default first.
    pub(crate) const ALL: [Joined; 4] =
        [Joined::Independent, Joined::Sum, Joined::Largest, Joined::AsPrinted];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Joined::AsPrinted => "not at all (Eq. 5 as printed)",
            Joined::Sum => "p(n) + p_err^n",
            Joined::Independent => "1 - (1 - p(n))(1 - p_err^n)",
            Joined::Largest => "the larger of p(n) and p_err^n",
        }
    }
}

/// p(n), Eq. 5.
pub fn loss_at(with: &toml::Table, place: &Place) -> Option<f64> {
    let n = place.get("n")?.number()? as u32;
    Some(loss(n, place.get("p")?.number()?, parameter(with, "p_buff")?, joined(place)?))
}

/// Throughput in segments per second, by Padhye's formula.
pub fn throughput_at(with: &toml::Table, place: &Place) -> Option<f64> {
    by_formula(throughput, with, place)
}

/// The same as Eq. 13 prints it.
pub fn throughput_as_printed_at(with: &toml::Table, place: &Place) -> Option<f64> {
    by_formula(throughput_as_printed, with, place)
}

/// The smallest p_err at which two ACKs lose least.
pub fn two_best_from(with: &toml::Table, place: &Place) -> Option<f64> {
    best_with_two(parameter(with, "p_buff")?, joined(place)?).map(|[from, _]| from)
}

/// The end of the range that begins there.
pub fn two_best_to(with: &toml::Table, place: &Place) -> Option<f64> {
    best_with_two(parameter(with, "p_buff")?, joined(place)?).map(|[_, to]| to)
}

type Formula = fn(f64, f64, f64, f64) -> f64;

fn by_formula(formula: Formula, with: &toml::Table, place: &Place) -> Option<f64> {
    let [rtt, t0, b] = ["rtt_s", "t0_s", "b"].map(|name| parameter(with, name));
    let value = formula(loss_at(with, place)?, rtt?, t0?, b?);
    value.is_finite().then_some(value)
}

fn parameter(with: &toml::Table, name: &str) -> Option<f64> {
    let value = with.get(name)?;
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

fn joined(place: &Place) -> Option<Joined> {
    let Value::Text(name) = place.get("joined")? else { return None };
    Joined::ALL.into_iter().find(|joined| joined.name() == name)
}

/// Probability that `least` or more of `n` ACKs arrive, each lost with probability `p_err` (Eqs. 10 to 12).
pub(crate) fn received(least: u32, n: u32, p_err: f64) -> f64 {
    (least..=n)
        .map(|i| binomial(n, i) * libm::pow(1.0 - p_err, f64::from(i)) * libm::pow(p_err, f64::from(n - i)))
        .sum()
}

fn binomial(n: u32, i: u32) -> f64 {
    (0..i).map(|step| f64::from(n - step) / f64::from(step + 1)).product()
}

/// Probability of three and more duplicate ACKs (Eqs. 5 to 9), then joined with the loss of all n.
pub(crate) fn loss(n: u32, p_err: f64, p_buff: f64, joined: Joined) -> f64 {
    let q = libm::cbrt(p_buff);
    let states = [1.0 - q, q - q * q, q * q - q * q * q];
    let needs = [3, 2, 1];
    let duplicates: f64 =
        states.iter().zip(needs).map(|(state, least)| state * received(least, n, p_err)).sum::<f64>()
            + p_buff;
    let all = libm::pow(p_err, f64::from(n));
    match joined {
        Joined::AsPrinted => duplicates,
        Joined::Sum => (duplicates + all).min(1.0),
        Joined::Independent => 1.0 - (1.0 - duplicates) * (1.0 - all),
        Joined::Largest => duplicates.max(all),
    }
}

/// Throughput in segments per second (Padhye et al., SIGCOMM 1998, Eq. 30 without the window's limit); `rtt` and `t0` in s.
pub(crate) fn throughput(p: f64, rtt: f64, t0: f64, b: f64) -> f64 {
    1.0 / (rtt * libm::sqrt(2.0 * b * p / 3.0) + t0 * timeouts(p, b))
}

/// The same as Eq. 13 prints it: the root spans both terms, and the last factor stands outside.
pub(crate) fn throughput_as_printed(p: f64, rtt: f64, t0: f64, b: f64) -> f64 {
    let least = (3.0 * libm::sqrt(3.0 * b * p / 8.0)).min(1.0);
    1.0 / (rtt * libm::sqrt(2.0 * b * p / 3.0 + t0 * least) * p * (1.0 + 32.0 * p * p))
}

fn timeouts(p: f64, b: f64) -> f64 {
    (3.0 * libm::sqrt(3.0 * b * p / 8.0)).min(1.0) * p * (1.0 + 32.0 * p * p)
}

/// The range of p_err in which two ACKs lose least of one, two and three: scanned in steps of 1e-4; `None` if nowhere.
pub(crate) fn best_with_two(p_buff: f64, joined: Joined) -> Option<[f64; 2]> {
    let is_best = |p_err: &f64| {
        let of = |n| loss(n, *p_err, p_buff, joined);
        of(2) < of(1) && of(2) < of(3)
    };
    let steps = || (1..10_000).map(|step| f64::from(step) * 1e-4);
    let from = steps().find(is_best)?;
    let to = steps().filter(|p_err| *p_err >= from).take_while(is_best).last()?;
    Some([from, to])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials_by_hand() {
        assert_eq!(received(3, 2, 0.1), 0.0);
        assert!((received(1, 2, 0.1) - 0.99).abs() < 1e-12);
        assert!((received(2, 2, 0.1) - 0.81).abs() < 1e-12);
        // 3 0.9^2 0.1 + 0.9^3.
        assert!((received(2, 3, 0.1) - 0.972).abs() < 1e-12);
    }

    #[test]
    fn without_errors_one_ack_leaves_the_buffers_loss() {
        // q^2 - q^3 + q^3 = q^2 with n = 1: a single further ACK completes the triple from the state of two.
        let q = libm::cbrt(0.01);
        assert!((loss(1, 0.0, 0.01, Joined::AsPrinted) - q * q).abs() < 1e-12);
        // With all ACKs lost only what the buffer lost is left.
        assert!((loss(3, 1.0, 0.01, Joined::AsPrinted) - 0.01).abs() < 1e-12);
    }

    #[test]
    fn as_printed_one_ack_is_always_best() {
        for step in 1..1000 {
            let of = |n| loss(n, f64::from(step) * 1e-3, 0.01, Joined::AsPrinted);
            assert!(of(1) < of(2) && of(2) < of(3), "{step}");
        }
        assert_eq!(best_with_two(0.01, Joined::AsPrinted), None);
    }

    #[test]
    fn where_two_cross_one_solved_by_hand() {
        // With the sum: q^2 (1-x) + x and (q - q^2)(1-x)^2 + (q^2 - q^3)(1 - x^2) + x^2 (plus q^3 each) are equal; with
        // y = 1 - x: q^2 (q - 1) y ... the bisection of the difference is the check, its sign the claim.
        let q = libm::cbrt(0.01);
        let one = |x: f64| (q * q - q * q * q) * (1.0 - x) + x;
        let two = |x: f64| (q - q * q) * (1.0 - x) * (1.0 - x) + (q * q - q * q * q) * (1.0 - x * x) + x * x;
        let [from, _] = best_with_two(0.01, Joined::Sum).expect("a range");
        assert!(two(from) < one(from) && two(from - 2e-4) > one(from - 2e-4), "{from}");
    }

    #[test]
    fn padhyes_formula_is_mathis_where_timeouts_are_rare() {
        // Mathis et al. 1997: sqrt(3 / (2 b p)) / RTT.
        let (p, rtt, b) = (1e-6, 0.1, 2.0);
        let mathis = libm::sqrt(3.0 / (2.0 * b * p)) / rtt;
        assert!((throughput(p, rtt, 0.4, b) / mathis - 1.0).abs() < 0.01);
    }
}
