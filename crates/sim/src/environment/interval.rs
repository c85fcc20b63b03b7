//! Measurements of one agent in one step.

use super::PathFacts;
use crate::session::FlowLook;

/// Number of values in [`Interval::numbers`].
pub const INTERVAL_NUMBERS: usize = 22;

/// Measurements of an agent in a step. Counts refer to the step; other values to its end.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Interval {
    /// Virtual time, s.
    pub time_s: f64,
    /// Length of the step, s.
    pub span_s: f64,
    /// Pacing rate of the payload, bit/s.
    pub rate_bps: f64,
    /// Payload sent, retransmissions included, bytes.
    pub sent_bytes: f64,
    /// Payload newly acknowledged, by SACK or cumulatively, bytes.
    pub acknowledged_bytes: f64,
    /// Payload delivered in order to the destination, bytes.
    pub delivered_bytes: f64,
    /// `delivered_bytes` over the step, bit/s.
    pub goodput_bps: f64,
    /// Bytes that the source has marked lost.
    pub lost_bytes: f64,
    /// `lost_bytes` as a share of `sent_bytes`, 0 to 1.
    pub lost_share: f64,
    /// Payload retransmitted, bytes.
    pub retransmitted_bytes: f64,
    /// Mean of the RTT samples, s. Without samples, the mean of the last step with samples; before such a step, the base
    /// RTT.
    pub mean_rtt_s: f64,
    /// Smallest RTT sample of the connection, s; the base RTT before the first sample.
    pub smallest_rtt_s: f64,
    /// Smoothed RTT (RFC 6298), s; the base RTT before the first sample.
    pub srtt_s: f64,
    /// Retransmission timeout, s.
    pub rto_s: f64,
    /// Change of `mean_rtt_s` since the last step, divided by the step's length (latency gradient).
    pub rtt_gradient: f64,
    /// `mean_rtt_s` divided by the smallest `mean_rtt_s` of a step so far (latency ratio).
    pub rtt_ratio: f64,
    /// Congestion window, bytes.
    pub cwnd_bytes: f64,
    /// Bytes in flight, as the source estimates them.
    pub in_flight_bytes: f64,
    /// Fast recoveries entered.
    pub recoveries: f64,
    /// Expiries of the retransmission timer.
    pub timeouts: f64,
    /// Mean rate of the slowest link on the way to the destination, bit/s.
    pub capacity_bps: f64,
    /// RTT of the idle path, s.
    pub base_rtt_s: f64,
}

/// Values of earlier steps that an interval needs.
#[derive(Clone, Copy, Default)]
pub(super) struct Memory {
    last_rtt_s: Option<f64>,
    smallest_mean_rtt_s: Option<f64>,
    pub(super) srtt_s: Option<f64>,
}

impl Interval {
    pub(super) fn of(look: &FlowLook, rate_bps: f64, facts: &PathFacts, memory: &mut Memory) -> Interval {
        let segment = facts.segment_bytes;
        let mean = look.mean_rtt_s.or(memory.last_rtt_s).unwrap_or(facts.base_rtt_s);
        let before = memory.last_rtt_s.unwrap_or(mean);
        if look.mean_rtt_s.is_some() {
            memory.last_rtt_s = look.mean_rtt_s;
            memory.smallest_mean_rtt_s = Some(memory.smallest_mean_rtt_s.unwrap_or(mean).min(mean));
        }
        memory.srtt_s = look.srtt_s;
        let per_second = |amount: f64| if look.span_s > 0.0 { amount / look.span_s } else { 0.0 };
        let sent = look.source.data_sent as f64 * segment;
        let (delivered, lost) = (look.delivered_bytes as f64, look.marked_lost_bytes as f64);
        Interval {
            time_s: look.time_s,
            span_s: look.span_s,
            rate_bps,
            sent_bytes: sent,
            acknowledged_bytes: look.acknowledged_bytes as f64,
            delivered_bytes: delivered,
            goodput_bps: per_second(8.0 * delivered),
            lost_bytes: lost,
            lost_share: (lost / sent.max(segment)).min(1.0),
            retransmitted_bytes: look.source.retransmitted as f64 * segment,
            mean_rtt_s: mean,
            smallest_rtt_s: look.smallest_rtt_s.unwrap_or(facts.base_rtt_s),
            srtt_s: look.srtt_s.unwrap_or(facts.base_rtt_s),
            rto_s: look.rto_s,
            rtt_gradient: per_second(mean - before),
            rtt_ratio: mean / memory.smallest_mean_rtt_s.unwrap_or(mean).max(1e-9),
            cwnd_bytes: look.cwnd_bytes as f64,
            in_flight_bytes: look.in_flight_bytes as f64,
            recoveries: look.source.recoveries as f64,
            timeouts: look.source.timeouts as f64,
            capacity_bps: facts.capacity_bps,
            base_rtt_s: facts.base_rtt_s,
        }
    }

    /// Returns the interval with counts of 0. The handshake counts the SYN, and the first segment without its ACK.
    pub(super) fn without_counts(self) -> Interval {
        Interval {
            sent_bytes: 0.0,
            acknowledged_bytes: 0.0,
            delivered_bytes: 0.0,
            goodput_bps: 0.0,
            lost_bytes: 0.0,
            lost_share: 0.0,
            retransmitted_bytes: 0.0,
            recoveries: 0.0,
            timeouts: 0.0,
            ..self
        }
    }

    /// All values, each with its name.
    pub fn numbers(&self) -> [(&'static str, f64); INTERVAL_NUMBERS] {
        [
            ("time_s", self.time_s),
            ("span_s", self.span_s),
            ("rate_bps", self.rate_bps),
            ("sent_bytes", self.sent_bytes),
            ("acknowledged_bytes", self.acknowledged_bytes),
            ("delivered_bytes", self.delivered_bytes),
            ("goodput_bps", self.goodput_bps),
            ("lost_bytes", self.lost_bytes),
            ("lost_share", self.lost_share),
            ("retransmitted_bytes", self.retransmitted_bytes),
            ("mean_rtt_s", self.mean_rtt_s),
            ("smallest_rtt_s", self.smallest_rtt_s),
            ("srtt_s", self.srtt_s),
            ("rto_s", self.rto_s),
            ("rtt_gradient", self.rtt_gradient),
            ("rtt_ratio", self.rtt_ratio),
            ("cwnd_bytes", self.cwnd_bytes),
            ("in_flight_bytes", self.in_flight_bytes),
            ("recoveries", self.recoveries),
            ("timeouts", self.timeouts),
            ("capacity_bps", self.capacity_bps),
            ("base_rtt_s", self.base_rtt_s),
        ]
    }
}
