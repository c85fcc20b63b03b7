//! Send times of the time stamps in this host's packets. RTT samples are computed from echoes of these time stamps.

use lasthop_base::{Duration, Time};

/// Number of time stamps that are stored. With the interval [`APART`], the stored time stamps cover RTTs up to 1 s.
const KEPT: usize = 256;
/// Minimum interval between two stored time stamps.
const APART: Duration = Duration::from_millis(4);

pub(super) struct Stamps {
    stored: [(u32, Time); KEPT],
    count: usize,
    /// Value of the last time stamp that was not stored.
    skipped: u32,
}

impl Default for Stamps {
    fn default() -> Stamps {
        Stamps { stored: [(0, Time::ZERO); KEPT], count: 0, skipped: 0 }
    }
}

impl Stamps {
    pub(super) fn remember(&mut self, now: Time, value: u32) {
        if self.count > 0 {
            let (last, at) = self.stored[(self.count - 1) % KEPT];
            if last == value || now.since(at) < APART {
                // The send time of a time stamp is the send time of the first packet with this value, so later packets
                // are ignored.
                self.skipped = value;
                return;
            }
        }
        // The first packet with this value was not stored. An RTT sample from a later packet would be too short.
        if value == self.skipped && self.count > 0 {
            return;
        }
        self.stored[self.count % KEPT] = (value, now);
        self.count += 1;
    }

    /// Returns the RTT of an echoed time stamp; `None` if unknown. The RTT starts at the first packet with that time
    /// stamp. The RTT is therefore at most one tick of the time stamp clock too long, and never too short.
    pub(super) fn round_trip(&self, now: Time, echo: u32) -> Option<Duration> {
        let newest = self.count.checked_sub(1)?;
        let oldest = self.count.saturating_sub(KEPT);
        let find = (oldest..=newest).rev().map(|n| self.stored[n % KEPT]).find(|(value, _)| *value == echo);
        find.map(|(_, at)| now.since(at))
    }
}
