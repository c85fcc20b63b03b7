//! Measures one TCP connection: rates, round-trip times, losses and the queue.

use super::loss_inference::LossInference;
use super::rate::RateEstimator;
use super::segment::CapturedSegment;
use crate::ping::RoundTrips;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct ConnectionMeasurement {
    begun: Option<u64>,
    pub(crate) last: f64,
    segment: u32,
    /// Highest sequence number so far in the direction of the data, extended to 64 bits.
    reference: Option<u64>,
    pub(crate) losses: LossInference,
    handshake: Handshake,
    stamps: PendingTimestamps,
    /// Times from a data packet to its ACK, ms: round-trip times between the capture point and the receiver.
    pub(crate) to_receiver: RoundTrips,
    /// Times from an ACK to the sender's next packet, ms: round-trip times between the capture point and the sender.
    pub(crate) to_sender: RoundTrips,
    latest: [Option<f64>; 2],
    /// Round-trip times between the two ends, ms. Each value is the sum of a `to_receiver` time and a `to_sender` time.
    pub(crate) round_trips: RoundTrips,
    pub(crate) arrived: RateEstimator,
    pub(crate) acknowledged: RateEstimator,
    pub(crate) data_packets: u64,
    pub(crate) payload: u64,
    pub(crate) ip_bytes: u64,
    pub(crate) acks: u64,
}

/// Times of the three packets of the handshake, s.
#[derive(Debug, Default)]
struct Handshake {
    by_sender: bool,
    syn: Option<f64>,
    syn_ack: Option<f64>,
    ack: Option<f64>,
    is_full: bool,
    is_repeated: bool,
}

/// Timestamps in ACKs that the sender has not echoed yet.
#[derive(Debug, Default)]
struct PendingTimestamps {
    sent: VecDeque<(u32, f64)>,
    answered: Option<u32>,
}

const MAX_TIMESTAMPS: usize = 4096;

impl ConnectionMeasurement {
    pub(crate) fn new(segment: u32) -> ConnectionMeasurement {
        ConnectionMeasurement {
            begun: None,
            last: 0.0,
            segment,
            reference: None,
            losses: LossInference::new(segment),
            handshake: Handshake::default(),
            stamps: PendingTimestamps::default(),
            to_receiver: RoundTrips::default(),
            to_sender: RoundTrips::default(),
            latest: [None; 2],
            round_trips: RoundTrips::default(),
            arrived: RateEstimator::new(segment),
            acknowledged: RateEstimator::new(segment),
            data_packets: 0,
            payload: 0,
            ip_bytes: 0,
            acks: 0,
        }
    }

    /// Handles a segment. `forward` is true if the sender of the data sent the segment.
    pub(crate) fn handle_segment(&mut self, nanos: u64, segment: &CapturedSegment, forward: bool) {
        let begun = *self.begun.get_or_insert(nanos);
        // Keeps times non-decreasing: packets may be slightly out of order if several processors captured them.
        let at = (nanos.saturating_sub(begun) as f64 / 1e9).max(self.last);
        self.last = at;
        self.handshake.observe(at, segment, forward);
        if forward { self.forward(at, segment) } else { self.backward(at, segment) }
    }

    fn offset(&mut self, number: u32, is_data: bool) -> u64 {
        let reference = *self.reference.get_or_insert((1 << 40) + u64::from(number));
        let offset = reference.wrapping_add_signed(i64::from(number.wrapping_sub(reference as u32) as i32));
        if is_data && offset > reference {
            self.reference = Some(offset);
        }
        offset
    }

    fn forward(&mut self, at: f64, segment: &CapturedSegment) {
        let start = self.offset(segment.seq, segment.payload > 0 || segment.syn);
        if segment.syn {
            self.losses.begin(start + 1);
        }
        if segment.payload == 0 {
            return;
        }
        let start = start + u64::from(segment.syn);
        self.data_packets += 1;
        self.payload += u64::from(segment.payload);
        self.ip_bytes += u64::from(segment.length);
        self.arrived.push(at, f64::from(segment.length));
        let rtt = self.rtt();
        let is_new = self.losses.handle_data(start, start + u64::from(segment.payload), at, rtt);
        if let (true, Some((_, echo))) = (is_new, segment.stamps)
            && let Some(since) = self.stamps.take_echoed(echo)
        {
            self.to_sender.push((at - since) * 1000.0);
            self.latest[1] = Some(at - since);
        }
    }

