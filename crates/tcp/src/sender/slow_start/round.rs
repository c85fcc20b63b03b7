//! Round of slow start: begins with an ACK and ends when all data sent up to that ACK is acknowledged.

use super::SlowStartAck;
use lasthop_base::{Duration, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct SlowStartRound {
    end: u64,
    pub(super) began: Time,
    pub(super) least: Duration,
    pub(super) samples: u32,
}

impl SlowStartRound {
    pub(super) fn begin(sample: &SlowStartAck) -> SlowStartRound {
        SlowStartRound { end: sample.nxt, began: sample.now, least: Duration::MAX, samples: 0 }
    }

    pub(super) fn is_over(&self, sample: &SlowStartAck) -> bool {
        sample.una > self.end
    }

    pub(super) fn note(&mut self, rtt: Duration) {
        self.least = self.least.min(rtt);
        self.samples += 1;
    }
}

/// Increase over the round-trip time `base` that indicates a queue: an eighth of `base`, between 4 and 16 ms.
pub(super) fn threshold(base: Duration) -> Duration {
    base.divided_by(8).clamp(Duration::from_millis(4), Duration::from_millis(16))
}
