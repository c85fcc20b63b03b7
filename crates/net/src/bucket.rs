//! A token bucket for shapers and policers (RFC 2697 §3). One token permits one byte.

use lasthop_base::{Duration, Rate, Time};

/// A token bucket. The state is the time in whole nanoseconds at which the bucket will be full, instead of the number
/// of tokens. This time needs no update while the bucket fills.
pub(crate) struct Bucket {
    rate: Rate,
    /// Time to fill the empty bucket.
    depth: Duration,
    full_at: Time,
    /// Packet size in the last call of `ready_at`, and the time in which tokens for a packet of that size arrive.
    last: (u32, Duration),
}

impl Bucket {
    /// Returns a full bucket of `burst` bytes.
    pub(crate) fn new(rate: Rate, burst: u64) -> Bucket {
        Bucket { rate, depth: rate.time_for(burst), full_at: Time::ZERO, last: (0, Duration::ZERO) }
    }

    /// Returns the time at which the bucket has enough tokens for a packet. For a packet larger than the bucket,
    /// returns the time at which the bucket is full.
    pub(crate) fn ready_at(&mut self, bytes: u32) -> Time {
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.time_for(u64::from(bytes)));
        }
        self.ready_again_at()
    }

    /// Returns the time of [`Bucket::ready_at`] for a packet of the size in the last call of `ready_at`.
    pub(crate) fn ready_again_at(&self) -> Time {
        let spare = self.depth.saturating_sub(self.last.1);
        Time::from_nanos(self.full_at.as_nanos().saturating_sub(spare.as_nanos()))
    }

    /// Takes the tokens for a packet of the size in the last call of `ready_at`. A packet larger than the bucket makes
    /// the number of tokens negative.
    pub(crate) fn spend(&mut self, now: Time) {
        self.full_at = self.full_at.max(now) + self.last.1;
    }
}
