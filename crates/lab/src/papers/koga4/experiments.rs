//! The chapter's scenarios by figure.

use super::{Effort, SCENARIO};
use crate::papers::wcdma::grid::{Changes, Grid, GridPoint};
use crate::progress::Progress;
use lasthop_scenario::Problem;

/// WT, ms.
pub(super) const WAITS: [f64; 7] = [0.0, 150.0, 300.0, 600.0, 1500.0, 2000.0, 3000.0];
/// Payload of a packet, bytes.
pub(super) const SIZES: [f64; 4] = [256.0, 512.0, 1024.0, 1500.0];
/// Frame error rates at 64, 144 and 384 kbit/s.
pub(super) const RATES: [(f64, [f64; 3]); 3] =
    [(64.0, [0.018, 0.041, 0.086]), (144.0, [0.019, 0.035, 0.081]), (384.0, [0.012, 0.026, 0.059])];
/// The three at a rate, by name.
pub(super) const LEVELS: [&str; 3] = ["lowest FER", "middle FER", "highest FER"];

/// Everything that is measured under the default setting.
pub(super) struct Experiments {
    /// 64 kbit/s, 512 bytes, WT 0, over the number of retransmissions, by FER.
    pub(super) retransmissions: Grid,
    /// 64 kbit/s, WT 0, over the packet size, by FER.
    pub(super) sizes: Grid,
    /// 1500 bytes, WT 0, over the rate, by the level of the FER.
    pub(super) rates: Grid,
    /// 384 kbit/s, 1500 bytes, over WT, by FER.
    pub(super) wait: Grid,
    /// The same with 500 kbyte to transfer.
    pub(super) transfers: Grid,
    /// The same at FER 5.9 %, by packet size.
    pub(super) transfer_sizes: Grid,
}

/// `FER 5.9 %`.
pub(super) fn fer_name(fer: f64) -> String {
    format!("FER {:.1} %", 100.0 * fer)
}

/// A radio link at this rate and frame error rate.
pub(super) fn link(kbps: f64, fer: f64) -> Changes {
    vec![
        ("link.wireless.down.rate", format!("{kbps} kbit/s")),
        ("link.wireless.up.rate", format!("{kbps} kbit/s")),
        ("link.wireless.down.channel.loss", fer.to_string()),
    ]
}

pub(super) fn wait(millis: f64) -> (&'static str, String) {
    ("link.wireless.down.arq.wait", format!("{millis} ms"))
}

fn size(bytes: f64) -> (&'static str, String) {
    ("flow.bulk.segment", format!("{bytes} bytes"))
}

/// 500 kbyte, with time for all of it.
pub(super) fn transfer() -> Changes {
    vec![("flow.bulk.transfer", "500 KB".into()), ("duration", "200 s".into())]
}

/// Fig. 4.5: packets of 1500 bytes at WT 0, over the rate, by the level of the FER.
pub(super) fn rates() -> Vec<GridPoint> {
    let mut points = Vec::new();
    for (level, name) in LEVELS.iter().enumerate() {
        for (kbps, fers) in RATES {
            points.push(point((*name).into(), kbps, link(kbps, fers[level]), vec![wait(0.0)]));
        }
    }
    points
}

/// Fig. 4.12: 500 kbyte at 384 kbit/s and FER 5.9 % over WT, by packet size.
pub(super) fn transfer_sizes(waits: &[f64]) -> Vec<GridPoint> {
    let mut points = Vec::new();
    for bytes in SIZES {
        for millis in waits {
            let more = transfer().into_iter().chain([wait(*millis), size(bytes)]).collect();
            points.push(point(format!("{bytes} bytes"), *millis, link(384.0, RATES[2].1[2]), more));
        }
    }
    points
}

pub(super) fn point(series: String, x: f64, link: Changes, more: Changes) -> GridPoint {
    GridPoint { series, x, changes: link.into_iter().chain(more).collect() }
}

impl Experiments {
    pub(super) fn run(effort: &Effort, seed: u64, progress: &dyn Progress) -> Result<Experiments, Problem> {
        let (slow, fast) = (RATES[0].1, RATES[2].1);
        let mut retransmissions = Vec::new();
        let mut sizes = Vec::new();
        for fer in slow {
            for count in 0..=5u32 {
                let more = vec![
                    wait(0.0),
                    size(512.0),
                    ("link.wireless.down.arq.retransmissions", count.to_string()),
                ];
                retransmissions.push(point(fer_name(fer), f64::from(count), link(64.0, fer), more));
            }
            for bytes in SIZES {
                sizes.push(point(fer_name(fer), bytes, link(64.0, fer), vec![wait(0.0), size(bytes)]));
            }
        }
        let mut waits = Vec::new();
        let mut transfers = Vec::new();
        for fer in fast {
            for millis in WAITS {
                waits.push(point(fer_name(fer), millis, link(384.0, fer), vec![wait(millis)]));
                let more = transfer().into_iter().chain([wait(millis)]).collect();
                transfers.push(point(fer_name(fer), millis, link(384.0, fer), more));
            }
        }
        let grid = |points, runs| Grid::run(SCENARIO, points, runs, seed, progress);
        Ok(Experiments {
            retransmissions: grid(retransmissions, effort.runs)?,
            sizes: grid(sizes, effort.runs)?,
            rates: grid(rates(), effort.runs)?,
            wait: grid(waits, effort.runs)?,
            transfers: grid(transfers, effort.transfers)?,
            transfer_sizes: grid(transfer_sizes(&WAITS), effort.transfers)?,
        })
    }
}
