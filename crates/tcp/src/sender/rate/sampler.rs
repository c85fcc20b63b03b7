//! One sample of the delivery rate for each ACK (draft-ietf-ccwg-bbr §4.1, "Delivery Rate Samples").
//!
//! For the segment sent last of those that an ACK delivers: how much was delivered between its sending and now, and how
//! long that took, or how long it took to send if that was longer.

use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

/// What one ACK says of the rate at which the path delivers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Bytes delivered over `interval`.
    pub delivered: u64,
    /// The longer of the times in which they were sent and acknowledged.
    pub interval: Duration,
    /// Whether that is the smallest round-trip time at least: else it says nothing of the rate.
    pub reliable: bool,
    /// All bytes delivered when the segment was sent: a round trip has gone by when that reaches `total` of the round's begin.
    pub prior: u64,
    /// All bytes delivered so far, this ACK's included.
    pub total: u64,
    /// The application had too little to send then: the path may be faster.
    pub app_limited: bool,
    /// Bytes in the network when the segment was sent, itself included.
    pub in_flight: u64,
    /// Bytes found lost since then.
    pub lost: u64,
    /// The segment's round-trip time, unless it was sent again.
    pub rtt: Option<Duration>,
}

impl RateSample {
    /// Bytes per second.
    pub fn bytes_per_sec(&self) -> f64 {
        self.delivered as f64 / self.interval.as_secs()
    }
}

/// A segment that is found lost, and what was known when it was sent (draft-ietf-ccwg-bbr §5.5.10.2, HandleLostPacket).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LostSegment {
    /// Its bytes.
    pub range: Range,
    /// Bytes in the network when it was sent, itself included.
    pub in_flight: u64,
    /// Bytes found lost since then, itself included.
    pub lost: u64,
    /// All bytes delivered so far.
    pub delivered: u64,
    /// The application had too little to send then.
    pub app_limited: bool,
}

/// What was known when a segment was sent.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    /// The byte behind the segment.
    end: u64,
    /// Bytes delivered by then, and when the last of them were.
    delivered: u64,
    delivered_at: Time,
    /// When the segment was sent that was the newest delivered one then: the interval of sending begins there.
    first_sent_at: Time,
    app_limited: bool,
    /// Bytes in the network with it, and all bytes found lost by then.
    in_flight: u64,
    lost: u64,
}

/// Takes the samples.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// Of what is outstanding, in the order of the stream.
    stamps: VecDeque<Stamp>,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// The total at which the last silence of the application has left the pipe; 0: there is none in it.
    limited_until: u64,
}

impl Sampler {
    /// A segment goes out, new or again, and `in_flight` bytes are in the network with it; so many bytes were found lost
    /// so far. `begins`: nothing was outstanding before.
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

    /// The application has nothing to send, and the window has room beside `in_flight` bytes: samples of what is sent until
    /// these have left the pipe say less than the path can.
    pub(super) fn on_silence(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// Whether the application had too little to send, and what was in the network then has not left it yet.
    pub(super) fn is_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// A segment is found lost; with it `lost` bytes in all.
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

    /// The board has taken an ACK in that delivers so many bytes.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        delivered: u64,
        board: &Scoreboard,
        shortest: Option<Duration>,
    ) -> Option<RateSample> {
        if delivered > 0 {
            self.delivered += delivered;
            self.delivered_at = now;
            if self.delivered > self.limited_until {
                self.limited_until = 0;
            }
        }
        let newest = board.newest();
        let stamp = newest.and_then(|newest| self.place_of(newest.end)).map(|place| self.stamps[place]);
        let gone = self.stamps.partition_point(|stamp| stamp.end <= board.una());
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
            lost: board.lost_total() - stamp.lost,
            rtt: (!newest.again).then(|| now.since(newest.sent_at)),
        })
    }

    /// The stamp of the segment that ends there, or of which it is a part (the path's MTU has shrunk since).
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

    /// Segments of 1000 bytes, sent and acknowledged one by one at given times; the last sample.
    fn last_sample(sent: &[u64], acked: &[u64], silence_before: Option<usize>) -> Option<RateSample> {
        let (mut sampler, mut board) = (Sampler::default(), Scoreboard::starting_at(0));
        board.keep_times();
        let mut events: Vec<(u64, bool)> = sent.iter().map(|time| (*time, true)).collect();
        events.extend(acked.iter().map(|time| (*time, false)));
        events.sort();
        let mut sample = None;
        for (time, is_sent) in events {
            if is_sent {
                let start = board.nxt();
                if silence_before.is_some_and(|number| 1000 * number as u64 == start) {
                    sampler.on_silence(board.outstanding());
                }
                let begins = board.outstanding() == 0;
                board.sent_new(1000, at(time));
                let in_flight = board.outstanding();
                sampler.on_sent(at(time), Range { start, end: start + 1000 }, begins, in_flight, 0);
            } else {
                board.begin_ack();
                let acked = board.acknowledge(board.una() + 1000);
                sample = sampler.on_ack(at(time), acked.delivered, &board, None);
            }
        }
        sample
    }

    /// Sent every 10 ms, acknowledged every 20 ms from 100 ms on: 50 kB/s, the slower of the two.
    #[test]
    fn the_bottleneck_shows() {
        let sent: Vec<u64> = (0..20).map(|k| 10 * k).collect();
        let acked: Vec<u64> = (0..20).map(|k| 100 + 20 * k).collect();
        let sample = last_sample(&sent, &acked, None).expect("a sample");
        assert!((sample.bytes_per_sec() - 50_000.0).abs() < 1.0, "{sample:?}");
        assert_eq!((sample.total, sample.app_limited), (20_000, false));
    }

    /// ACKs that were held back and come at once: sending took longer than acknowledging, and is the measure.
    #[test]
    fn compressed_acks_do_not_raise_it() {
        let sent: Vec<u64> = (0..10).map(|k| 10 * k).collect();
        let acked: Vec<u64> = (0..10).map(|k| 200 + k).collect();
        let sample = last_sample(&sent, &acked, None).expect("a sample");
        // Ten segments: 90 ms of sending; without it, 9 in 9 ms.
        assert!(sample.bytes_per_sec() <= 10_000.0 / 0.09, "{sample:?}");
    }

    /// What is sent after a silence says less than the path can, and says so.
    #[test]
    fn silence_is_told() {
        let sample = last_sample(&[0, 10, 50], &[100, 110, 150], Some(2)).expect("a sample");
        assert!(sample.app_limited);
        let sample = last_sample(&[0, 10, 20], &[100, 110, 120], None).expect("a sample");
        assert!(!sample.app_limited);
    }
}
