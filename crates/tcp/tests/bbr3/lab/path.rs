//! Test path: a bottleneck with a drop-tail queue for data, and the delays of both directions.

use super::HEADERS;
use lasthop_base::{Duration, Rate, Time};
use lasthop_wire::Segment;
use std::collections::{BTreeMap, VecDeque};

/// A token bucket policer: a packet is dropped if the bucket has too few tokens.
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    pub rate: Rate,
    /// Capacity of the bucket, bytes.
    pub bucket: f64,
    /// Tokens in the bucket at `filled_at`, bytes.
    tokens: f64,
    filled_at: Time,
}

impl Policer {
    pub fn new(now: Time, rate: Rate, bucket: f64) -> Policer {
        Policer { rate, bucket, tokens: bucket, filled_at: now }
    }

    fn passes(&mut self, now: Time, bytes: f64) -> bool {
        let fresh = now.since(self.filled_at).as_secs() * self.rate.bps() as f64 / 8.0;
        self.tokens = (self.tokens + fresh).min(self.bucket);
        self.filled_at = now;
        let passes = self.tokens >= bytes;
        self.tokens -= if passes { bytes } else { 0.0 };
        passes
    }
}

/// A path. A test may change the public properties during the run.
pub struct Path {
    /// Bottleneck rate.
    pub rate: Rate,
    /// Queue limit, bytes.
    pub queue: u64,
    pub policer: Option<Policer>,
    /// Every `drop_every`-th data packet is lost; 0: none.
    pub drop_every: u64,
    /// Additional delay of packets behind the bottleneck. Packets sent after a change of this delay may overtake
    /// packets sent before the change.
    pub late_by: Duration,
    /// ACK aggregation: ACKs wait until the next multiple of this time.
    pub ack_lumps: Option<Duration>,
    /// Number of data packets dropped so far by the queue, the policer or `drop_every`.
    pub dropped: u64,
    /// Number of data packets that reached the bottleneck so far.
    pub offered: u64,
    one_way: Duration,
    /// Packets in the queue or in transmission. Each entry has the time at which the packet's transmission ends, and
    /// the packet's bytes on the wire.
    waiting: VecDeque<(Time, u64)>,
    waiting_bytes: u64,
    free_at: Time,
    /// Segments in flight. The key is the arrival time and the sending order; the value is the index of the receiving
    /// end, and the segment.
    under_way: BTreeMap<(Time, u64), (usize, Segment)>,
    number: u64,
}

impl Path {
    pub fn new(rate: Rate, rtt: Duration, queue_bdp: f64) -> Path {
        let product = rate.bps() as f64 / 8.0 * rtt.as_secs();
        Path {
            rate,
            queue: (queue_bdp * product) as u64 + 10 * 1500,
            policer: None,
            drop_every: 0,
            late_by: Duration::ZERO,
            ack_lumps: None,
            dropped: 0,
            offered: 0,
            one_way: rtt.divided_by(2),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            free_at: Time::ZERO,
            under_way: BTreeMap::new(),
            number: 0,
        }
    }

    /// Time of the next arrival.
    pub fn next(&self) -> Time {
        self.under_way.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at)
    }

    /// Returns the next segment that has arrived by `now`, and the index of the end that it reaches.
    pub fn arrived(&mut self, now: Time) -> Option<(usize, Segment)> {
        let entry = self.under_way.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }

    /// Stops the bottleneck for a time of `length`.
    pub fn pause(&mut self, now: Time, length: Duration) {
        self.free_at = self.free_at.max(now) + length;
    }

    /// Sends a segment through the bottleneck, from the sender to the receiver.
    pub fn send(&mut self, now: Time, segment: Segment) {
        let bytes = u64::from(segment.len) + HEADERS;
        if segment.len > 0 {
            self.offered += 1;
            let is_unlucky = self.drop_every > 0 && self.offered.is_multiple_of(self.drop_every);
            let is_policed = self.policer.as_mut().is_some_and(|policer| !policer.passes(now, bytes as f64));
            while self.waiting.front().is_some_and(|(through, _)| *through <= now) {
                let (_, gone) = self.waiting.pop_front().expect("the queue is not empty");
                self.waiting_bytes -= gone;
            }
            if is_unlucky || is_policed || self.waiting_bytes + bytes > self.queue {
                self.dropped += 1;
                return;
            }
        }
        self.free_at = self.free_at.max(now) + self.rate.time_for(bytes);
        self.waiting.push_back((self.free_at, bytes));
        self.waiting_bytes += bytes;
        self.put(self.free_at + self.one_way + self.late_by, 1, segment);
    }

    /// Sends a segment of the receiver, usually an ACK, back to the sender.
    pub fn acknowledge(&mut self, now: Time, segment: Segment) {
        let leaves = match self.ack_lumps {
            Some(lump) if segment.len == 0 => now.round_up(lump),
            _ => now,
        };
        self.put(leaves + self.one_way, 0, segment);
    }

    fn put(&mut self, at: Time, end: usize, segment: Segment) {
        self.number += 1;
        self.under_way.insert((at, self.number), (end, segment));
    }
}
