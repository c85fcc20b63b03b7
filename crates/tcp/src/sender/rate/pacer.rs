//! Pacing: spaces packets at the congestion control's rate, without bursts (draft-ietf-ccwg-bbr §5.6.2).
//!
//! Paces single segments. Hosts pace bundles of 1 to 2 ms because their timers are coarse.

use lasthop_base::{Rate, Time};

#[derive(Debug, Default)]
pub(super) struct Pacer {
    may_leave_at: Time,
}

impl Pacer {
    /// Earliest departure of the next packet; a past time delays nothing.
    pub(super) fn may_leave_at(&self) -> Time {
        self.may_leave_at
    }

    /// Records a packet of `bytes` payload bytes. Unused time earns no later burst.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, rate: Rate) {
        self.may_leave_at = self.may_leave_at.max(now) + rate.time_for(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Duration;

    /// 1000 bytes at 8 Mbit/s take 1 ms; silence earns no burst.
    #[test]
    fn packets_are_spaced_by_what_they_take() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut pacer = Pacer::default();
        let rate = Rate::from_bps(8_000_000);
        pacer.on_sent(at(10), 1000, rate);
        assert_eq!(pacer.may_leave_at(), at(11));
        pacer.on_sent(at(11), 2000, rate);
        assert_eq!(pacer.may_leave_at(), at(13));
        // A retransmission that may not wait delays the next packet.
        pacer.on_sent(at(12), 1000, rate);
        assert_eq!(pacer.may_leave_at(), at(14));
        pacer.on_sent(at(50), 1000, rate);
        assert_eq!(pacer.may_leave_at(), at(51));
    }
}
