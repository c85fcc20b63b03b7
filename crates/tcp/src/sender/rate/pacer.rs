//! Pacing: spaces packets at the pacing rate of congestion control, without bursts (draft-ietf-ccwg-bbr §5.6.2).
//!
//! The pacer spaces single segments. Real hosts pace bursts of 1 to 2 ms, because their timers are coarse.

use lasthop_base::{Rate, Time};

#[derive(Debug, Default)]
pub(super) struct Pacer {
    next_departure: Time,
}

impl Pacer {
    /// Earliest departure time of the next packet. A time in the past does not delay the packet.
    pub(super) fn next_departure(&self) -> Time {
        self.next_departure
    }

    /// Records a sent packet with `bytes` bytes of payload. A pause in sending does not permit a burst later.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, rate: Rate) {
        self.next_departure = self.next_departure.max(now) + rate.time_for(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Duration;

    /// At 8 Mbit/s, packets of 1000 bytes are 1 ms apart. A pause in sending (14 to 50 ms) permits no burst afterwards.
    #[test]
    fn packets_are_spaced_by_what_they_take() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut pacer = Pacer::default();
        let rate = Rate::from_bps(8_000_000);
        pacer.on_sent(at(10), 1000, rate);
        assert_eq!(pacer.next_departure(), at(11));
        pacer.on_sent(at(11), 2000, rate);
        assert_eq!(pacer.next_departure(), at(13));
        // A forced retransmission is sent at once, before its departure time of 13 ms. It delays the next packet by 1
        // ms.
        pacer.on_sent(at(12), 1000, rate);
        assert_eq!(pacer.next_departure(), at(14));
        pacer.on_sent(at(50), 1000, rate);
        assert_eq!(pacer.next_departure(), at(51));
    }
}
