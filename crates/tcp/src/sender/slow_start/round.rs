//! A round of slow start: from an ACK until what was sent by then is acknowledged.

use super::Sample;
use lasthop_base::{Duration, Time};

/// The smallest round-trip time of a round, and how many told it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// The first byte that does not belong to it.
    end: u64,
    pub(super) began: Time,
    pub(super) least: Duration,
    pub(super) samples: u32,
}

impl Round {
    /// It begins with this ACK.
    pub(super) fn begin(sample: &Sample) -> Round {
        Round { end: sample.nxt, began: sample.now, least: Duration::MAX, samples: 0 }
    }

    /// Whether it is over with this ACK.
    pub(super) fn is_over(&self, sample: &Sample) -> bool {
        sample.una > self.end
    }

    pub(super) fn note(&mut self, rtt: Duration) {
        self.least = self.least.min(rtt);
        self.samples += 1;
    }
}

/// How much longer than `base` a round trip is that tells of a queue: an eighth of it, from 4 to 16 ms.
pub(super) fn threshold(base: Duration) -> Duration {
    base.divided_by(8).clamp(Duration::from_millis(4), Duration::from_millis(16))
}
