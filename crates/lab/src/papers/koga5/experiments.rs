//! The chapter's scenarios by figure.

use super::{CHANGING, Effort, SCENARIO};
use crate::papers::wcdma::grid::{Changes, Grid, GridPoint};
use crate::progress::Progress;
use lasthop_scenario::Problem;

/// WT, ms.
pub(super) const WAITS: [f64; 7] = [0.0, 50.0, 100.0, 200.0, 300.0, 600.0, 1000.0];
pub(super) const FERS: [f64; 3] = [0.012, 0.026, 0.059];
/// TCP variants: name, recovery.
pub(super) const VARIANTS: [(&str, &str); 4] =
    [("Tahoe", "tahoe"), ("Reno", "reno"), ("NewReno", "new_reno"), ("SACK", "sack")];
/// Buffers of Fig. 5.10, packets.
pub(super) const BUFFERS: [f64; 8] = [4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0];

/// Everything that is measured under the default setting.
pub(super) struct Experiments {
    /// Over WT, by FER, without the window and with it.
    pub(super) fers: Grid,
    /// Over WT, by packet size, without and with; FER 2.6 %.
    pub(super) sizes: Grid,
    /// Over WT, by variant, without and with.
    pub(super) variants: Grid,
    /// Over awnd, by rate and WT.
    pub(super) windows: Grid,
    /// Over WT, on a link whose rate changes.
    pub(super) changing: Grid,
    /// Over the base station's buffer, on both links.
    pub(super) buffers: Grid,
}

pub(super) fn wait(millis: f64) -> (&'static str, String) {
    ("link.wireless.down.arq.wait", format!("{millis} ms"))
}

fn fer(loss: f64) -> (&'static str, String) {
    ("link.wireless.down.channel.loss", loss.to_string())
}

fn buffer(packets: f64) -> (&'static str, String) {
    ("link.wireless.down.queue", format!("{packets} packets"))
}

/// A window of so many packets, whatever the link does.
pub(super) fn awnd(packets: f64) -> Changes {
    vec![
        ("flow.bulk.receiver.window", "link_rate".into()),
        ("flow.bulk.receiver.window.formula", "fixed".into()),
        ("flow.bulk.receiver.window.packets", packets.to_string()),
    ]
}

/// The free buffer: original TCP.
pub(super) fn original() -> Changes {
    vec![("flow.bulk.receiver.window", "buffer".into())]
}

/// The published windows, following the link's rate.
pub(super) fn adaptive() -> Changes {
    vec![("flow.bulk.receiver.window", "link_rate".into())]
}

fn slow() -> Changes {
    vec![("link.wireless.down.rate", "64 kbit/s".into()), ("link.wireless.up.rate", "64 kbit/s".into())]
}

fn recovery(name: &str) -> Changes {
    vec![("flow.bulk.sack", (name == "sack").to_string()), ("flow.bulk.sender.recovery", name.into())]
}

/// Without the window and with it: what the series is called, and what changes.
pub(super) fn both() -> [(&'static str, Changes); 2] {
    [("original", original()), ("awnd 10", awnd(10.0))]
}

impl Experiments {
    pub(super) fn run(effort: &Effort, seed: u64, progress: &dyn Progress) -> Result<Experiments, Problem> {
        let mut fers = Vec::new();
        let mut sizes = Vec::new();
        let mut variants = Vec::new();
        for (name, window) in both() {
            for millis in WAITS {
                let note = |points: &mut Vec<GridPoint>, series: String, more: Changes| {
                    let changes = window.iter().cloned().chain(more).chain([wait(millis)]).collect();
                    points.push(GridPoint { series, x: millis, changes });
                };
                for loss in FERS {
                    note(&mut fers, format!("{name}, FER {:.1} %", 100.0 * loss), vec![fer(loss)]);
                }
                for bytes in [512, 1500] {
                    let more = vec![("flow.bulk.segment", format!("{bytes} bytes"))];
                    note(&mut sizes, format!("{name}, {bytes} bytes"), more);
                }
                for (variant, word) in VARIANTS {
                    note(&mut variants, format!("{name}, {variant}"), recovery(word));
                }
            }
        }
        for points in [&mut fers, &mut sizes, &mut variants] {
            points.sort_by(|one, other| one.series.cmp(&other.series).then(one.x.total_cmp(&other.x)));
        }
        let grid = |text, points, runs| Grid::run(text, points, runs, seed, progress);
        let mut over_buffer = grid(SCENARIO, buffers("constant"), effort.runs)?;
        over_buffer.join(grid(CHANGING, buffers("changing"), effort.runs)?);
        Ok(Experiments {
            fers: grid(SCENARIO, fers, effort.runs)?,
            sizes: grid(SCENARIO, sizes, effort.runs)?,
            variants: grid(SCENARIO, variants, effort.runs)?,
            windows: grid(SCENARIO, windows(), effort.runs)?,
            changing: grid(CHANGING, changing(), effort.runs)?,
            buffers: over_buffer,
        })
    }
}

/// awnd 3 to 13 and beyond, at both rates with both timers.
pub(super) fn windows() -> Vec<GridPoint> {
    let mut points = Vec::new();
    for (series, rate, millis) in [
        ("64 kbit/s, WT 1000 ms", slow(), 1000.0),
        ("384 kbit/s, WT 300 ms", Vec::new(), 300.0),
        ("384 kbit/s, WT 1000 ms", Vec::new(), 1000.0),
    ] {
        for packets in (1..=13).chain([15, 17, 20, 25]).map(f64::from) {
            let changes = rate.iter().cloned().chain(awnd(packets)).chain([wait(millis)]).collect();
            points.push(GridPoint { series: series.into(), x: packets, changes });
        }
    }
    points
}

/// The three receivers of Fig. 5.9 over WT.
pub(super) fn changing() -> Vec<GridPoint> {
    let receivers =
        [("original", original()), ("awnd: constant", awnd(10.0)), ("awnd: adaptive", adaptive())];
    let points = receivers.into_iter().flat_map(|(name, window)| {
        WAITS.map(|millis| GridPoint {
            series: name.into(),
            x: millis,
            changes: window.iter().cloned().chain([wait(millis)]).collect(),
        })
    });
    points.collect()
}

/// Both receivers of Fig. 5.10 over the buffer; `link` is its name in the series.
pub(super) fn buffers(link: &str) -> Vec<GridPoint> {
    let receivers = [("original", original()), ("proposed", adaptive())];
    let points = receivers.iter().flat_map(|(name, window)| {
        BUFFERS.map(|packets| GridPoint {
            series: format!("{name}, {link}"),
            x: packets,
            changes: window.iter().cloned().chain([buffer(packets)]).collect(),
        })
    });
    points.collect()
}
