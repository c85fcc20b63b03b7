//! What the chapter says in words.

use super::PAPER;
use super::experiments::{BUFFERS, Experiments, FERS, VARIANTS, WAITS};
use crate::item::Item;
use crate::papers::wcdma::claims::{Tally, above, not_below};
use crate::papers::wcdma::grid::{Grid, Of, goodput};
use lasthop_sim::Outcome;

/// Mean RTT that the sender measured, ms.
pub(super) fn mean_rtt(outcome: &Outcome) -> Option<f64> {
    outcome.flows.first().and_then(|flow| flow.mean_rtt_s).map(|rtt| 1e3 * rtt)
}

/// The largest, ms.
pub(super) fn largest_rtt(outcome: &Outcome) -> Option<f64> {
    outcome.flows.first().and_then(|flow| flow.largest_rtt_s).map(|rtt| 1e3 * rtt)
}

/// How alike is alike: per cent.
const ALIKE: f64 = 3.0;

pub(super) fn items(measured: &Experiments) -> Vec<Item> {
    let mut items = vec![independent(&measured.fers), higher(&measured.fers)];
    items.extend(best_waits(&measured.sizes));
    items.push(variants(&measured.variants));
    items.extend(best_windows(&measured.windows));
    for (of, words) in [
        (mean_rtt as Of, "the window keeps the average RTT smaller (each FER, each WT)"),
        (largest_rtt, "the window keeps the largest RTT smaller (each FER, each WT)"),
    ] {
        let mut tally = Tally::default();
        for (plain, window) in FERS.map(pair) {
            WAITS.iter().for_each(|wt| tally.note(above(&measured.fers, (&plain, *wt), (&window, *wt), of)));
        }
        items.push(tally.item(PAPER.name, "fig5.7", words));
    }
    items.extend(changing(&measured.changing));
    items.push(enough(&measured.buffers));
    items.push(without(&measured.buffers));
    items
}

fn pair(fer: f64) -> (String, String) {
    let name = |window| format!("{window}, FER {:.1} %", 100.0 * fer);
    (name("original"), name("awnd 10"))
}

/// The spread of mean goodputs over some points, per cent of the largest.
fn spread(grid: &Grid, series: &str, from: f64) -> f64 {
    let means = grid.xs(series).into_iter().filter(|x| *x >= from);
    let means: Vec<f64> =
        means.filter_map(|x| grid.estimate(series, x, goodput)).map(|one| one.mean).collect();
    let largest = means.iter().fold(0.0f64, |most, one| most.max(*one));
    let smallest = means.iter().fold(f64::INFINITY, |least, one| least.min(*one));
    if largest > 0.0 { 100.0 * (largest - smallest) / largest } else { 100.0 }
}

fn independent(fers: &Grid) -> Item {
    let mut tally = Tally::default();
    for (plain, window) in FERS.map(pair) {
        tally.note(spread(fers, &window, 200.0) <= ALIKE);
        tally.note(spread(fers, &plain, 200.0) > spread(fers, &window, 200.0));
    }
    tally.of_series(
        PAPER.name,
        "fig5.3",
        "claim: independent",
        "the window's throughput does not depend on WT from 200 ms on (within 3 %), plain TCP's depends more (each FER)",
    )
}

fn higher(fers: &Grid) -> Item {
    let mut tally = Tally::default();
    for (plain, window) in FERS.map(pair) {
        WAITS.iter().for_each(|wt| tally.note(not_below(fers, (&window, *wt), (&plain, *wt), goodput)));
        tally.note(above(fers, (&window, 1000.0), (&plain, 1000.0), goodput));
    }
    tally.item(
        PAPER.name,
        "fig5.3",
        "with the window throughput is higher (each FER, each WT; significantly at 1000 ms)",
    )
}

/// The x with the largest mean.
pub(super) fn best(grid: &Grid, series: &str) -> Option<f64> {
    let points =
        grid.xs(series).into_iter().filter_map(|x| Some((x, grid.estimate(series, x, goodput)?.mean)));
    points.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(x, _)| x)
}

/// Whether no other x is significantly better than this one.
fn is_best(grid: &Grid, series: &str, x: f64) -> bool {
    grid.xs(series).into_iter().all(|other| not_below(grid, (series, x), (series, other), goodput))
}

