//! Pacing: spaces packets at a rate (draft-ietf-ccwg-bbr §5.6.2).
//!
//! With a burst of 0 bytes the pacer spaces single segments. Real hosts pace bursts of 1 to 2 ms, because their timers
//! are coarse and because they pass several segments at once to the network card (TSO).

use super::super::pacing::Pace;
use lasthop_base::{Duration, Rate, Time};

#[derive(Debug, Default)]
pub(super) struct Pacer {
    /// Earliest departure after the current burst.
    next_departure: Time,
    burst: Burst,
}

/// Segments that leave at one instant.
#[derive(Debug, Default)]
struct Burst {
    at: Time,
    /// Bytes that may still leave at `at`.
    left: u64,
    /// Time that the burst takes at the pacing rate.
    duration: Duration,
    /// Pause before the burst: time from the earliest departure of the burst to its actual departure.
    unused: Duration,
}

impl Pacer {
    /// Earliest departure of the next packet, as known at `now`. A past time means that the packet may leave at once.
    pub(super) fn next_departure(&self, now: Time) -> Time {
        if self.burst.left > 0 && self.burst.at == now { now } else { self.next_departure }
    }

    /// Records a packet of `bytes` payload bytes. With bursts, a pause in sending shortens the wait after the next
    /// burst, by at most half of the burst's duration. Without bursts, a pause has no effect.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, pace: Pace) {
        let duration = pace.rate.time_for(bytes);
        if pace.burst == 0 {
            self.burst.left = 0;
            self.next_departure = self.next_departure.max(now) + duration;
            return;
        }
        let burst = &mut self.burst;
        if burst.left > 0 && burst.at == now {
            burst.left = burst.left.saturating_sub(bytes);
            burst.duration += duration;
        } else {
            let unused = now.since(self.next_departure);
            // A retransmission that is sent before the earliest departure delays the next burst.
            let duration = duration + self.next_departure.since(now);
            *burst = Burst { at: now, left: pace.burst.saturating_sub(bytes), duration, unused };
        }
        self.next_departure =
            now + burst.duration.saturating_sub(burst.unused.min(burst.duration.divided_by(2)));
    }

    /// Rescales the rest of the current gap to a new pacing rate. Without an old or a new rate, the next packet may
    /// leave at once.
    pub(super) fn on_rate(&mut self, now: Time, from: Option<Rate>, to: Option<Rate>) {
        let rest = u128::from(self.next_departure.since(now).as_nanos());
        let rest = match (from, to) {
            (Some(from), Some(to)) => rest * u128::from(from.bps()) / u128::from(to.bps().max(1)),
            _ => 0,
        };
        self.next_departure =
            now + Duration::from_nanos(u64::try_from(rest).unwrap_or(LONGEST_GAP).min(LONGEST_GAP));
    }
}

/// Longest gap after a change of the pacing rate, ns: one hour.
const LONGEST_GAP: u64 = 3_600_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// At 8 Mbit/s, packets of 1000 bytes are 1 ms apart. A pause in sending (14 to 50 ms) permits no burst afterwards.
    #[test]
    fn packets_are_spaced_by_what_they_take() {
        let mut pacer = Pacer::default();
        let pace = Pace { rate: Rate::from_bps(8_000_000), burst: 0 };
        pacer.on_sent(at(10), 1000, pace);
        assert_eq!(pacer.next_departure(at(10)), at(11));
        pacer.on_sent(at(11), 2000, pace);
        assert_eq!(pacer.next_departure(at(11)), at(13));
        // A retransmission that is sent before the earliest departure delays the next packet.
        pacer.on_sent(at(12), 1000, pace);
        assert_eq!(pacer.next_departure(at(12)), at(14));
        pacer.on_sent(at(50), 1000, pace);
        assert_eq!(pacer.next_departure(at(50)), at(51));
    }

    /// Each burst has 2 segments of 1 ms each. If only one segment of a burst is sent, the next burst waits only for
    /// this segment. A pause in sending shortens the wait by at most half of the burst's duration.
    #[test]
    fn a_burst_leaves_at_one_instant() {
        let mut pacer = Pacer::default();
        let pace = Pace { rate: Rate::from_bps(8_000_000), burst: 2000 };
        pacer.on_sent(Time::ZERO, 1000, pace);
        assert_eq!(pacer.next_departure(Time::ZERO), Time::ZERO, "the second segment may leave at once");
        assert_eq!(pacer.next_departure(at(1)), at(1), "the burst stopped after one segment");
        pacer.on_sent(Time::ZERO, 1000, pace);
        assert_eq!(pacer.next_departure(Time::ZERO), at(2));
        for millis in [2, 4] {
            pacer.on_sent(at(millis), 1000, pace);
            pacer.on_sent(at(millis), 1000, pace);
            assert_eq!(pacer.next_departure(at(millis)), at(millis + 2), "no time was unused");
        }
        pacer.on_sent(at(100), 1000, pace);
        pacer.on_sent(at(100), 1000, pace);
        assert_eq!(pacer.next_departure(at(100)), at(101));
    }

    /// A packet of 1000 bytes at 0.8 Mbit/s takes 10 ms. After 4 ms, 6 ms are left. At 8 Mbit/s the rest takes 0.6 ms.
    #[test]
    fn the_rest_of_a_gap_follows_a_new_rate() {
        let slow = Rate::from_bps(800_000);
        let begun = || {
            let mut pacer = Pacer::default();
            pacer.on_sent(at(0), 1000, Pace { rate: slow, burst: 0 });
            pacer
        };
        let after = |to| {
            let mut pacer = begun();
            pacer.on_rate(at(4), Some(slow), to);
            pacer.next_departure(at(4))
        };
        assert_eq!(after(Some(Rate::from_bps(8_000_000))), at(4) + Duration::from_micros(600));
        assert_eq!(after(Some(Rate::from_bps(400_000))), at(16));
        assert_eq!(after(None), at(4));
        assert_eq!(after(Some(Rate::from_bps(0))), at(4) + Duration::from_nanos(LONGEST_GAP));
    }
}
