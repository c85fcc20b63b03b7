//! Delivery rate samples, one per ACK (draft-ietf-ccwg-bbr §4.1, "Delivery Rate Samples").
//!
//! An ACK's sample belongs to the most recently sent segment that the ACK delivers. The rate is the number of bytes
//! delivered since this segment was sent, divided by the longer of the send interval and the ACK interval.

use super::delivery::{DeliveryRate, LostSegment, RateSample, StateAtSending};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Stamp {
    end: u64,
    state: StateAtSending,
}

#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// State of the sender at the time when each outstanding segment was sent, in stream order.
    stamps: VecDeque<Stamp>,
    rate: DeliveryRate,
}

impl Sampler {
    /// Records a sent segment. `begins`: nothing was outstanding before; `in_flight`: bytes in flight, the segment
    /// included; `lost`: total number of bytes marked lost.
    pub(super) fn on_sent(&mut self, now: Time, range: Range, begins: bool, in_flight: u64, lost: u64) {
        let state = self.rate.on_sent(now, begins, in_flight, lost);
        match self.place_of(range.end) {
            Some(place) => self.stamps[place].state = state,
            None => self.stamps.push_back(Stamp { end: range.end, state }),
        }
    }

    /// Marks the segments sent from now on as application-limited, until the `in_flight` bytes now in flight are
    /// delivered.
    pub(super) fn mark_app_limited(&mut self, in_flight: u64) {
        self.rate.mark_app_limited(in_flight);
    }

    pub(super) fn is_limited(&self) -> bool {
        self.rate.is_limited()
    }

    /// Returns a lost segment with the state at the time when the segment was sent. `lost`: total number of bytes
    /// marked lost, the segment included.
    pub(super) fn on_lost(&self, range: Range, lost: u64) -> Option<LostSegment> {
        let stamp = &self.stamps[self.place_of(range.end)?];
        Some(self.rate.lost_segment(range, &stamp.state, lost))
    }

    /// Takes a sample at an ACK that delivers `delivered` bytes. The scoreboard has already processed the ACK.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        delivered: u64,
        scoreboard: &Scoreboard,
        shortest: Option<Duration>,
    ) -> Option<RateSample> {
        self.rate.on_delivered(now, delivered);
        let newest = scoreboard.newest();
        let stamp = newest.and_then(|newest| self.place_of(newest.end)).map(|place| self.stamps[place]);
        let gone = self.stamps.partition_point(|stamp| stamp.end <= scoreboard.una());
        self.stamps.drain(..gone);
        let (newest, stamp) = (newest?, stamp?);
        let rtt = (!newest.is_retransmitted).then(|| now.since(newest.sent_at));
        let sent = (newest.sent_at, &stamp.state);
        Some(self.rate.sample(now, sent, scoreboard.lost_total(), shortest, rtt))
    }

    /// Index of the stamp of the segment that ends at `end`. If the path MTU has shrunk since, `end` may lie inside the
    /// segment.
    fn place_of(&self, end: u64) -> Option<usize> {
        let place = self.stamps.partition_point(|stamp| stamp.end < end);
        (place < self.stamps.len()).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// Returns the last sample for segments of 1000 bytes, sent at the times `sent` and acknowledged at the times
    /// `acked`, in ms. The sender is application-limited before segment number `silence_before`.
    fn last_sample(sent: &[u64], acked: &[u64], silence_before: Option<usize>) -> Option<RateSample> {
        let (mut sampler, mut scoreboard) = (Sampler::default(), Scoreboard::starting_at(0));
        scoreboard.keep_times();
        let mut events: Vec<(u64, bool)> = sent.iter().map(|time| (*time, true)).collect();
        events.extend(acked.iter().map(|time| (*time, false)));
        events.sort();
        let mut sample = None;
        for (time, is_sent) in events {
            if is_sent {
                let start = scoreboard.nxt();
                if silence_before.is_some_and(|number| 1000 * number as u64 == start) {
                    sampler.mark_app_limited(scoreboard.outstanding());
                }
                let begins = scoreboard.outstanding() == 0;
                scoreboard.record_new(1000, at(time));
                let in_flight = scoreboard.outstanding();
                sampler.on_sent(at(time), Range { start, end: start + 1000 }, begins, in_flight, 0);
            } else {
                scoreboard.begin_ack();
                let acked = scoreboard.acknowledge(scoreboard.una() + 1000);
                sample = sampler.on_ack(at(time), acked.delivered, &scoreboard, None);
            }
        }
        sample
    }

    /// Segments of 1000 bytes are sent every 10 ms, and acknowledged every 20 ms from 100 ms on. The sample is the
    /// slower of the two rates, 50 kB/s.
    #[test]
    fn the_bottleneck_shows() {
        let sent: Vec<u64> = (0..20).map(|k| 10 * k).collect();
        let acked: Vec<u64> = (0..20).map(|k| 100 + 20 * k).collect();
        let sample = last_sample(&sent, &acked, None).expect("a sample");
        assert!((sample.bytes_per_sec() - 50_000.0).abs() < 1.0, "unexpected rate: {sample:?}");
        assert_eq!((sample.total, sample.app_limited), (20_000, false));
    }

    /// ACK compression does not raise the sample: the send interval is longer than the ACK interval and determines the
    /// rate.
    #[test]
    fn compressed_acks_do_not_raise_it() {
        let sent: Vec<u64> = (0..10).map(|k| 10 * k).collect();
        let acked: Vec<u64> = (0..10).map(|k| 200 + k).collect();
        let sample = last_sample(&sent, &acked, None).expect("a sample");
        // Sending ten segments takes 90 ms, which is the slower rate. The ACKs alone would give 9 segments in 9 ms.
        assert!(sample.bytes_per_sec() <= 10_000.0 / 0.09, "unexpected rate: {sample:?}");
    }

    #[test]
    fn silence_is_told() {
        let sample = last_sample(&[0, 10, 50], &[100, 110, 150], Some(2)).expect("a sample");
        assert!(sample.app_limited);
        let sample = last_sample(&[0, 10, 20], &[100, 110, 120], None).expect("a sample");
        assert!(!sample.app_limited);
    }
}
