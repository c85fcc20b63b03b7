//! Table 4.2: each published number beside ours.

use super::PAPER;
use super::experiments::fer_name;
use crate::item::Item;
use crate::papers::published::{self, Published};
use crate::papers::wcdma::claims::{above, not_below};
use crate::papers::wcdma::grid::{Grid, Of, recoveries, rlc, timeouts};
use lasthop_sim::Outcome;

/// Data packets that reached the mobile station's TCP.
pub(super) fn packets(outcome: &Outcome) -> Option<f64> {
    outcome.flows.first().map(|flow| flow.destination.data_received as f64)
}

/// Of them handed up after a later one, %.
pub(super) fn late(outcome: &Outcome) -> Option<f64> {
    let rlc = rlc(outcome)?;
    (rlc.delivered > 0).then(|| 100.0 * rlc.late as f64 / rlc.delivered as f64)
}

/// Of them handed up while an earlier one was missing, %.
pub(super) fn behind_gap(outcome: &Outcome) -> Option<f64> {
    let rlc = rlc(outcome)?;
    (rlc.delivered > 0).then(|| 100.0 * rlc.behind_gap as f64 / rlc.delivered as f64)
}

/// The table's numbers. A file that cannot be read gives none; a test reads it.
pub(super) fn items(wait: &Grid) -> Vec<Item> {
    let text = include_str!("../../../../../papers/koga4/published.csv");
    let numbers = published::read(text).unwrap_or_default();
    numbers.iter().filter(|one| one.item == "table4.2").filter_map(|one| item(wait, one)).collect()
}

fn item(grid: &Grid, published: &Published) -> Option<Item> {
    let wt = published.coordinate("wt_ms")?;
    let (of, rises): (Of, bool) = match published.series.as_str() {
        "total packets" => (packets, true),
        "out of order: late" => (late, false),
        "out of order: behind a gap" => (behind_gap, false),
        "TCP timeouts" => (timeouts, false),
        _ => (recoveries, false),
    };
    let fer = fer_name(0.059);
    let estimate = grid.estimate(&fer, wt, of);
    // Counts of one run and shares rounded to a tenth: half of the last digit, or five per cent of ours.
    let rounding = match published.unit.as_str() {
        "%" => 0.05,
        _ => 0.5,
    };
    let tolerance = estimate.map_or(0.0, |one| (0.05 * one.mean.abs()).max(rounding));
    // The claim behind the table: more packets and less disorder as WT grows, from its first row to its last.
    let (first, last) = ((fer.as_str(), 0.0), (fer.as_str(), 3000.0));
    let (more, less) = if rises { (last, first) } else { (first, last) };
    let holds = match published.series.as_str() {
        "TCP timeouts" => not_below(grid, more, less, of),
        _ => above(grid, more, less, of),
    };
    Some(
        Item::new(PAPER.name, "table4.2", published.series.as_str())
            .metric(&published.metric, &published.unit)
            .at("wt_ms", wt)
            .measured(estimate)
            .published(published.value, tolerance, holds)
            .note(format!("published: {}", published.source)),
    )
}
