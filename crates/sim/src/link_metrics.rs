//! Metrics of link directions.

use lasthop_engine::DelayStatistics;
use lasthop_wire::{LossReason, PerReason};

/// Totals of a link's direction in a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkTraffic {
    /// Length of the run, s.
    pub duration_s: f64,
    /// Bytes that reached the end of the link during the run, including the header bytes that links count (key
    /// `headers`).
    pub carried_bytes: u64,
    /// Bytes that the link could carry during the run, at its constant, planned or recorded rate.
    pub capacity_bytes: f64,
    /// Payload delivered by all flows whose data takes the link, bytes.
    pub payload_bytes: u64,
    /// Packets of all flows lost on the link, by reason.
    pub lost: PerReason<u64>,
    /// Delay statistics. `None` if delays were not measured, or if no packet was measured.
    pub delay: Option<LinkDelay>,
}

/// Delay of packets on a link's direction beyond the propagation delay. Queueing, transmission, link-layer
/// retransmissions and jitter contribute to this delay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkDelay {
    /// Mean, s.
    pub mean_s: f64,
    /// Percentiles 50, 95 and 99, in this order, s. The error of each is at most 1.6 % plus 16 ns.
    pub quantiles_s: [f64; 3],
}

impl LinkDelay {
    pub(crate) fn of(statistics: &DelayStatistics) -> Option<LinkDelay> {
        Some(LinkDelay {
            mean_s: statistics.mean_s()?,
            quantiles_s: statistics.quantiles_s([0.50, 0.95, 0.99])?,
        })
    }
}

/// A metric of a link's direction, for tables and JSON.
pub struct LinkMetric {
    /// Name of the column or key, with the unit: `carried_kbps`.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Returns the value; `None` if undefined or not measured.
    pub of: fn(&LinkTraffic) -> Option<f64>,
}

impl LinkMetric {
    /// Returns whether the metric is defined only in runs that measure link delays
    /// ([`crate::Observation::link_delays`]).
    pub fn is_delay(&self) -> bool {
        self.name.starts_with("excess_delay_")
    }
}

/// All metrics, in order of columns.
pub const LINK_METRICS: &[LinkMetric] = &[
    LinkMetric {
        name: "carried_kbps",
        doc: "rate of bytes that reached the end of the link, kbit/s; includes ACKs, and headers as set by `headers`",
        of: |link| Some(kbps(link.carried_bytes, link.duration_s)),
    },
    LinkMetric {
        name: "utilisation_pct",
        doc: "carried_kbps relative to the link's rate, %; excludes destroyed and retransmitted data",
        of: |link| Some(100.0 * link.carried_bytes as f64 / link.capacity_bytes.max(1.0)),
    },
    LinkMetric {
        name: "payload_kbps",
        doc: "goodput of all flows whose data takes the link, kbit/s",
        of: |link| Some(kbps(link.payload_bytes, link.duration_s)),
    },
    LinkMetric {
        name: "excess_delay_mean_ms",
        doc: "mean time on the link beyond one_way_delay, ms: queueing, transmission, retransmissions and jitter",
        of: |link| link.delay.map(|delay| delay.mean_s * 1e3),
    },
    LinkMetric {
        name: "excess_delay_p50_ms",
        doc: "median time on the link beyond one_way_delay, ms; percentiles are exact to 1.6 %",
        of: |link| delay_quantile_ms(link, 0),
    },
    LinkMetric {
        name: "excess_delay_p95_ms",
        doc: "95th percentile of the time on the link beyond one_way_delay, ms",
        of: |link| delay_quantile_ms(link, 1),
    },
    LinkMetric {
        name: "excess_delay_p99_ms",
        doc: "99th percentile of the time on the link beyond one_way_delay, ms",
        of: |link| delay_quantile_ms(link, 2),
    },
    LinkMetric {
        name: "lost_packets",
        doc: "packets of all flows lost on the link, ACKs included, for any reason",
        of: |link| Some(link.lost.total() as f64),
    },
    LinkMetric {
        name: "lost_queue_full",
        doc: "lost packets: queue full",
        of: |link| lost(link, LossReason::QueueFull),
    },
    LinkMetric {
        name: "lost_early",
        doc: "lost packets: dropped early by the queue",
        of: |link| lost(link, LossReason::EarlyDrop),
    },
    LinkMetric {
        name: "lost_tag_drop",
        doc: "lost packets: dropped as a signal that another packet arrived at a full queue (huang)",
        of: |link| lost(link, LossReason::TagDrop),
    },
    LinkMetric {
        name: "lost_channel",
        doc: "lost packets: destroyed on the radio channel after all link-layer retransmissions",
        of: |link| lost(link, LossReason::Channel),
    },
    LinkMetric {
        name: "lost_discarded",
        doc: "lost packets: discarded by the link layer's sender",
        of: |link| lost(link, LossReason::Discarded),
    },
    LinkMetric {
        name: "lost_corrupt",
        doc: "lost packets: damaged on this or an earlier link, and discarded by the host at the end of the link",
        of: |link| lost(link, LossReason::Corrupt),
    },
];

fn delay_quantile_ms(link: &LinkTraffic, at: usize) -> Option<f64> {
    link.delay.map(|delay| delay.quantiles_s[at] * 1e3)
}

fn lost(link: &LinkTraffic, reason: LossReason) -> Option<f64> {
    Some(link.lost[reason] as f64)
}

fn kbps(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / seconds / 1e3
}
