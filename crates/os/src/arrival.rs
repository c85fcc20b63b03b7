//! Arrival times of packets, from the kernel's time stamps. This process reads the packets later, so the times of
//! reading are not used.
//!
//! After a delay, this process may read an ACK and the peer's response to this ACK at the same time. With the times of
//! reading, the RTT sample would be zero, and the minimum filter would store this value for a long time.

use crate::clock::Clock;
use lasthop_base::{Duration, Time};
use std::time::{SystemTime, UNIX_EPOCH};

/// Converts wall-clock time stamps (SO_TIMESTAMPNS) to the time of a [`Clock`].
#[derive(Debug, Default)]
pub struct ArrivalClock {
    /// Wall-clock time in ns since 1970 at which the [`Clock`] had the time zero.
    zero: Option<u64>,
    latest: Time,
}

/// Maximum duration of a comparison of clocks. A longer comparison was interrupted, and its result is discarded.
const MAX_COMPARISON: Duration = Duration::from_micros(50);

impl ArrivalClock {
    /// Compares the clocks again, because the wall clock may have been set since the last comparison. Returns the
    /// current time.
    pub fn synchronize(&mut self, clock: &Clock) -> Time {
        let before = clock.now();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let after = clock.now();
        self.update(before, wall.as_nanos() as u64, after);
        after
    }

    fn update(&mut self, before: Time, wall: u64, after: Time) {
        if self.zero.is_none() || after.since(before) <= MAX_COMPARISON {
            self.zero = Some(wall.saturating_sub(before.as_nanos()));
        }
    }

    /// Returns the arrival time of a packet. `stamp` is the kernel's time stamp, ns since 1970; if `stamp` is `None`,
    /// the packet arrived at `now`. The result is at most `now`, and at least the time of the preceding packet.
    pub fn time(&mut self, stamp: Option<u64>, now: Time) -> Time {
        let stamped = stamp.zip(self.zero).map(|(stamp, zero)| Time::from_nanos(stamp.saturating_sub(zero)));
        self.latest = stamped.unwrap_or(now).min(now).max(self.latest);
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: u64 = 1_700_000_000_000_000_000;

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    fn synchronized() -> ArrivalClock {
        let mut arrivals = ArrivalClock::default();
        arrivals.update(at(1_000_000), ZERO + 1_000_000_000, at(1_000_001));
        arrivals
    }

    #[test]
    fn a_packet_passed_when_its_stamp_says() {
        let mut arrivals = synchronized();
        let now = at(11_000_000);
        assert_eq!(arrivals.time(Some(ZERO + 1_000_500_000), now), at(1_000_500));
        assert_eq!(arrivals.time(Some(ZERO + 1_020_500_000), now), at(1_020_500));
        assert_eq!(arrivals.time(None, now), now);
    }

    #[test]
    fn no_packet_is_from_the_future_or_before_another() {
        let mut arrivals = synchronized();
        assert_eq!(arrivals.time(Some(ZERO + 5_000_000_000), at(1_000_100)), at(1_000_100));
        assert_eq!(arrivals.time(Some(ZERO), at(1_000_200)), at(1_000_100));
    }

    #[test]
    fn a_clock_that_is_set_is_followed_but_an_interruption_is_not() {
        let mut arrivals = synchronized();
        arrivals.update(at(2_000_000), ZERO + 2_005_000_000, at(2_005_000));
        assert_eq!(arrivals.time(Some(ZERO + 2_001_000_000), at(2_005_000)), at(2_001_000));
        let hour = 3_600_000_000_000;
        arrivals.update(at(3_000_000), ZERO + 3_000_000_000 - hour, at(3_000_001));
        assert_eq!(arrivals.time(Some(ZERO + 3_001_000_000 - hour), at(3_002_000)), at(3_001_000));
    }
}
