//! Nothing moves: how long is that borne (RFC 9293 §3.8.3)?

use super::Sender;
use lasthop_base::{Duration, Time};

/// Expiries of the retransmission timer for the same data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stall {
    /// `una` all the while: a second expiry there reduces the window no further.
    pub(super) una: u64,
    /// When the timer was started that expired first.
    pub(super) since: Time,
    pub(super) expiries: u32,
}

/// What a timeout came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// The connection goes on.
    GoesOn,
    /// The peer has not answered for too long (R2).
    GivenUp,
}

impl Sender {
    /// Whether the same data was sent again so often that the path may be broken (R1, RFC 9293 §3.8.3).
    pub fn is_troubled(&self) -> bool {
        self.stall.is_some_and(|stall| stall.expiries >= self.troubled_after)
    }

    /// From now on data may go unacknowledged for this long (R2).
    pub(crate) fn give_up_after(&mut self, limit: Option<Duration>) {
        self.gives_up_after = limit;
    }

    /// When a peer that has been silent since then is given up.
    pub(super) fn patience_ends(&self, silent_since: Time) -> Time {
        self.gives_up_after.map_or(Time::NEVER, |limit| silent_since + limit)
    }
}
