//! Analysis of the paper `miyoshi` (§2.4): probability of a loss event with n ACKs per segment, and throughput.
//!
//! The coordinates are `n` (ACKs per segment), `p` (loss probability p_err of an ACK) and `joined`. `joined` is the
//! rule that combines the probability of triple duplicate ACKs with the probability of a timeout.

use crate::study::value::{Coordinates, Value};

/// Probability that the buffer drops a segment (§2.4).
const P_BUFF: f64 = 0.01;
/// Round-trip time, s (§2.4).
const RTT_S: f64 = 0.1;
/// Retransmission timeout, s (§2.4).
const T0_S: f64 = 0.4;
/// Number of segments that one ACK acknowledges (§2.4).
const B: f64 = 2.0;

/// Function that combines two probabilities: of triple duplicate ACKs, and of a timeout, which occurs if all n ACKs are
/// lost.
type Joined = fn(f64, f64) -> f64;

/// Rules that combine the two probabilities, each with its name on the axis `joined`. Eq. 5 counts only triple
/// duplicate ACKs.
const JOINED: [(&str, Joined); 4] = [
    ("not at all (Eq. 5 as printed)", |duplicates, _| duplicates),
    ("p(n) + p_err^n", |duplicates, all| (duplicates + all).min(1.0)),
    ("1 - (1 - p(n))(1 - p_err^n)", |duplicates, all| 1.0 - (1.0 - duplicates) * (1.0 - all)),
    ("the larger of p(n) and p_err^n", f64::max),
];

/// Returns the probability p(n) of a loss event at these coordinates (Eq. 5).
pub fn loss_at(coordinates: &Coordinates) -> Option<f64> {
    let n = coordinates.get("n")?.number()? as u32;
    Some(loss(n, coordinates.get("p")?.number()?, joined(coordinates)?))
}

/// Returns the throughput by Padhye's formula, segments/s.
pub fn throughput_at(coordinates: &Coordinates) -> Option<f64> {
    Some(throughput(loss_at(coordinates)?)).filter(|value| value.is_finite())
}

/// Returns the throughput by Eq. 13 as printed, segments/s.
pub fn throughput_as_printed_at(coordinates: &Coordinates) -> Option<f64> {
    Some(throughput_as_printed(loss_at(coordinates)?)).filter(|value| value.is_finite())
}

/// Returns the smallest p_err at which two ACKs per segment give a lower loss probability than one and three ACKs.
pub fn two_best_from(coordinates: &Coordinates) -> Option<f64> {
    best_with_two(joined(coordinates)?).map(|[from, _]| from)
}

/// Returns the largest p_err up to which two ACKs per segment give the lowest loss probability (see [`two_best_from`]).
pub fn two_best_to(coordinates: &Coordinates) -> Option<f64> {
    best_with_two(joined(coordinates)?).map(|[_, to]| to)
}

fn joined(coordinates: &Coordinates) -> Option<Joined> {
    let Value::Text(name) = coordinates.get("joined")? else { return None };
    JOINED.into_iter().find(|(known, _)| known == name).map(|(_, joined)| joined)
}

/// Returns the probability that at least `least` of `n` ACKs arrive. Each ACK is lost with probability `p_err` (Eqs. 10
/// to 12).
fn received(least: u32, n: u32, p_err: f64) -> f64 {
    (least..=n)
        .map(|i| binomial(n, i) * libm::pow(1.0 - p_err, f64::from(i)) * libm::pow(p_err, f64::from(n - i)))
        .sum()
}

fn binomial(n: u32, i: u32) -> f64 {
    (0..i).map(|step| f64::from(n - step) / f64::from(step + 1)).product()
}

/// Returns the probability of at least three duplicate ACKs (Eqs. 5 to 9), combined with the probability that all n
/// ACKs are lost.
fn loss(n: u32, p_err: f64, joined: Joined) -> f64 {
    let q = libm::cbrt(P_BUFF);
    let states = [1.0 - q, q - q * q, q * q - q * q * q];
    let needs = [3, 2, 1];
    let duplicates: f64 =
        states.iter().zip(needs).map(|(state, least)| state * received(least, n, p_err)).sum::<f64>()
            + P_BUFF;
    joined(duplicates, libm::pow(p_err, f64::from(n)))
}

