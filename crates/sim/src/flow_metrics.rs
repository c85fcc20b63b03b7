//! Metrics of flows.

use crate::outcome::{ExchangeOutcome, FlowOutcome};
use lasthop_wire::LossReason;

/// A metric of a flow, for tables, CSV and JSON.
pub struct FlowMetric {
    /// Name of the column or key, with the unit: `goodput_kbps`.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Returns the value; `None` if the metric is undefined for this flow.
    pub of: fn(&FlowOutcome) -> Option<f64>,
}

fn lost(flow: &FlowOutcome, reason: LossReason) -> Option<f64> {
    Some(flow.account.lost[reason] as f64)
}

/// Returns a counter of the TCP endpoints; `None` for a QUIC flow, whose stack has no such counters.
fn of_tcp(flow: &FlowOutcome, number: u64) -> Option<f64> {
    (!flow.is_stack).then_some(number as f64)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// All metrics, in order of columns.
pub const FLOW_METRICS: &[FlowMetric] = &[
    FlowMetric {
        name: "goodput_kbps",
        doc: "payload delivered in order per second, kbit/s",
        of: |flow| Some(flow.goodput_kbps()),
    },
    FlowMetric {
        name: "delivered_bytes",
        doc: "payload delivered in order, bytes",
        of: |flow| Some(flow.delivered_bytes as f64),
    },
    FlowMetric {
        name: "completed_s",
        doc: "completion time of a finite transfer, or mean response time of a run's requests, s; undefined unless all \
              are complete",
        of: |flow| {
            if flow.transfers().all(|it| it.is_complete) { flow.restricted_s() } else { None }
        },
    },
    FlowMetric {
        name: "restricted_completed_s",
        doc: "completion time, s; for an incomplete transfer, the time until the run's end; averages are restricted \
        means",
        of: FlowOutcome::restricted_s,
    },
    FlowMetric {
        name: "slowdown",
        doc: "completion time relative to the time on an idle path without slow start; mean of a run's requests; \
              undefined unless all are complete",
        of: FlowOutcome::slowdown,
    },
    FlowMetric {
        name: "exchanges",
        doc: "answered requests",
        of: |flow| {
            let answered = |all: &Vec<ExchangeOutcome>| all.iter().filter(|it| it.is_complete).count() as f64;
            flow.exchanges.as_ref().map(answered)
        },
    },
    FlowMetric {
        name: "exchange_p50_s",
        doc: "median response time of a run's requests, s",
        of: |flow| flow.exchange_s(0.50),
    },
    FlowMetric {
        name: "exchange_p95_s",
        doc: "95th percentile of the response times, s; unanswered requests count as longer than all",
        of: |flow| flow.exchange_s(0.95),
    },
    FlowMetric {
        name: "data_segments",
        doc: "data segments sent, retransmissions included",
        of: |flow| of_tcp(flow, flow.source.data_sent),
    },
    FlowMetric {
        name: "retransmissions",
        doc: "retransmitted segments",
        of: |flow| of_tcp(flow, flow.source.retransmitted),
    },
    FlowMetric {
        name: "timeouts",
        doc: "expiries of the retransmission timer",
        of: |flow| of_tcp(flow, flow.source.timeouts),
    },
    FlowMetric {
        name: "recoveries",
        doc: "fast recoveries",
        of: |flow| of_tcp(flow, flow.source.recoveries),
    },
    FlowMetric {
        name: "lost_queue_full",
        doc: "packets of the flow lost in full queues",
        of: |flow| lost(flow, LossReason::QueueFull),
    },
    FlowMetric {
        name: "lost_channel",
        doc: "packets of the flow lost on the radio channel after all link-layer retransmissions",
        of: |flow| lost(flow, LossReason::Channel),
    },
    FlowMetric {
        name: "lost_tag_drop",
        doc: "packets of the flow dropped as a signal that another packet arrived at a full queue (huang)",
        of: |flow| lost(flow, LossReason::TagDrop),
    },
    FlowMetric {
        name: "tagged_sent",
        doc: "tagged segments sent: low priority (loss_discrimination = \"tagged\")",
        of: |flow| of_tcp(flow, flow.source.tagged_sent),
    },
    FlowMetric {
        name: "tagged_lost_channel",
        doc: "tagged segments lost on the radio channel",
        of: |flow| Some(flow.account.tagged_lost[LossReason::Channel] as f64),
    },
    FlowMetric {
        name: "lost_discarded",
        doc: "packets of the flow discarded by a link layer's sender",
        of: |flow| lost(flow, LossReason::Discarded),
    },
    FlowMetric {
        name: "lost_early",
        doc: "packets of the flow dropped by RED before the queue was full",
        of: |flow| lost(flow, LossReason::EarlyDrop),
    },
    FlowMetric {
        name: "lost_corrupt",
        doc: "packets of the flow that arrived damaged (`corrupt`) and failed the checksum",
        of: |flow| lost(flow, LossReason::Corrupt),
    },
    FlowMetric {
        name: "acks_lost",
        doc: "packets from the destination (ACKs) that were lost, except for `middlebox_removed`",
        of: |flow| {
            let lost = &flow.account.lost_backward;
            Some((lost.total() - lost[LossReason::MiddleboxRemoved]) as f64)
        },
    },
    FlowMetric {
        name: "middlebox_removed",
        doc: "packets of the flow, ACKs included, that middleboxes removed",
        of: |flow| {
            let ways = [&flow.account.lost, &flow.account.lost_backward];
            Some(ways.map(|lost| lost[LossReason::MiddleboxRemoved]).iter().sum::<u64>() as f64)
        },
    },
    FlowMetric {
        name: "middlebox_sent",
        doc: "packets of the flow, ACKs included, that middleboxes created or retransmitted",
        of: |flow| Some(flow.account.created.iter().sum::<u64>() as f64),
    },
    FlowMetric {
        name: "duplicated",
        doc: "copies that links made of packets of the flow (`duplicate`), ACKs included",
        of: |flow| Some(flow.account.duplicated.iter().sum::<u64>() as f64),
    },
    FlowMetric {
        name: "marked",
        doc: "data segments of the flow that arrived with a congestion mark",
        of: |flow| of_tcp(flow, flow.destination.marked),
    },
    FlowMetric {
        name: "mark_reductions",
        doc: "window reductions caused by an echoed mark",
        of: |flow| of_tcp(flow, flow.source.marks),
    },
    FlowMetric {
        name: "lost_overshoot",
        doc: "part of lost_queue_full: packets sent before the source detected its first loss (slow start's overshoot)",
        of: |flow| Some(flow.account.lost_to_overshoot as f64),
    },
    FlowMetric {
        name: "acks_per_s",
        doc: "ACKs sent by the destination, 1/s",
        of: |flow| (!flow.is_stack).then(|| flow.ack_rate()),
    },
    FlowMetric {
        name: "accuracy_wireless",
        doc: "share of wireless losses classified as wireless (hasegawa Eq. 6)",
        of: |flow| share(flow.account.accuracy.wireless_correct, flow.account.accuracy.wireless),
    },
    FlowMetric {
        name: "accuracy_congestion",
        doc: "share of congestion losses classified as congestion (hasegawa Eq. 7)",
        of: |flow| share(flow.account.accuracy.congestion_correct, flow.account.accuracy.congestion),
    },
    FlowMetric {
        name: "srtt_ms",
        doc: "smoothed RTT at the sender at the end, ms",
        of: |flow| flow.srtt_s.map(|srtt| srtt * 1e3),
    },
    FlowMetric {
        name: "mean_rtt_ms",
        doc: "mean of the RTTs that the sender measured, ms",
        of: |flow| flow.mean_rtt_s.map(|rtt| rtt * 1e3),
    },
    FlowMetric {
        name: "smallest_rtt_ms",
        doc: "smallest RTT that the sender measured, ms",
        of: |flow| flow.smallest_rtt_s.map(|rtt| rtt * 1e3),
    },
    FlowMetric {
        name: "largest_rtt_ms",
        doc: "largest RTT that the sender measured, ms",
        of: |flow| flow.largest_rtt_s.map(|rtt| rtt * 1e3),
    },
    FlowMetric {
        name: "cwnd_limited_pct",
        doc: "share of the flow's time in which cwnd limited the sender, %",
        of: FlowOutcome::cwnd_limited_pct,
    },
    FlowMetric {
        name: "rwnd_limited_pct",
        doc: "share of the flow's time in which the receive window limited the sender, %",
        of: FlowOutcome::rwnd_limited_pct,
    },
    FlowMetric {
        name: "app_limited_pct",
        doc: "share of the flow's time in which the sender had no data to send, %",
        of: FlowOutcome::app_limited_pct,
    },
];
