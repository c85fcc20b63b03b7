//! What the paper says in words, as numbers that can fail.
//!
//! A claim's measured value is the share of the points to which it applies at which
//! it holds; published is 1. It agrees if it holds everywhere, has the shape if at
//! nine points of ten or more, differs otherwise. An order of two curves holds at a
//! point unless the paired difference is significantly the other way.

use super::PAPER;
use super::grid::Grid;
use super::points::metric;
use super::setting::Receiver;
use crate::item::Item;
use crate::stats::Estimate;

/// From here on the paper's "high bit error rate".
const HIGH: f64 = 5e-5;
/// Up to here its "low bit error rate".
const LOW: f64 = 2e-5;
/// Above this the paper saw no congestion losses.
const NO_CONGESTION: f64 = 6.5e-5;

/// How a claim's share is to be read.
pub(super) const LOW_WORDS: &str = "A claim's number is the share of the points to which it applies at which it \
    holds; an order of two curves fails at a point only where the paired difference is significantly the other way.";

pub(super) fn items(grid: &Grid) -> Vec<Item> {
    let all: Vec<usize> = (0..grid.bers.len()).collect();
    let where_ber = |test: &dyn Fn(f64) -> bool| -> Vec<usize> {
        all.iter().copied().filter(|at| test(grid.bers[*at])).collect()
    };
    let high = where_ber(&|ber| ber >= HIGH - 1e-9);
    let low = where_ber(&|ber| ber <= LOW + 1e-9);
    let without_congestion = where_ber(&|ber| ber > NO_CONGESTION + 1e-9);
    use Receiver::{Jtcp, Mac, Rtt, Sack};
    vec![
        claim(
            "claim-mac-rtt",
            "mac >= rtt at high BER (from 5e-5)",
            share(&high, |at| not_below(grid, Mac, Rtt, at)),
        ),
        claim(
            "claim-rtt-jtcp",
            "rtt above jtcp at high BER (from 5e-5)",
            share(&high, |at| above(grid, Rtt, Jtcp, at)),
        ),
        claim(
            "claim-jtcp-sack",
            "jtcp above sack at high BER (from 5e-5)",
            share(&high, |at| above(grid, Jtcp, Sack, at)),
        ),
        claim(
            "claim-above-sack",
            "every variant at or above sack at every BER",
            share(&all, |at| Receiver::SPLITTING.iter().all(|one| not_below(grid, *one, Sack, at))),
        ),
        claim(
            "claim-mac-best",
            "mac at or above jtcp and rtt at every BER",
            share(&all, |at| not_below(grid, Mac, Jtcp, at) && not_below(grid, Mac, Rtt, at)),
        ),
        claim(
            "claim-falls",
            "goodput falls with BER, all four curves",
            share(&all[1..], |at| Receiver::ALL.iter().all(|one| falls(grid, *one, at))),
        ),
        claim(
            "claim-accuracy",
            "Acc_w of rtt above that of jtcp",
            share(&all, |at| {
                accuracy(grid, Rtt, at, "accuracy_wireless") > accuracy(grid, Jtcp, at, "accuracy_wireless")
            }),
        ),
        claim(
            "claim-congestion-accuracy",
            "neither jtcp nor rtt is good at congestion losses: Acc_c below 0.9 where defined",
            share(&all, |at| {
                [Jtcp, Rtt].iter().all(|one| {
                    accuracy(grid, *one, at, "accuracy_congestion").is_none_or(|accuracy| accuracy < 0.9)
                })
            }),
        ),
        claim(
            "claim-no-congestion",
            "no congestion losses above BER 6.5e-5 (sack's initial overshoot not counted)",
            share(&without_congestion, |at| later_congestion(grid, at) == 0.0),
        ),
        claim(
            "claim-more-acks",
            "splitting sends more ACKs than sack",
            share(&all, |at| {
                Receiver::SPLITTING.iter().all(|one| acks(grid, *one, at) >= acks(grid, Sack, at))
            }),
        ),
        claim(
            "claim-jtcp-acks",
            "jtcp sends the most ACKs",
            share(&all, |at| {
                acks(grid, Jtcp, at) >= acks(grid, Mac, at) && acks(grid, Jtcp, at) >= acks(grid, Rtt, at)
            }),
        ),
        claim(
            "claim-low-acks",
            "at low BER (to 2e-5) jtcp and rtt send more ACKs than mac",
            share(&low, |at| {
                acks(grid, Jtcp, at) > acks(grid, Mac, at) && acks(grid, Rtt, at) > acks(grid, Mac, at)
            }),
        ),
    ]
}

fn claim(item: &str, words: &str, (share, points): (f64, usize)) -> Item {
    Item::new(PAPER.name, item, "claim").claim(words, share, points)
}

fn share(points: &[usize], holds: impl Fn(usize) -> bool) -> (f64, usize) {
    let count = points.iter().filter(|at| holds(**at)).count();
    (count as f64 / points.len().max(1) as f64, points.len())
}

fn difference(grid: &Grid, one: Receiver, other: Receiver, at: usize) -> Option<Estimate> {
    grid.paired(one, other, at, |one, other| one - other)
}

/// Not significantly below.
fn not_below(grid: &Grid, one: Receiver, other: Receiver, at: usize) -> bool {
    difference(grid, one, other, at).is_some_and(|difference| difference.ci95[1] >= 0.0)
}

/// The mean is above.
fn above(grid: &Grid, one: Receiver, other: Receiver, at: usize) -> bool {
    difference(grid, one, other, at).is_some_and(|difference| difference.mean > 0.0)
}

fn falls(grid: &Grid, receiver: Receiver, at: usize) -> bool {
    match (grid.goodput(receiver, at - 1), grid.goodput(receiver, at)) {
        (Some(before), Some(now)) => now.mean <= before.mean || now.ci95[0] <= before.ci95[1],
        _ => false,
    }
}

fn accuracy(grid: &Grid, receiver: Receiver, at: usize, name: &str) -> Option<f64> {
    grid.estimate(receiver, at, metric(name)).map(|estimate| estimate.mean)
}

fn acks(grid: &Grid, receiver: Receiver, at: usize) -> f64 {
    grid.estimate(receiver, at, metric("acks_per_s")).map_or(0.0, |estimate| estimate.mean)
}

/// Losses in the queue after the initial overshoot, mean per run, of plain SACK.
fn later_congestion(grid: &Grid, at: usize) -> f64 {
    let of = |name| grid.estimate(Receiver::Sack, at, metric(name)).map_or(0.0, |estimate| estimate.mean);
    of("lost_queue_full") - of("lost_overshoot")
}
