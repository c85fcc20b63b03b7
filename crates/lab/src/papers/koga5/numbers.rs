//! Table 5.1 and the equations' numbers.

use super::PAPER;
use crate::item::Item;
use crate::papers::published::{self, Published};
use crate::papers::wcdma::claims::not_below;
use crate::papers::wcdma::grid::{Grid, Of, recoveries, timeouts};
use crate::stats::Estimate;

/// The published numbers. A file that cannot be read gives none; a test reads it.
fn numbers() -> Vec<Published> {
    published::read(include_str!("../../../../../papers/koga5/published.csv")).unwrap_or_default()
}

/// Table 5.1.
pub(super) fn table(windows: &Grid) -> Vec<Item> {
    numbers()
        .iter()
        .filter(|one| one.item == "table5.1")
        .filter_map(|one| retransmissions(windows, one))
        .collect()
}

/// What the equations give.
pub(super) fn equations() -> Vec<Item> {
    numbers().iter().filter(|one| one.item != "table5.1").filter_map(equation).collect()
}

/// Table 5.1: TCP retransmissions of a kind at a window.
fn retransmissions(windows: &Grid, published: &Published) -> Option<Item> {
    let packets = published.coordinate("awnd")?;
    let kbps = published.coordinate("rate_kbps")?;
    let series = if kbps < 100.0 { "64 kbit/s, WT 1000 ms" } else { "384 kbit/s, WT 300 ms" };
    let of: Of = if published.metric == "timeouts" { timeouts } else { recoveries };
    let estimate = windows.estimate(series, packets, of);
    // Counts of one run: half a count, or five per cent of ours.
    let tolerance = estimate.map_or(0.0, |one| (0.05 * one.mean).max(0.5));
    // The claim behind the table: none up to the best window, some above it.
    let holds = match published.value > 0.0 {
        true => {
            estimate.is_some_and(|one| one.mean > 0.0)
                && not_below(windows, (series, packets), (series, 3.0), of)
        }
        false => estimate.is_some_and(|one| one.mean == 0.0),
    };
    Some(
        Item::new(PAPER.name, "table5.1", published.series.as_str())
            .metric(&published.metric, &published.unit)
            .at("awnd", packets)
            .at("rate_kbps", kbps)
            .measured(estimate)
            .published(published.value, tolerance, holds)
            .note(format!("published: {}", published.source)),
    )
}

/// Eqs. 5.1 and 5.2 with the stated numbers: 5 ms of delay, five retransmissions.
fn equation(published: &Published) -> Option<Item> {
    let kbps = published.coordinate("rate_kbps")?;
    let segment = published.coordinate("segment_bytes")?;
    let worst_ms = (8.0 * segment / kbps + 2.0 * 5.0) * 5.0;
    let packets = kbps * worst_ms / (8.0 * segment);
    let value = if published.unit == "ms" { worst_ms } else { packets };
    Some(
        Item::new(PAPER.name, "eq5.2", published.series.as_str())
            .metric(&published.metric, &published.unit)
            .at("rate_kbps", kbps)
            .at("segment_bytes", segment)
            .measured(Some(Estimate { mean: value, ci95: [value, value], runs: 1 }))
            .published(published.value, 0.05 * value, false)
            .note(format!("computed; published: {}", published.source)),
    )
}
