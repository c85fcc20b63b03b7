//! What a link layer tells of its trouble with a packet.

use lasthop_base::{Duration, Time};

/// The link layer's trouble with a packet: transmissions that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// How many failed.
    pub failed: u32,
    /// When the first of them was over.
    pub since: Time,
    /// From one to the next.
    pub apart: Duration,
}

impl Trouble {
    /// When the transmission of this number (the first is 1), if it failed, is known to have: when the next one begins, or
    /// would.
    pub fn at(self, number: u32) -> Option<Time> {
        (1..=self.failed).contains(&number).then(|| self.since + self.apart * u64::from(number))
    }
}
