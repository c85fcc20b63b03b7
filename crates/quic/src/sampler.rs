//! Delivery rate samples from QUIC packets, one per ACK (draft-ietf-ccwg-bbr §4.1).
//!
//! QUIC never uses a packet number twice. The packet number therefore identifies the state at the time when the packet
//! was sent. Data begins at offset 0. Each packet gets the next offsets, even a packet that repeats lost frames.

use lasthop_base::{Duration, Time};
use lasthop_tcp::Range;
use lasthop_tcp::sender::congestion::{LostSegment, RateSample};
use lasthop_tcp::sender::rate::{DeliveryRate, StateAtSending};
use std::collections::BTreeMap;

/// A packet in flight, with the sampler's state when the packet was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) range: Range,
    pub(crate) sent_at: Time,
    state: StateAtSending,
}

/// Packets in flight, and totals.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    /// Packets in flight by number. The three packet number spaces of a handshake share the map. A number of a later
    /// space replaces the same number of an earlier space.
    stamps: BTreeMap<u64, Stamp>,
    rate: DeliveryRate,
    nxt: u64,
    in_flight: u64,
    lost: u64,
}

impl Sampler {
    /// Returns the offset after the last byte sent.
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.rate.is_limited()
    }

    /// Returns the total number of bytes of lost packets.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Records a sent packet and returns the packet's offsets.
    pub(crate) fn on_sent(&mut self, now: Time, number: u64, bytes: u64) -> Range {
        let begins = self.in_flight == 0;
        let range = Range { start: self.nxt, end: self.nxt + bytes };
        self.nxt = range.end;
        self.in_flight += bytes;
        let state = self.rate.on_sent(now, begins, self.in_flight, self.lost);
        self.stamps.insert(number, Stamp { range, sent_at: now, state });
        range
    }

    /// Removes a delivered packet. Returns `None` if the packet is unknown.
    pub(crate) fn take_delivered(&mut self, number: u64) -> Option<Stamp> {
        self.stamps.remove(&number)
    }

    /// Records the loss of a packet. Returns `None` if the packet is unknown.
    pub(crate) fn on_lost(&mut self, number: u64) -> Option<LostSegment> {
        let stamp = self.stamps.remove(&number)?;
        let bytes = stamp.range.len();
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.lost += bytes;
        Some(self.rate.lost_segment(stamp.range, &stamp.state, self.lost))
    }

    /// Records the `bytes` that an ACK delivers, and the library's count of the bytes in flight after the ACK. The
    /// sampler's own count is too high after packets of a discarded packet number space, which are neither delivered nor
    /// lost.
    pub(crate) fn on_ack(&mut self, now: Time, bytes: u64, in_flight: u64) {
        self.rate.on_delivered(now, bytes);
        self.in_flight = in_flight;
    }

    /// Marks packets as application-limited that are sent from now on, until the data now in flight is delivered.
    pub(crate) fn mark_app_limited(&mut self) {
        self.rate.mark_app_limited(self.in_flight);
    }

    /// Returns the rate sample of an ACK. `newest` is the packet sent last among the packets that the ACK delivers.
    /// `shortest` is the smallest RTT.
    pub(crate) fn sample(&mut self, now: Time, newest: &Stamp, shortest: Option<Duration>) -> RateSample {
        let rtt = Some(now.since(newest.sent_at));
        self.rate.sample(now, (newest.sent_at, &newest.state), self.lost, shortest, rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// Packets of 1000 bytes are sent every 10 ms, and from 100 ms on acknowledged every 20 ms. The sample must be the
    /// slower of the two rates.
    #[test]
    fn a_sample_is_the_slower_of_both_rates() {
        let mut sampler = Sampler::default();
        let mut events: Vec<(u64, bool, u64)> = (0..20).map(|k| (10 * k, true, k)).collect();
        events.extend((0..20).map(|k| (100 + 20 * k, false, k)));
        events.sort_unstable();
        let mut sample = None;
        for (time, is_sent, number) in events {
            if is_sent {
                sampler.on_sent(at(time), number, 1000);
            } else {
                let newest = sampler.take_delivered(number).expect("in flight");
                sampler.on_ack(at(time), 1000, sampler.in_flight() - 1000);
                sample = Some(sampler.sample(at(time), &newest, None));
            }
        }
        let sample = sample.expect("a sample");
        assert!((sample.bytes_per_sec() - 50_000.0).abs() < 1.0, "{sample:?}");
        assert_eq!((sampler.in_flight(), sampler.nxt(), sample.total), (0, 20_000, 20_000));
    }

    #[test]
    fn losses_count_from_the_time_of_sending() {
        let mut sampler = Sampler::default();
        for number in 0..4 {
            sampler.on_sent(at(number), number, 1000);
        }
        assert_eq!(sampler.on_lost(0).expect("in flight").lost, 1000);
        sampler.on_sent(at(10), 4, 1000);
        let (old, new) = (sampler.on_lost(1).expect("in flight"), sampler.on_lost(4).expect("in flight"));
        assert_eq!((old.lost, new.lost, sampler.lost(), sampler.in_flight()), (2000, 2000, 3000, 2000));
        assert!(sampler.on_lost(4).is_none());
    }
}
