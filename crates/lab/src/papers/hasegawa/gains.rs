//! The largest gains over SACK: each repetition against SACK's with the same seed.

use super::PAPER;
use super::grid::Grid;
use super::published::{self, Published};
use super::setting::{Receiver, Setting};
use crate::item::{Item, Verdict, x};
use crate::stats::Estimate;

/// `gain-mac` … `gain-rtt-kbps`: published, ours, where.
pub(super) fn items(grid: &Grid, setting: &Setting) -> Vec<Item> {
    published::all().iter().map(|published| item(grid, setting, published)).collect()
}

fn item(grid: &Grid, setting: &Setting, published: &Published) -> Item {
    let receiver = Receiver::SPLITTING.into_iter().find(|receiver| receiver.name() == published.series);
    let in_percent = published.unit == "%";
    let largest = receiver.and_then(|receiver| largest(grid, receiver, in_percent));
    let (at, estimate) = match largest {
        Some((at, estimate)) => (Some(grid.bers[at]), Some(estimate)),
        None => (None, None),
    };
    // Five points for a gain in per cent, five per cent for one in kbit/s.
    let tolerance = |measured: &Estimate| if in_percent { 5.0 } else { 0.05 * measured.mean.abs() };
    let mut note = format!("published: {}", published.source);
    if let Some(ber) = published.ber {
        note.push_str(&format!("; there at BER {ber:e}"));
    }
    if !setting.question.is_empty() {
        note = setting.label();
    }
    Item {
        paper: PAPER.name.into(),
        item: published.item.clone(),
        series: published.series.clone(),
        x: at.map_or_else(Default::default, |ber| x("ber", ber)),
        metric: published.metric.clone(),
        unit: published.unit.clone(),
        published: Some(published.value),
        measured: estimate.map(|estimate| estimate.mean),
        ci95: estimate.map(|estimate| estimate.ci95),
        runs: estimate.map_or(0, |estimate| estimate.runs),
        // The claim behind the number: splitting gains over SACK at all.
        verdict: estimate.map(|estimate| {
            let gains = estimate.ci95[0] > 0.0 && estimate.ci95[0].is_finite();
            Verdict::of(published.value, &estimate, tolerance(&estimate), gains)
        }),
        note,
    }
}

/// The bit error rate at which the mean gain is largest, and the gain there.
fn largest(grid: &Grid, receiver: Receiver, in_percent: bool) -> Option<(usize, Estimate)> {
    (0..grid.bers.len())
        .filter_map(|at| gain(grid, receiver, at, in_percent).map(|gain| (at, gain)))
        .max_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean))
}

/// The gain over SACK at a bit error rate: per cent, or kbit/s.
pub(super) fn gain(grid: &Grid, receiver: Receiver, at: usize, in_percent: bool) -> Option<Estimate> {
    grid.paired(receiver, Receiver::Sack, at, |split, sack| match in_percent {
        true => 100.0 * (split / sack - 1.0),
        false => split - sack,
    })
}
