//! A bottleneck with a drop-tail queue, and the path in both directions.

use super::HEADERS;
use lasthop_base::{Duration, Rate, Time};
use lasthop_wire::Segment;
use std::collections::{BTreeMap, VecDeque};

/// A token bucket that drops packets for which it has too few tokens.
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    pub rate: Rate,
    /// Capacity of the bucket, bytes.
    pub bucket: f64,
    /// Tokens that are now in the bucket, bytes.
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

/// Path properties that a test may change.
pub struct Path {
    /// Bottleneck rate.
    pub rate: Rate,
    /// Queue limit, bytes.
    pub queue: u64,
    pub policer: Option<Policer>,
    /// Every data packet with a number divisible by this is lost; 0: none.
    pub drop_every: u64,
    /// Additional delay of packets leaving the bottleneck; later packets may overtake them.
    pub late_by: Duration,
    /// Period at which waiting ACKs are released.
    pub ack_lumps: Option<Duration>,
    /// Number of data packets dropped so far by the queue, the policer or `drop_every`.
    pub dropped: u64,
    /// Number of data packets that reached the bottleneck so far.
    pub offered: u64,
    one_way: Duration,
    /// Packets waiting or in transmission: end of the packet's transmission, and its bytes on the wire.
    waiting: VecDeque<(Time, u64)>,
    waiting_bytes: u64,
    free_at: Time,
    /// Segments in flight. Key: arrival time and sending order; value: index of the receiving end, and segment.
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

    /// Stops the bottleneck for this length of time.
    pub fn pause(&mut self, now: Time, length: Duration) {
        self.free_at = self.free_at.max(now) + length;
    }

    /// Sends a data segment.
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

    /// Sends an ACK.
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
