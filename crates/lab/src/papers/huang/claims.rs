//! What the paper says in words, as numbers that can fail: the share of the points at which a claim holds.

use super::PAPER;
use super::setting::{Link, Method};
use super::wired::{DELAYS, Wired};
use super::wireless::Wireless;
use crate::item::Item;
use lasthop_wire::LossReason;

pub(super) fn items(wireless: &Wireless, wired: &Wired) -> Vec<Item> {
    let bads = wireless.bads.len();
    let points: Vec<(Link, usize)> =
        Link::ALL.into_iter().flat_map(|link| (0..bads).map(move |at| (link, at))).collect();
    let gain = |method, link, at| wireless.gain(method, link, at);
    let mean = |method, link, at| gain(method, link, at).map_or(f64::NAN, |gain| gain.mean);
    let average_loss = (0..bads)
        .map(|at| mean(Method::Tagged, Link::Low, at) - mean(Method::Tagged, Link::Long, at))
        .sum::<f64>()
        / bads.max(1) as f64;
    vec![
        claim(
            "claim-above-sack",
            "tagged segments above SACK on both links at every mean bad period",
            share(&points, |(link, at)| {
                gain(Method::Tagged, link, at).is_some_and(|gain| gain.ci95[0] > 0.0)
            }),
        ),
        claim(
            "claim-short-bursts",
            "the gain is larger at a mean bad period of 1 ms than at 10 ms, on each link",
            share(&Link::ALL, |link| mean(Method::Tagged, link, 0) > mean(Method::Tagged, link, bads - 1)),
        ),
        claim(
            "claim-throughput-falls",
            "throughput falls with the mean bad period, both methods on both links",
            share(&points, |(link, at)| {
                at == 0 || Method::COMPARED.iter().all(|method| falls(wireless, *method, link, at))
            }),
        ),
        claim(
            "claim-tag-hit",
            "the longer the burst, the more tags are lost to corruption (from 1 to 10 ms, on each link)",
            share(&Link::ALL, |link| {
                let lost = |at| wireless.tags_lost(link, at).map_or(f64::NAN, |share| share.mean);
                lost(bads - 1) > lost(0)
            }),
        ),
        claim(
            "claim-shielded",
            "tags shielded from errors do at least as well at every point",
            share(&points, |(link, at)| {
                gain(Method::Shielded, link, at)
                    .is_some_and(|gain| gain.ci95[1] >= mean(Method::Tagged, link, at))
            }),
        ),
        claim(
            "claim-long-delay",
            &format!(
                "the gain on the long delay link is on average less than 10 points below that on the low delay one \
                 ({average_loss:.1} points here)"
            ),
            (if average_loss < 10.0 { 1.0 } else { 0.0 }, 1),
        ),
        claim(
            "claim-wired-extra-drops",
            "on the wires extra drops of tagged segments explain the loss: some occur, at any delay of link 2",
            share(&(0..DELAYS.len()).collect::<Vec<_>>(), |at| {
                wired.lost(Method::Tagged, at, LossReason::Notice) > 0
            }),
        ),
    ]
}

fn claim(item: &str, words: &str, (share, points): (f64, usize)) -> Item {
    Item::new(PAPER.name, item, "claim").claim(words, share, points)
}

fn share<T: Copy>(points: &[T], holds: impl Fn(T) -> bool) -> (f64, usize) {
    let count = points.iter().filter(|point| holds(**point)).count();
    (count as f64 / points.len().max(1) as f64, points.len())
}

/// Not significantly above the point before.
fn falls(wireless: &Wireless, method: Method, link: Link, at: usize) -> bool {
    match (wireless.throughput(method, link, at - 1), wireless.throughput(method, link, at)) {
        (Some(before), Some(now)) => now.mean <= before.mean || now.ci95[0] <= before.ci95[1],
        _ => false,
    }
}
