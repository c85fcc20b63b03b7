//! Numbers that every direction of an RLC link has.

use lasthop_net::counters::Counters;

/// A number that every direction of an RLC link has, for tables and JSON.
pub struct RlcMetric {
    /// Row and key, with the unit: `longest_wait_ms`.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its value; `None` where it is undefined, or about status that is not polled.
    pub of: fn(&Counters) -> Option<f64>,
}

/// All of them, in the order of rows.
pub const RLC_METRICS: &[RlcMetric] = &[
    RlcMetric {
        name: "pdus",
        doc: "PDUs sent, retransmissions included",
        of: |counters| Some(counters.pdus as f64),
    },
    RlcMetric {
        name: "pdu_retransmissions",
        doc: "PDUs sent again",
        of: |counters| Some(counters.retransmissions as f64),
    },
    RlcMetric {
        name: "blocks_lost",
        doc: "transport blocks destroyed, in part or as a whole",
        of: |counters| Some(counters.blocks_lost as f64),
    },
    RlcMetric {
        name: "sdus_delivered",
        doc: "SDUs (packets) handed up by the receiving side",
        of: |counters| Some(counters.delivered as f64),
    },
    RlcMetric {
        name: "sdus_discarded",
        doc: "SDUs given up by the sending side",
        of: |counters| Some(counters.discarded as f64),
    },
    RlcMetric {
        name: "sdus_overflowed",
        doc: "SDUs that found the sending side's buffer full",
        of: |counters| Some(counters.overflowed as f64),
    },
    RlcMetric {
        name: "sdus_late",
        doc: "SDUs handed up after a later one",
        of: |counters| Some(counters.late as f64),
    },
    RlcMetric {
        name: "reordering_wait_ms",
        doc: "mean time that a whole SDU waited for earlier ones, ms",
        of: |counters| {
            (counters.delivered > 0).then(|| counters.waited.as_secs() * 1e3 / counters.delivered as f64)
        },
    },
    RlcMetric {
        name: "longest_wait_ms",
        doc: "the longest such time, ms",
        of: |counters| Some(counters.longest_wait.as_secs() * 1e3),
    },
    RlcMetric {
        name: "waits_expired",
        doc: "expiries of the waiting timer",
        of: |counters| Some(counters.waits_expired as f64),
    },
    RlcMetric {
        name: "largest_sending_buffer",
        doc: "most SDUs in the sending side's buffer at once",
        of: |counters| Some(f64::from(counters.largest_sending)),
    },
    RlcMetric {
        name: "largest_receiving_buffer",
        doc: "most whole SDUs that waited at the receiving side at once",
        of: |counters| Some(f64::from(counters.largest_receiving)),
    },
    RlcMetric {
        name: "polls",
        doc: "blocks that asked for status",
        of: |counters| polled(counters, counters.polls),
    },
    RlcMetric {
        name: "statuses",
        doc: "status reports made by the receiving side",
        of: |counters| polled(counters, counters.statuses),
    },
    RlcMetric {
        name: "statuses_lost",
        doc: "of these, destroyed in the other direction",
        of: |counters| polled(counters, counters.statuses_lost),
    },
    RlcMetric {
        name: "status_pdus",
        doc: "PDUs sent with status about the other direction, not among pdus",
        of: |counters| (counters.status_pdus > 0).then_some(counters.status_pdus as f64),
    },
    RlcMetric {
        name: "blocks",
        doc: "transport blocks sent, those sent again by hybrid ARQ included",
        of: |counters| Some(counters.blocks as f64),
    },
    RlcMetric {
        name: "blocks_again",
        doc: "of these, sent again by hybrid ARQ",
        of: |counters| again(counters, counters.blocks_again),
    },
    RlcMetric {
        name: "blocks_given_up",
        doc: "blocks that hybrid ARQ gave up",
        of: |counters| again(counters, counters.blocks_given_up),
    },
];

fn again(counters: &Counters, count: u64) -> Option<f64> {
    (counters.blocks_again + counters.blocks_given_up > 0).then_some(count as f64)
}

fn polled(counters: &Counters, count: u64) -> Option<f64> {
    (counters.polls > 0).then_some(count as f64)
}
