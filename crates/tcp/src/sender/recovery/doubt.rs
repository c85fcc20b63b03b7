//! Behind a hole data arrives, and it is not yet called a loss: what NCR and DCR do meanwhile (extended limited transmit, RFC
//! 4653 §3), and the means of both.

use super::sack::Sack;
use super::{DUP_THRESH, Duplicates};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;

/// SACK's recovery, begun later.
pub(super) struct Doubt {
    pub(super) sack: Sack,
    /// FlightSizePrev: what was outstanding when the doubt began; `None`: there is none.
    pub(super) flight: Option<u64>,
    /// How many segments have to be reported for each new one.
    for_each: u64,
    mss: u64,
}

impl Doubt {
    pub(super) fn new(for_each: u64) -> Doubt {
        Doubt { sack: Sack::new(Duplicates::default(), true), flight: None, for_each, mss: 1 }
    }

    /// Takes the board of an ACK while nothing is repaired; what was outstanding before the doubt that this ACK ends, if it
    /// ends one.
    pub(super) fn weigh(&mut self, advanced: bool, mss: u64, board: &Scoreboard) -> Option<u64> {
        self.mss = mss;
        let ended = if advanced { self.flight.take() } else { None };
        if board.sacked() > 0 && self.flight.is_none() {
            self.flight = Some(board.outstanding());
        }
        ended
    }

    /// Whether so many segments are reported; three at least.
    pub(super) fn is_told(&self, segments: u64, board: &Scoreboard) -> bool {
        board.sacked() >= segments.max(u64::from(DUP_THRESH)) * self.mss
    }

    pub(super) fn forget(&mut self) {
        self.flight = None;
    }

    /// Outstanding data, less a segment for each that lets a new one out.
    pub(super) fn in_flight(&self, board: &Scoreboard) -> u64 {
        let left = board.sacked() / (self.for_each * self.mss) * self.mss;
        board.outstanding().saturating_sub(left)
    }

    /// As it was before new data went out in doubt (RFC 5681 §3.2 would not count that either).
    pub(super) fn flight_at_loss(&self, board: &Scoreboard) -> u64 {
        self.flight.unwrap_or_else(|| board.outstanding()).min(board.outstanding())
    }

    /// The last segment, which is not to go twice: see [`Sack`].
    pub(super) fn on_sent(&mut self, range: Range, again: bool) {
        use super::LossRecovery;
        self.sack.on_sent(range, again);
    }
}
