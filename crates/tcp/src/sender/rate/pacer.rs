//! Pacing: spaces packets at the congestion control's rate, without bursts (draft-ietf-ccwg-bbr §5.6.2).
//!
//! Paces single segments. Hosts pace bundles of 1 to 2 ms because their timers are coarse.

use lasthop_base::{Rate, Time};

#[derive(Debug, Default)]
pub(super) struct Pacer {
    next_departure: Time,
}

impl Pacer {
    /// Earliest departure of the next packet; a past time delays nothing.
    pub(super) fn next_departure(&self) -> Time {
        self.next_departure
    }

    /// Records a packet of `bytes` payload bytes. Unused time earns no later burst.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, rate: Rate) {
        self.next_departure = self.next_departure.max(now) + rate.time_for(bytes);
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
        assert_eq!(pacer.next_departure(), at(11));
        pacer.on_sent(at(11), 2000, rate);
        assert_eq!(pacer.next_departure(), at(13));
        // A retransmission that may not wait delays the next packet.
        pacer.on_sent(at(12), 1000, rate);
        assert_eq!(pacer.next_departure(), at(14));
        pacer.on_sent(at(50), 1000, rate);
        assert_eq!(pacer.next_departure(), at(51));
    }
}
