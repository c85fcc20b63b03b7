//! When each of this host's timestamps was first sent, so that its echo measures a round trip.

use lasthop_base::{Duration, Time};

/// How many are remembered, and how far apart they are at least: together, round trips of a second.
const KEPT: usize = 256;
const APART: Duration = Duration::from_millis(4);

/// The last timestamps, in the order in which they were sent.
pub(super) struct Stamps {
    kept: [(u32, Time); KEPT],
    count: usize,
    /// The last one that was not remembered.
    skipped: u32,
}

impl Default for Stamps {
    fn default() -> Stamps {
        Stamps { kept: [(0, Time::ZERO); KEPT], count: 0, skipped: 0 }
    }
}

impl Stamps {
    /// A packet with this timestamp leaves.
    pub(super) fn remember(&mut self, now: Time, value: u32) {
        if self.count > 0 {
            let (last, at) = self.kept[(self.count - 1) % KEPT];
            if last == value || now.since(at) < APART {
                // A tick of which another packet has been sent already tells nothing.
                self.skipped = value;
                return;
            }
        }
        // Its first packet was not remembered: the round trip would be too short.
        if value == self.skipped && self.count > 0 {
            return;
        }
        self.kept[self.count % KEPT] = (value, now);
        self.count += 1;
    }

    /// How long ago a timestamp was first sent; `None` if it is not remembered. Packets of the same tick are measured
    /// from the first of them, so that a round trip may be too long by a tick, but never too short.
    pub(super) fn round_trip(&self, now: Time, echo: u32) -> Option<Duration> {
        let newest = self.count.checked_sub(1)?;
        let oldest = self.count.saturating_sub(KEPT);
        let find = (oldest..=newest).rev().map(|n| self.kept[n % KEPT]).find(|(value, _)| *value == echo);
        find.map(|(_, at)| now.since(at))
    }
}
