//! What the chapter says in words.

use super::PAPER;
use super::experiments::{Experiments, LEVELS, RATES, SIZES, fer_name};
use crate::item::Item;
use crate::papers::wcdma::claims::{Tally, above, grows, not_below};
use crate::papers::wcdma::grid::{Grid, completion, goodput, rlc};
use lasthop_sim::Outcome;

/// Most whole SDUs that waited at the mobile station.
pub(super) fn mobile_queue(outcome: &Outcome) -> Option<f64> {
    rlc(outcome).map(|rlc| f64::from(rlc.largest_receiving))
}

/// Most SDUs at the base station.
pub(super) fn base_queue(outcome: &Outcome) -> Option<f64> {
    rlc(outcome).map(|rlc| f64::from(rlc.largest_sending))
}

pub(super) fn items(measured: &Experiments) -> Vec<Item> {
    let highest = fer_name(0.059);
    let mut items = Vec::new();

    let (mut helps, mut several) = (Tally::default(), Tally::default());
    for fer in RATES[0].1.map(fer_name) {
        let grid = &measured.retransmissions;
        (1..=5).for_each(|n| helps.note(above(grid, (&fer, f64::from(n)), (&fer, 0.0), goodput)));
        (2..=5).for_each(|n| several.note(not_below(grid, (&fer, f64::from(n)), (&fer, 1.0), goodput)));
    }
    items.push(helps.item(
        PAPER.name,
        "fig4.3",
        "Layer 2 ARQ improves the performance of TCP (each FER, 1 to 5 retransmissions against none)",
    ));
    items.push(several.item(
        PAPER.name,
        "fig4.3",
        "best when the number of allowable retransmissions is larger than 1 (each FER, 2 to 5 against 1)",
    ));

    let mut larger = Tally::default();
    RATES[0].1.map(fer_name).iter().for_each(|fer| grows(&measured.sizes, fer, goodput, &mut larger));
    items.push(larger.item(
        PAPER.name,
        "fig4.4",
        "larger TCP packets attain better throughput with ARQ (64 kbit/s, each FER)",
    ));

    items.push(reach(&measured.rates));
    items.push(share_claim(&measured.rates));
    items.push(wait_claim(&measured.wait, &highest));
    for (item, of, words) in [
        (
            "fig4.8",
            mobile_queue as fn(&Outcome) -> Option<f64>,
            "the mobile station's queue grows with WT (each FER)",
        ),
        ("fig4.9", base_queue, "the base station's queue grows with WT (each FER)"),
    ] {
        let mut tally = Tally::default();
        RATES[2].1.map(fer_name).iter().for_each(|fer| grows(&measured.wait, fer, of, &mut tally));
        items.push(tally.item(PAPER.name, item, words));
    }
    items.push(delay_claim(&measured.transfers, &highest));

    items.extend(size_claims(&measured.transfer_sizes));
    items
}

/// A faster link reaches less of its rate.
pub(super) fn share_claim(rates: &Grid) -> Item {
    let mut less = Tally::default();
    for level in LEVELS {
        for pair in RATES.windows(2) {
            less.note(share(rates, level, pair[1].0) < share(rates, level, pair[0].0));
        }
    }
    less.item(
        PAPER.name,
        "fig4.5",
        "a larger bandwidth leads to less improvement: the share of the rate falls from 64 to 144 to 384 kbit/s (each \
         FER)",
    )
}

/// Fig. 4.12: 1500 bytes are slower than 1024, and nothing is faster.
pub(super) fn size_claims(sizes: &Grid) -> [Item; 2] {
    let (mut long, mut compromise) = (Tally::default(), Tally::default());
    for wt in sizes.xs("1024 bytes") {
        let best = ("1024 bytes", wt);
        if wt >= 1500.0 {
            long.note(above(sizes, ("1500 bytes", wt), best, completion));
        }
        let names = SIZES.map(|bytes| format!("{bytes} bytes"));
        compromise.note(names.iter().all(|name| not_below(sizes, (name, wt), best, completion)));
    }
    [
        long.item(
            PAPER.name,
            "fig4.12",
            "packets of 1500 bytes take longer than those of 1024 at FER 5.9 % (WT 1500 ms and more)",
        ),
        compromise.of_series(
            PAPER.name,
            "fig4.12",
            "claim: best size",
            "packets of 1024 bytes or so can be recommended: no size is significantly faster (each WT)",
        ),
    ]
}

/// About 160 kbit/s at 384 kbit/s and FER 5.9 %.
fn reach(rates: &Grid) -> Item {
    let estimate = rates.estimate(LEVELS[2], 384.0, goodput);
    let tolerance = estimate.map_or(0.0, |one| 0.05 * one.mean);
    // The claim behind it: far below what the link carries without errors (338 kbit/s).
    let falls_short = estimate.is_some_and(|one| one.ci95[1] < 0.75 * 338.5);
    Item::new(PAPER.name, "fig4.5", "WT 0, published")
        .metric("goodput", "kbit/s")
        .at("rate_kbps", 384.0)
        .at("fer", 0.059)
        .measured(estimate)
        .published(160.0, tolerance, falls_short)
        .note("published: §4.4.1, approximately 160 Kb/s (40 percent); shape: below three quarters of the link's 338 kbit/s")
}

fn share(rates: &Grid, level: &str, kbps: f64) -> f64 {
    rates.estimate(level, kbps, goodput).map_or(0.0, |one| one.mean / kbps)
}

/// Throughput grows with WT.
pub(super) fn wait_claim(wait: &Grid, series: &str) -> Item {
    let mut tally = Tally::default();
    grows(wait, series, goodput, &mut tally);
    tally.item(PAPER.name, "fig4.7", "the larger WT achieves the better throughput (FER 5.9 %)")
}

/// The delay of a transfer grows with WT.
pub(super) fn delay_claim(transfers: &Grid, series: &str) -> Item {
    let mut tally = Tally::default();
    grows(transfers, series, completion, &mut tally);
    tally.item(PAPER.name, "fig4.10", "as WT increases, the delay of 500 kbyte increases (FER 5.9 %)")
}
