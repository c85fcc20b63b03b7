//! The largest gains over SACK: each repetition against SACK's with the same seed.

use super::PAPER;
use super::grid::Grid;
use super::setting::{Receiver, Setting};
use crate::item::Item;
use crate::papers::published::{self, Published};
use crate::stats::Estimate;

/// `gain-mac` … `gain-rtt-kbps`: published, ours, where. A file that cannot be read gives none; a test reads it.
pub(super) fn items(grid: &Grid, setting: &Setting) -> Vec<Item> {
    let text = include_str!("../../../../../papers/hasegawa/published.csv");
    published::read(text).unwrap_or_default().iter().map(|number| item(grid, setting, number)).collect()
}

fn item(grid: &Grid, setting: &Setting, published: &Published) -> Item {
    let receiver = Receiver::SPLITTING.into_iter().find(|receiver| receiver.name() == published.series);
    let in_percent = published.unit == "%";
    let largest = receiver.and_then(|receiver| largest(grid, receiver, in_percent));
    let estimate = largest.map(|(_, estimate)| estimate);
    // Five points for a gain in per cent, five per cent for one in kbit/s.
    let tolerance = match (in_percent, estimate) {
        (true, _) => 5.0,
        (false, estimate) => estimate.map_or(0.0, |estimate| 0.05 * estimate.mean.abs()),
    };
    // The claim behind the number: splitting gains over SACK at all.
    let gains = estimate.is_some_and(|estimate| estimate.ci95[0] > 0.0);
    let note = match (setting.question, published.coordinate("ber")) {
        ("", Some(ber)) => format!("published: {}; there at BER {ber:e}", published.source),
        ("", None) => format!("published: {}", published.source),
        _ => setting.label(),
    };
    let item = Item::new(PAPER.name, published.item.as_str(), published.series.as_str())
        .metric(&published.metric, &published.unit)
        .measured(estimate)
        .published(published.value, tolerance, gains)
        .note(note);
    match largest {
        Some((at, _)) => item.at("ber", grid.bers[at]),
        None => item,
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
