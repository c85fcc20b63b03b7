//! Failed link-layer transmissions of a packet.

use lasthop_base::{Duration, Time};

/// Failed link-layer transmissions of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransmissionFailures {
    /// Number of the packet's failed transmissions that were reported earlier.
    pub before: u32,
    /// Number of failed transmissions that are reported now.
    pub failed: u32,
    /// End of the first transmission that is reported now.
    pub since: Time,
    /// Time from the end of a transmission until its failure is known. The ends of successive transmissions of the
    /// packet are separated by the same time.
    pub apart: Duration,
}

impl TransmissionFailures {
    /// Returns the time at which the sender detects the failure of transmission `number` (from 1). This time is `apart`
    /// after the end of the transmission. Returns `None` if that failure is not reported here.
    pub fn at(self, number: u32) -> Option<Time> {
        let nth = number.checked_sub(self.before)?;
        (1..=self.failed).contains(&nth).then(|| self.since + self.apart * u64::from(nth))
    }
}
