//! Numbers that every direction of a link has.

use lasthop_engine::Waits;
use lasthop_wire::{LossReason, PerReason};

/// What a direction of a link carried in a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkTraffic {
    /// Length of the run, s.
    pub duration_s: f64,
    /// Bytes that reached its other side before the run's end, as the link charges them.
    pub carried_bytes: u64,
    /// What its rate, plan or recording allows in a run, bytes.
    pub capacity_bytes: f64,
    /// Payload delivered by all flows whose data takes it.
    pub payload_bytes: u64,
    /// Packets of all flows lost on it, by reason.
    pub lost: PerReason<u64>,
    /// How long packets took on it, if that was measured and any did.
    pub wait: Option<Wait>,
}

/// How long packets took on a direction of a link beyond its propagation delay, from joining its queue to their arrival: in
/// the queue, in transmission, in repeats, and by jitter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wait {
    /// The mean, s.
    pub mean_s: f64,
    /// Percentiles 50, 95 and 99, s, each within 1.6 % and 16 ns.
    pub quantiles_s: [f64; 3],
}

impl Wait {
    pub(crate) fn of(waits: &Waits) -> Option<Wait> {
        Some(Wait { mean_s: waits.mean_s()?, quantiles_s: waits.quantiles_s([0.50, 0.95, 0.99])? })
    }
}

/// A number that every direction of a link has, for tables and JSON.
pub struct LinkMetric {
    /// Column and key, with the unit: `carried_kbps`.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its value; `None` where it is undefined, or was not measured.
    pub of: fn(&LinkTraffic) -> Option<f64>,
}

/// All of them, in the order of columns.
pub const LINK_METRICS: &[LinkMetric] = &[
    LinkMetric {
        name: "carried_kbps",
        doc: "bytes that reached the other side, headers and ACKs as the link charges them, over the run's time, kbit/s",
        of: |link| Some(kbps(link.carried_bytes, link.duration_s)),
    },
    LinkMetric {
        name: "utilisation_pct",
        doc: "the same, of what the link's rate allows, %: what the air destroyed and what was sent again is not in it",
        of: |link| Some(100.0 * link.carried_bytes as f64 / link.capacity_bytes.max(1.0)),
    },
    LinkMetric {
        name: "payload_kbps",
        doc: "payload delivered by all flows whose data takes the link, over the run's time, kbit/s",
        of: |link| Some(kbps(link.payload_bytes, link.duration_s)),
    },
    LinkMetric {
        name: "wait_mean_ms",
        doc: "mean time from joining the link to arrival, less one_way_delay: queue, transmission, repeats and jitter, ms",
        of: |link| link.wait.map(|wait| wait.mean_s * 1e3),
    },
    LinkMetric {
        name: "wait_p50_ms",
        doc: "the same that half of the packets did not exceed, ms; percentiles are exact to 1.6 %",
        of: |link| wait(link, 0),
    },
    LinkMetric { name: "wait_p95_ms", doc: "that 95 % did not exceed, ms", of: |link| wait(link, 1) },
    LinkMetric { name: "wait_p99_ms", doc: "that 99 % did not exceed, ms", of: |link| wait(link, 2) },
    LinkMetric {
        name: "lost_packets",
        doc: "packets of all flows lost on the link, ACKs included, for any reason",
        of: |link| Some(link.lost.total() as f64),
    },
    LinkMetric {
        name: "lost_queue_full",
        doc: "of these, in a full queue",
        of: |link| lost(link, LossReason::QueueFull),
    },
    LinkMetric {
        name: "lost_early",
        doc: "of these, by a queue that drops before it is full",
        of: |link| lost(link, LossReason::EarlyDrop),
    },
    LinkMetric {
        name: "lost_notice",
        doc: "of these, dropped as a notice that another one found no room (huang)",
        of: |link| lost(link, LossReason::Notice),
    },
    LinkMetric {
        name: "lost_channel",
        doc: "of these, on the air, all repeats included",
        of: |link| lost(link, LossReason::Channel),
    },
    LinkMetric {
        name: "lost_discarded",
        doc: "of these, given up by the link layer's sending side",
        of: |link| lost(link, LossReason::Discarded),
    },
    LinkMetric {
        name: "lost_corrupt",
        doc: "of these, damaged here or before, and found by the host behind",
        of: |link| lost(link, LossReason::Corrupt),
    },
];

fn wait(link: &LinkTraffic, at: usize) -> Option<f64> {
    link.wait.map(|wait| wait.quantiles_s[at] * 1e3)
}

fn lost(link: &LinkTraffic, reason: LossReason) -> Option<f64> {
    Some(link.lost[reason] as f64)
}

fn kbps(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / seconds / 1e3
}