/// Returns the throughput, segments/s (Padhye et al., SIGCOMM 1998, Eq. 30 without the limit of the receive window).
fn throughput(p: f64) -> f64 {
    let timeouts = least(p) * p * (1.0 + 32.0 * p * p);
    1.0 / (RTT_S * libm::sqrt(2.0 * B * p / 3.0) + T0_S * timeouts)
}

/// Returns the throughput by Eq. 13 as printed, segments/s. In that equation, the square root covers both terms of the
/// sum, but not the last factor.
fn throughput_as_printed(p: f64) -> f64 {
    1.0 / (RTT_S * libm::sqrt(2.0 * B * p / 3.0 + T0_S * least(p)) * p * (1.0 + 32.0 * p * p))
}

fn least(p: f64) -> f64 {
    (3.0 * libm::sqrt(3.0 * B * p / 8.0)).min(1.0)
}

/// Returns the range of p_err in which two ACKs per segment give a lower loss probability than one or three ACKs. The
/// search has steps of 1e-4. Returns `None` if the range is empty.
fn best_with_two(joined: Joined) -> Option<[f64; 2]> {
    let is_best = |p_err: &f64| {
        let of = |n| loss(n, *p_err, joined);
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

    const AS_PRINTED: Joined = JOINED[0].1;
    const SUM: Joined = JOINED[1].1;

    #[test]
    fn binomials_by_hand() {
        assert_eq!(received(3, 2, 0.1), 0.0);
        assert!((received(1, 2, 0.1) - 0.99).abs() < 1e-12);
        assert!((received(2, 2, 0.1) - 0.81).abs() < 1e-12);
        // At least two of three ACKs arrive with probability 3 * 0.9^2 * 0.1 + 0.9^3.
        assert!((received(2, 3, 0.1) - 0.972).abs() < 1e-12);
    }

    #[test]
    fn without_errors_one_ack_leaves_the_buffers_loss() {
        // With n = 1, one ACK completes three duplicate ACKs only if two duplicate ACKs were already received. The
        // probability of this state is q^2 - q^3. With the loss probability in the buffer, q^3, the sum is q^2.
        let q = libm::cbrt(0.01);
        assert!((loss(1, 0.0, AS_PRINTED) - q * q).abs() < 1e-12);
        // If all ACKs are lost, only the probability that the buffer drops the segment remains.
        assert!((loss(3, 1.0, AS_PRINTED) - 0.01).abs() < 1e-12);
    }

    #[test]
    fn as_printed_one_ack_is_always_best() {
        for step in 1..1000 {
            let of = |n| loss(n, f64::from(step) * 1e-3, AS_PRINTED);
            assert!(of(1) < of(2) && of(2) < of(3), "{step}");
        }
        assert_eq!(best_with_two(AS_PRINTED), None);
    }

    #[test]
    fn where_two_cross_one_solved_by_hand() {
        // With `SUM`, loss(1) equals loss(2) at one value x of p_err. At x, (q^2 - q^3)(1-x) + x equals (q -
        // q^2)(1-x)^2 + (q^2 - q^3)(1 - x^2) + x^2; the term q^3 of both sides is omitted. The test checks the sign of
        // the difference below and above x.
        let q = libm::cbrt(0.01);
        let one = |x: f64| (q * q - q * q * q) * (1.0 - x) + x;
        let two = |x: f64| (q - q * q) * (1.0 - x) * (1.0 - x) + (q * q - q * q * q) * (1.0 - x * x) + x * x;
        let [from, _] = best_with_two(SUM).expect("a range");
        assert!(two(from) < one(from) && two(from - 2e-4) > one(from - 2e-4), "{from}");
    }

    #[test]
    fn padhyes_formula_is_mathis_where_timeouts_are_rare() {
        // Throughput of Mathis et al. 1997: sqrt(3 / (2 b p)) / RTT, where b is the number of segments per ACK.
        let p = 1e-6;
        let mathis = libm::sqrt(3.0 / (2.0 * B * p)) / RTT_S;
        assert!((throughput(p) / mathis - 1.0).abs() < 0.01);
    }
}