/// The best WT of plain TCP: 300 ms for 1500 bytes, 100 ms for 512.
pub(super) fn best_waits(sizes: &Grid) -> Vec<Item> {
    [("1500 bytes", 300.0), ("512 bytes", 100.0)]
        .into_iter()
        .map(|(bytes, wt)| {
            let series = &*format!("original, {bytes}");
            let ours = best(sizes, series).map_or("none".to_string(), |x| x.to_string());
            let mut tally = Tally::default();
            tally.note(is_best(sizes, series, wt));
            tally
                .of_series(
                    PAPER.name,
                    "fig5.4",
                    &format!("claim: {bytes}"),
                    &format!(
                        "{series}: the best WT is {wt} ms (ours {ours} ms; no other is significantly better)"
                    ),
                )
                .at("wt_ms", wt)
        })
        .collect()
}

fn variants(variants: &Grid) -> Item {
    let mut tally = Tally::default();
    for wt in WAITS.into_iter().filter(|wt| *wt >= 200.0) {
        let mean = |name: &str, variant: &str| {
            variants.estimate(&format!("{name}, {variant}"), wt, goodput).map_or(0.0, |one| one.mean)
        };
        let with = VARIANTS.map(|(variant, _)| mean("awnd 10", variant));
        let largest = with.iter().fold(0.0f64, |most, one| most.max(*one));
        for ((variant, _), mean_with) in VARIANTS.iter().zip(with) {
            tally.note(mean_with >= largest * (1.0 - ALIKE / 100.0));
            let series = |name: &str| format!("{name}, {variant}");
            tally.note(not_below(variants, (&series("awnd 10"), wt), (&series("original"), wt), goodput));
        }
    }
    tally.item(PAPER.name, "fig5.5", "with the window all four variants are alike (within 3 %) and none is worse than without (WT 200 ms and more)")
}

/// Fig. 5.6: best at 4 and 10, flat over a wide range.
fn best_windows(windows: &Grid) -> Vec<Item> {
    let mut items = Vec::new();
    for (series, x) in [("64 kbit/s, WT 1000 ms", 4.0), ("384 kbit/s, WT 300 ms", 10.0)] {
        let mut tally = Tally::default();
        tally.note(is_best(windows, series, x));
        let ours = best(windows, series).map_or("none".to_string(), |x| x.to_string());
        let words = format!("{series}: the best awnd is {x} (ours {ours}; no other is significantly better)");
        items.push(tally.item(PAPER.name, "fig5.6", &words).at("awnd", x));
    }
    items
}

/// Fig. 5.9: the window holds with the changing rate, and adapting is better still.
pub(super) fn changing(grid: &Grid) -> Vec<Item> {
    let (mut over, mut adaptive) = (Tally::default(), Tally::default());
    for wt in grid.xs("original") {
        over.note(not_below(grid, ("awnd: adaptive", wt), ("original", wt), goodput));
        adaptive.note(not_below(grid, ("awnd: adaptive", wt), ("awnd: constant", wt), goodput));
    }
    let last = grid.xs("original").last().copied().unwrap_or(0.0);
    over.note(above(grid, ("awnd: adaptive", last), ("original", last), goodput));
    adaptive.note(above(grid, ("awnd: adaptive", last), ("awnd: constant", last), goodput));
    vec![
        over.item(PAPER.name, "fig5.9", "with the changing rate the window attains better throughput than plain TCP (each WT; significantly at the longest)"),
        adaptive.of_series(PAPER.name, "fig5.9", "claim: adaptive", "adapting awnd to the rate improves throughput over a constant one (each WT; significantly at the longest)"),
    ]
}

/// Both links of Fig. 5.10, without the window and with it.
const BUFFERED: [(&str, &str); 2] =
    [("original, constant", "proposed, constant"), ("original, changing", "proposed, changing")];

/// Fig. 5.10: a buffer of awnd packets is enough with the window.
fn enough(grid: &Grid) -> Item {
    let mut enough = Tally::default();
    for (_, window) in BUFFERED {
        for packets in BUFFERS.into_iter().filter(|packets| *packets > 10.0) {
            let (large, ten) =
                (grid.estimate(window, packets, goodput), grid.estimate(window, 10.0, goodput));
            enough.note(
                large.zip(ten).is_some_and(|(large, ten)| ten.mean >= (1.0 - ALIKE / 100.0) * large.mean),
            );
        }
    }
    enough.item(
        PAPER.name,
        "fig5.10",
        "with the window a buffer of 10 packets is enough (within 3 % of every larger one, both links)",
    )
}

/// And plain TCP needs more.
pub(super) fn without(grid: &Grid) -> Item {
    let mut more = Tally::default();
    for (plain, window) in BUFFERED {
        more.note(above(grid, (plain, 30.0), (plain, 10.0), goodput));
        more.note(above(grid, (window, 10.0), (plain, 10.0), goodput));
    }
    more.of_series(
        PAPER.name,
        "fig5.10",
        "claim: without",
        "plain TCP needs a larger one: better with 30 than with 10, and at 10 below the window (both links)",
    )
}
