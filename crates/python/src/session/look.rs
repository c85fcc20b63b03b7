//! Counts and state of a flow, or of a direction of a link, between the steps of a session.

use lasthop_sim::{FlowLook as Flow, LinkLook as Link};
use lasthop_wire::PerReason;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Counts of a flow over a span of time, and its state at the end of the span.
#[pyclass(frozen, module = "lasthop")]
pub struct FlowLook(pub Flow);

/// Counts of a direction of a link over a span of time, and its state at the end of the span.
#[pyclass(frozen, module = "lasthop")]
pub struct LinkLook(pub Link);

#[pymethods]
impl FlowLook {
    /// Virtual time, s.
    #[getter]
    fn time_s(&self) -> f64 {
        self.0.time_s
    }

    /// Length of the span that the counts cover, s.
    #[getter]
    fn span_s(&self) -> f64 {
        self.0.span_s
    }

    /// Payload delivered in order to the destination, bytes.
    #[getter]
    fn delivered_bytes(&self) -> u64 {
        self.0.delivered_bytes
    }

    /// Payload newly acknowledged at the source, by SACK or cumulatively, bytes.
    #[getter]
    fn acknowledged_bytes(&self) -> u64 {
        self.0.acknowledged_bytes
    }

    /// Goodput over the span, bit/s; 0 for an empty span.
    #[getter]
    fn goodput_bps(&self) -> f64 {
        per_second(self.0.delivered_bytes as f64 * 8.0, self.0.span_s)
    }

    /// Segments with data that the source sent, retransmissions included.
    #[getter]
    fn sent_segments(&self) -> u64 {
        self.0.source.data_sent
    }

    /// Segments with data that the source retransmitted.
    #[getter]
    fn retransmitted_segments(&self) -> u64 {
        self.0.source.retransmitted
    }

    /// ACKs without data that the destination sent.
    #[getter]
    fn acks_sent(&self) -> u64 {
        self.0.destination.acks_sent
    }

    /// Fast recoveries that the source entered.
    #[getter]
    fn recoveries(&self) -> u64 {
        self.0.source.recoveries
    }

    /// Expiries of the source's retransmission timer.
    #[getter]
    fn timeouts(&self) -> u64 {
        self.0.source.timeouts
    }

    /// Segments that arrived at the destination with a congestion mark (CE).
    #[getter]
    fn marked_segments(&self) -> u64 {
        self.0.destination.marked
    }

    /// Bytes that the source has marked lost. This count is the source's belief: reordered segments may be included.
    #[getter]
    fn believed_lost_bytes(&self) -> u64 {
        self.0.marked_lost_bytes
    }

    /// Packets of the source that were lost on the path.
    #[getter]
    fn lost_packets(&self) -> u64 {
        self.0.lost.iter().map(|(_, lost)| lost).sum()
    }

    /// Packets of the source that were lost on the path, by reason ("queue_full", "channel"); reasons without losses are
    /// absent.
    #[getter]
    fn lost_by_reason(&self) -> BTreeMap<&'static str, u64> {
        by_reason(&self.0.lost)
    }

    /// Number of RTT samples of the source.
    #[getter]
    fn rtt_samples(&self) -> u64 {
        self.0.rtt_samples
    }

    /// Mean of these RTT samples, s; None without samples.
    #[getter]
    fn mean_rtt_s(&self) -> Option<f64> {
        self.0.mean_rtt_s
    }

    /// Smallest RTT sample since the start of the connection, s; None without samples.
    #[getter]
    fn smallest_rtt_s(&self) -> Option<f64> {
        self.0.smallest_rtt_s
    }

    /// Smoothed RTT at the end of the span (RFC 6298), s; None before the first sample.
    #[getter]
    fn srtt_s(&self) -> Option<f64> {
        self.0.srtt_s
    }

    /// Retransmission timeout at the end of the span, s.
    #[getter]
    fn rto_s(&self) -> f64 {
        self.0.rto_s
    }

    /// Congestion window at the end of the span, bytes.
    #[getter]
    fn cwnd_bytes(&self) -> u64 {
        self.0.cwnd_bytes
    }

    /// Slow start threshold at the end of the span, bytes.
    #[getter]
    fn ssthresh_bytes(&self) -> u64 {
        self.0.ssthresh_bytes
    }

    /// Bytes in flight at the end of the span, as the source estimates them.
    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.0.in_flight_bytes
    }

    /// Data that the application has written and that the source has not sent, bytes.
    #[getter]
    fn unsent_bytes(&self) -> u64 {
        self.0.unsent_bytes
    }

    fn __repr__(&self) -> String {
        let look = &self.0;
        format!(
            "<lasthop.FlowLook at {} s: {} bytes delivered in {} s, cwnd {} bytes>",
            look.time_s, look.delivered_bytes, look.span_s, look.cwnd_bytes
        )
    }
}

#[pymethods]
impl LinkLook {
    /// Virtual time, s.
    #[getter]
    fn time_s(&self) -> f64 {
        self.0.time_s
    }

    /// Length of the span that the counts cover, s.
    #[getter]
    fn span_s(&self) -> f64 {
        self.0.span_s
    }

    /// Bytes that entered the direction and were not lost.
    #[getter]
    fn carried_bytes(&self) -> u64 {
        self.0.carried_bytes
    }

    /// Carried bytes over the span, bit/s; 0 for an empty span.
    #[getter]
    fn carried_bps(&self) -> f64 {
        per_second(self.0.carried_bytes as f64 * 8.0, self.0.span_s)
    }

    /// Packets that entered the direction, or that its queue dropped.
    #[getter]
    fn offered_packets(&self) -> u64 {
        self.0.offered
    }

    /// Packets lost in the queue and on the channel.
    #[getter]
    fn lost_packets(&self) -> u64 {
        self.0.lost.iter().map(|(_, lost)| lost).sum()
    }

    /// Lost packets by reason ("queue_full", "channel"); reasons without losses are absent.
    #[getter]
    fn lost_by_reason(&self) -> BTreeMap<&'static str, u64> {
        by_reason(&self.0.lost)
    }

    /// Packets that wait in the queue at the end of the span.
    #[getter]
    fn queue_packets(&self) -> u32 {
        self.0.backlog.waiting
    }

    /// Bytes that wait in the queue at the end of the span.
    #[getter]
    fn queue_bytes(&self) -> u64 {
        self.0.backlog.bytes
    }

    fn __repr__(&self) -> String {
        let look = &self.0;
        format!(
            "<lasthop.LinkLook at {} s: {} bytes carried in {} s, {} packets wait>",
            look.time_s, look.carried_bytes, look.span_s, look.backlog.waiting
        )
    }
}

fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

fn by_reason(lost: &PerReason<u64>) -> BTreeMap<&'static str, u64> {
    lost.iter().filter(|(_, lost)| **lost > 0).map(|(reason, lost)| (reason.name(), *lost)).collect()
}
