//! Metrics of RLC links.

use lasthop_net::counters::RlcCounters;

/// A metric of an RLC link's direction, for tables and JSON.
pub struct RlcMetric {
    /// Name of the row or key, with the unit: `reordering_wait_max_ms`.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Returns the value. Returns `None` if the value is undefined, or if the link did not use the mechanism (polling,
    /// HARQ).
    pub of: fn(&RlcCounters) -> Option<f64>,
}

/// All metrics, in order of rows.
pub const RLC_METRICS: &[RlcMetric] = &[
    RlcMetric {
        name: "pdus",
        doc: "PDUs sent, retransmissions included",
        of: |counters| Some(counters.pdus as f64),
    },
    RlcMetric {
        name: "pdu_retransmissions",
        doc: "retransmitted PDUs",
        of: |counters| Some(counters.retransmissions as f64),
    },
    RlcMetric {
        name: "blocks_lost",
        doc: "transport blocks lost, partly or completely",
        of: |counters| Some(counters.blocks_lost as f64),
    },
    RlcMetric {
        name: "sdus_delivered",
        doc: "SDUs (packets) delivered by the receiving side",
        of: |counters| Some(counters.delivered as f64),
    },
    RlcMetric {
        name: "sdus_discarded",
        doc: "SDUs discarded by the sending side",
        of: |counters| Some(counters.discarded as f64),
    },
    RlcMetric {
        name: "sdus_overflowed",
        doc: "SDUs dropped because the sending side's buffer was full",
        of: |counters| Some(counters.overflowed as f64),
    },
    RlcMetric {
        name: "sdus_late",
        doc: "SDUs delivered out of order, after a later SDU",
        of: |counters| Some(counters.late as f64),
    },
    RlcMetric {
        name: "reordering_wait_mean_ms",
        doc: "mean time that complete SDUs waited for earlier ones, ms",
        of: |counters| {
            (counters.delivered > 0).then(|| counters.waited.as_secs() * 1e3 / counters.delivered as f64)
        },
    },
    RlcMetric {
        name: "reordering_wait_max_ms",
        doc: "longest time that a complete SDU waited for earlier ones, ms",
        of: |counters| Some(counters.longest_wait.as_secs() * 1e3),
    },
    RlcMetric {
        name: "reordering_timeouts",
        doc: "expiries of the reordering timer",
        of: |counters| Some(counters.reordering_timeouts as f64),
    },
    RlcMetric {
        name: "largest_sending_buffer",
        doc: "largest number of SDUs in the sending side's buffer",
        of: |counters| Some(f64::from(counters.largest_sending)),
    },
    RlcMetric {
        name: "largest_receiving_buffer",
        doc: "largest number of complete SDUs waiting at the receiving side",
        of: |counters| Some(f64::from(counters.largest_receiving)),
    },
    RlcMetric {
        name: "polls",
        doc: "transport blocks that polled for a status report",
        of: |counters| polled(counters, counters.polls),
    },
    RlcMetric {
        name: "statuses",
        doc: "status reports sent by the receiving side",
        of: |counters| polled(counters, counters.statuses),
    },
    RlcMetric {
        name: "statuses_lost",
        doc: "status reports lost in the opposite direction",
        of: |counters| polled(counters, counters.statuses_lost),
    },
    RlcMetric {
        name: "status_pdus",
        doc: "PDUs with status reports about the opposite direction, not counted in pdus",
        of: |counters| (counters.status_pdus > 0).then_some(counters.status_pdus as f64),
    },
    RlcMetric {
        name: "blocks",
        doc: "transport blocks sent, HARQ retransmissions included",
        of: |counters| Some(counters.blocks as f64),
    },
    RlcMetric {
        name: "blocks_retransmitted",
        doc: "transport blocks retransmitted by HARQ",
        of: |counters| harq_count(counters, counters.blocks_retransmitted),
    },
    RlcMetric {
        name: "blocks_given_up",
        doc: "transport blocks that HARQ discarded",
        of: |counters| harq_count(counters, counters.blocks_given_up),
    },
];

fn harq_count(counters: &RlcCounters, count: u64) -> Option<f64> {
    (counters.blocks_retransmitted + counters.blocks_given_up > 0).then_some(count as f64)
}

fn polled(counters: &RlcCounters, count: u64) -> Option<f64> {
    (counters.polls > 0).then_some(count as f64)
}
