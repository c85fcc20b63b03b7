//! Numbers that every direction of a link has.

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
    /// Packets of all flows lost on it, for whatever reason.
    pub lost: u64,
}

/// A number that every direction of a link has, for tables and JSON.
pub struct LinkMetric {
    /// Column and key, with the unit: `carried_kbps`.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its value.
    pub of: fn(&LinkTraffic) -> f64,
}

/// All of them, in the order of columns.
pub const LINK_METRICS: &[LinkMetric] = &[
    LinkMetric {
        name: "carried_kbps",
        doc: "bytes that reached the other side, headers and ACKs as the link charges them, over the run's time, kbit/s",
        of: |link| kbps(link.carried_bytes, link.duration_s),
    },
    LinkMetric {
        name: "utilisation_pct",
        doc: "the same, of what the link's rate allows, %: what the air destroyed and what was sent again is not in it",
        of: |link| 100.0 * link.carried_bytes as f64 / link.capacity_bytes.max(1.0),
    },
    LinkMetric {
        name: "payload_kbps",
        doc: "payload delivered by all flows whose data takes the link, over the run's time, kbit/s",
        of: |link| kbps(link.payload_bytes, link.duration_s),
    },
    LinkMetric {
        name: "lost_packets",
        doc: "packets of all flows lost on the link, ACKs included, for any reason",
        of: |link| link.lost as f64,
    },
];

fn kbps(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / seconds / 1e3
}
