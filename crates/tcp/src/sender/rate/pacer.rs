//! When may the next packet leave? One after the other at the rate that the congestion control sets, without bursts
//! (draft-ietf-ccwg-bbr §5.6.2).
//!
//! # No quantum
//! A host paces bundles of segments, as long as a millisecond or two, so that its timers need not be exact. Here each
//! segment waits for itself.

use lasthop_base::{Rate, Time};

/// Spaces packets.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    may_leave_at: Time,
}

impl Pacer {
    /// When the next packet may leave; a time that has gone by holds nothing back.
    pub(super) fn may_leave_at(&self) -> Time {
        self.may_leave_at
    }

    /// A packet with so many bytes of payload leaves. What was not used before is not caught up.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, rate: Rate) {
        self.may_leave_at = self.may_leave_at.max(now) + rate.time_for(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Duration;

    /// 1000 bytes at 8 Mbit/s take a millisecond; silence earns no burst.
    #[test]
    fn packets_are_spaced_by_what_they_take() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut pacer = Pacer::default();
        let rate = Rate::from_bps(8_000_000);
        pacer.on_sent(at(10), 1000, rate);
        assert_eq!(pacer.may_leave_at(), at(11));
        pacer.on_sent(at(11), 2000, rate);
        assert_eq!(pacer.may_leave_at(), at(13));
        // A retransmission that may not wait is paid for by the next.
        pacer.on_sent(at(12), 1000, rate);
        assert_eq!(pacer.may_leave_at(), at(14));
        pacer.on_sent(at(50), 1000, rate);
        assert_eq!(pacer.may_leave_at(), at(51));
    }
}
