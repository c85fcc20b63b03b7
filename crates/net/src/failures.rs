//! Failed link-layer transmissions of a packet.

use lasthop_base::{Duration, Time};

/// Failed link-layer transmissions of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransmissionFailures {
    /// Failed transmissions reported earlier.
    pub before: u32,
    /// Failed transmissions since.
    pub failed: u32,
    /// End of the first of these.
    pub since: Time,
    /// Time from one to the next.
    pub apart: Duration,
}

impl TransmissionFailures {
    /// Time at which the failure of transmission `number` (from 1) is known: the start of the next one, even if none
    /// follows. `None` if that transmission did not fail.
    pub fn at(self, number: u32) -> Option<Time> {
        let nth = number.checked_sub(self.before)?;
        (1..=self.failed).contains(&nth).then(|| self.since + self.apart * u64::from(nth))
    }
}
