//! What a link layer tells of its trouble with a packet.

use lasthop_base::{Duration, Time};

/// The link layer's trouble with a packet: transmissions that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// Failed transmissions of the packet that were reported before.
    pub before: u32,
    /// Failed transmissions since.
    pub failed: u32,
    /// When the first of these was over.
    pub since: Time,
    /// From one to the next.
    pub apart: Duration,
}

impl Trouble {
    /// When the transmission of this number (the first is 1), if it failed, is known to have: when the next one begins, or
    /// would.
    pub fn at(self, number: u32) -> Option<Time> {
        let nth = number.checked_sub(self.before)?;
        (1..=self.failed).contains(&nth).then(|| self.since + self.apart * u64::from(nth))
    }
}
