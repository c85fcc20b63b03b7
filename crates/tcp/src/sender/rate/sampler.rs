//! Delivery rate samples, one per ACK (draft-ietf-ccwg-bbr §4.1, "Delivery Rate Samples").
//!
//! An ACK's sample belongs to the most recently sent segment that the ACK delivers. The rate is the number of bytes
//! delivered since this segment was sent, divided by the longer of the send interval and the ACK interval.

use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

/// Delivery rate sample of one ACK.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Bytes delivered in `interval`.
    pub delivered: u64,
    /// Longer of the send interval and the ACK interval.
    pub interval: Duration,
    /// Whether the rate is valid: `interval` is at least the smallest RTT.
    pub reliable: bool,
    /// Total number of bytes delivered at the time when the segment was sent. A round trip ends when `prior` reaches
    /// the `total` that held at its start.
    pub prior: u64,
    /// Total number of bytes delivered so far, including by this ACK.
    pub total: u64,
    /// Whether the segment was sent while the sender was application-limited, so that the path may be faster than the
    /// rate.
    pub app_limited: bool,
    /// Bytes in flight when the segment was sent, the segment included.
    pub in_flight: u64,
    /// Bytes marked lost since the segment was sent.
    pub lost: u64,
    /// Round-trip time of the segment; `None` if the segment was retransmitted.
    pub rtt: Option<Duration>,
}

impl RateSample {
    /// Delivery rate, bytes per second.
    pub fn bytes_per_sec(&self) -> f64 {
        self.delivered as f64 / self.interval.as_secs()
    }
}

/// A segment marked lost, with the sampler's state at the time when the segment was sent (draft-ietf-ccwg-bbr
/// §5.5.10.2, HandleLostPacket).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LostSegment {
    /// Bytes of the segment.
    pub range: Range,
    /// Bytes in flight when the segment was sent, the segment included.
    pub in_flight: u64,
    /// Bytes marked lost since the segment was sent, the segment included.
    pub lost: u64,
    /// Total number of bytes delivered so far.
    pub delivered: u64,
    /// Whether the segment was sent while the sender was application-limited.
    pub app_limited: bool,
}

#[derive(Clone, Copy, Debug)]
struct Stamp {
    end: u64,
    /// Total number of bytes delivered when the segment was sent.
    delivered: u64,
    /// Time of the last ACK that delivered data before the segment was sent.
    delivered_at: Time,
    /// Start of the send interval: sending time of the newest segment that was delivered before this segment was sent.
    first_sent_at: Time,
    app_limited: bool,
    in_flight: u64,
    lost: u64,
}

#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// State of the sampler at the time when each outstanding segment was sent, in stream order.
    stamps: VecDeque<Stamp>,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Value of `delivered` at which the last application-limited data is delivered; 0 if the sender is not
    /// application-limited.
    limited_until: u64,
}

impl Sampler {
    /// Records a sent segment. `begins`: nothing was outstanding before; `in_flight`: bytes in flight, the segment
    /// included; `lost`: total number of bytes marked lost.
    pub(super) fn on_sent(&mut self, now: Time, range: Range, begins: bool, in_flight: u64, lost: u64) {
        if begins {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let stamp = Stamp {
            end: range.end,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.limited_until > 0,
            in_flight,
            lost,
        };
        match self.place_of(range.end) {
            Some(place) => self.stamps[place] = Stamp { end: self.stamps[place].end, ..stamp },
            None => self.stamps.push_back(stamp),
        }
    }

    /// Marks the segments sent from now on as application-limited, until the `in_flight` bytes now in flight are
    /// delivered.
    pub(super) fn mark_app_limited(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    pub(super) fn is_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Returns a lost segment with the state at the time when the segment was sent. `lost`: total number of bytes
    /// marked lost, the segment included.
    pub(super) fn on_lost(&self, range: Range, lost: u64) -> Option<LostSegment> {
        let stamp = self.stamps[self.place_of(range.end)?];
        Some(LostSegment {
            range,
            in_flight: stamp.in_flight,
            lost: lost.saturating_sub(stamp.lost),
            delivered: self.delivered,
            app_limited: stamp.app_limited,
        })
    }

    /// Takes a sample at an ACK that delivers `delivered` bytes. The scoreboard has already processed the ACK.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        delivered: u64,
        scoreboard: &Scoreboard,
        shortest: Option<Duration>,
    ) -> Option<RateSample> {
        if delivered > 0 {
            self.delivered += delivered;
            self.delivered_at = now;
            if self.delivered > self.limited_until {
                self.limited_until = 0;
            }
        }
        let newest = scoreboard.newest();
        let stamp = newest.and_then(|newest| self.place_of(newest.end)).map(|place| self.stamps[place]);
        let gone = self.stamps.partition_point(|stamp| stamp.end <= scoreboard.una());
        self.stamps.drain(..gone);
        let (newest, stamp) = (newest?, stamp?);
        self.first_sent_at = newest.sent_at;
        let sending = newest.sent_at.since(stamp.first_sent_at);
        let interval = sending.max(now.since(stamp.delivered_at));
        Some(RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            reliable: interval > Duration::ZERO && shortest.is_none_or(|shortest| shortest <= interval),
            prior: stamp.delivered,
            total: self.delivered,
            app_limited: stamp.app_limited,
            in_flight: stamp.in_flight,
            lost: scoreboard.lost_total() - stamp.lost,
            rtt: (!newest.is_retransmitted).then(|| now.since(newest.sent_at)),
        })
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