    fn backward(&mut self, at: f64, segment: &CapturedSegment) {
        if let Some((value, _)) = segment.stamps {
            self.stamps.sent(value, at);
        }
        let Some(ack) = segment.ack.filter(|_| self.reference.is_some()) else { return };
        self.acks += 1;
        let ack = self.offset(ack, false);
        let sack = segment.sack.map(|block| {
            let (left, right) = block?;
            Some((self.offset(left, false), self.offset(right, false)))
        });
        let acknowledged = self.losses.handle_ack(ack, &sack, at);
        self.acknowledged.push(at, acknowledged.bytes as f64);
        if let Some(since) = acknowledged.since {
            self.to_receiver.push(since * 1000.0);
            self.latest[0] = Some(since);
            let there = if self.is_at_sender() { 0.0 } else { self.latest[1].unwrap_or(0.0) };
            self.round_trips.push((since + there) * 1000.0);
        }
    }

    fn rtt(&self) -> Option<f64> {
        let there = if self.is_at_sender() { Some(0.0) } else { self.latest[1] };
        match (self.latest[0], there) {
            (Some(to), there) => Some(to + there.unwrap_or(0.0)),
            (None, there) => there,
        }
    }

    pub(crate) fn is_at_sender(&self) -> bool {
        match (self.half_trip(true), self.half_trip(false)) {
            (Some(to_sender), Some(to_receiver)) => to_sender < 0.1 * to_receiver,
            _ => false,
        }
    }

    /// Returns the smallest round-trip time between the capture point and one end, ms, among all packets of the
    /// connection.
    pub(crate) fn half_trip(&self, to_sender: bool) -> Option<f64> {
        let both = [self.first_half_trip(to_sender), self.later_half_trip(to_sender)];
        both.into_iter().flatten().min_by(f64::total_cmp)
    }

    /// Returns the smallest round-trip time between the capture point and one end, ms, among the packets of the
    /// handshake, which are small.
    pub(crate) fn first_half_trip(&self, to_sender: bool) -> Option<f64> {
        self.handshake.half_trip(to_sender).map(|half_trip| half_trip * 1000.0)
    }

    pub(crate) fn begins_with_data(&self) -> bool {
        self.handshake.is_full
    }

    pub(crate) fn later_half_trip(&self, to_sender: bool) -> Option<f64> {
        let trips = if to_sender { &self.to_sender } else { &self.to_receiver };
        (trips.count > 0).then_some(trips.smallest)
    }

    pub(crate) fn has_handshake(&self) -> bool {
        self.handshake.syn.is_some() && self.handshake.syn_ack.is_some()
    }

    /// Returns whether the capture point is downstream of the bottleneck. There, packets arrive no faster than the
    /// receiver acknowledges them.
    pub(crate) fn is_behind_bottleneck(&self) -> bool {
        match (self.arrived.rate(), self.acknowledged.rate()) {
            (Some((arrived, _)), Some((acknowledged, _))) => {
                !self.is_at_sender() && arrived < 1.15 * acknowledged
            }
            _ => !self.is_at_sender(),
        }
    }

    pub(crate) fn segment(&self) -> u32 {
        self.segment
    }
}

impl Handshake {
    fn observe(&mut self, at: f64, segment: &CapturedSegment, forward: bool) {
        match (segment.syn, segment.ack) {
            (true, None) => {
                self.is_repeated |= self.syn.is_some();
                (self.by_sender, self.syn) = (forward, Some(at));
            }
            (true, Some(_)) => {
                self.is_repeated |= self.syn_ack.is_some();
                self.syn_ack = Some(at);
            }
            (false, _) if self.ack.is_none() && self.syn_ack.is_some() && forward == self.by_sender => {
                (self.ack, self.is_full) = (Some(at), segment.payload > 0);
            }
            _ => {}
        }
    }

    fn half_trip(&self, to_sender: bool) -> Option<f64> {
        if self.is_repeated {
            return None;
        }
        // The time from SYN to SYN-ACK is the round-trip time to the passive end.
        if to_sender == self.by_sender {
            Some(self.ack? - self.syn_ack?)
        } else {
            Some(self.syn_ack? - self.syn?)
        }
    }
}

impl PendingTimestamps {
    fn sent(&mut self, value: u32, at: f64) {
        if self.sent.back().is_some_and(|(last, _)| (value.wrapping_sub(*last) as i32) <= 0) {
            return;
        }
        if self.sent.len() >= MAX_TIMESTAMPS {
            self.sent.pop_front();
        }
        self.sent.push_back((value, at));
    }

    /// Returns the capture time of the ACK with the timestamp `echo`, s. Returns `None` if this timestamp or a newer
    /// timestamp was already echoed.
    fn take_echoed(&mut self, echo: u32) -> Option<f64> {
        if self.answered.is_some_and(|answered| (echo.wrapping_sub(answered) as i32) <= 0) {
            return None;
        }
        while self.sent.front().is_some_and(|(value, _)| (value.wrapping_sub(echo) as i32) < 0) {
            self.sent.pop_front();
        }
        let (value, at) = *self.sent.front()?;
        if value != echo {
            return None;
        }
        self.answered = Some(echo);
        self.sent.pop_front();
        Some(at)
    }
}
