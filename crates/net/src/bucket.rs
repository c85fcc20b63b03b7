//! A bucket of tokens, a byte each, that fills at a rate: what shapers and policers go by (RFC 2697 §3).

use lasthop_base::{Duration, Rate, Time};

/// Tokens, as the time that they take to come: whole nanoseconds, and nothing to be done while time passes.
pub(crate) struct Bucket {
    rate: Rate,
    /// The time in which it fills.
    depth: Duration,
    /// When it is full again.
    full_at: Time,
    /// The last size, and the time in which its tokens come.
    last: (u32, Duration),
}

impl Bucket {
    /// A full one, of so many bytes.
    pub(crate) fn new(rate: Rate, burst: u64) -> Bucket {
        Bucket { rate, depth: rate.time_for(burst), full_at: Time::ZERO, last: (0, Duration::ZERO) }
    }

    /// When it has the tokens for a packet; it has them for one that is larger than the bucket when it is full.
    pub(crate) fn ready_at(&mut self, bytes: u32) -> Time {
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.time_for(u64::from(bytes)));
        }
        self.ready_again_at()
    }

    /// The same for a packet of the size that was asked for last.
    pub(crate) fn ready_again_at(&self) -> Time {
        let spare = self.depth.saturating_sub(self.last.1);
        Time::from_nanos(self.full_at.as_nanos().saturating_sub(spare.as_nanos()))
    }

    /// Takes, at `now`, the tokens of the packet that was asked for last. A larger one takes it below empty.
    pub(crate) fn spend(&mut self, now: Time) {
        self.full_at = self.full_at.max(now) + self.last.1;
    }
}
