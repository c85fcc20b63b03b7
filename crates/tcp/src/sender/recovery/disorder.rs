//! Extended limited transmit (RFC 4653 §3), used by NCR and DCR. This phase lasts from the first SACK report above a
//! hole until the hole is known to be lost or only reordered. Linux calls this phase *disorder*.

use super::sack::Sack;
use super::{DUP_THRESH, Duplicates};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;

/// SACK recovery whose start is delayed until a hole is known to be lost.
pub(super) struct Disorder {
    pub(super) sack: Sack,
    /// FlightSizePrev (RFC 4653): outstanding bytes when the disorder began. `None` outside of a disorder.
    pub(super) flight: Option<u64>,
    /// Number of SACKed segments that together permit one new segment.
    reports_per_segment: u64,
    mss: u64,
}

impl Disorder {
    pub(super) fn new(reports_per_segment: u64) -> Disorder {
        Disorder { sack: Sack::new(Duplicates::default(), true), flight: None, reports_per_segment, mss: 1 }
    }

    /// Handles an ACK outside of a recovery. If the ACK ends the disorder, returns the number of bytes that were
    /// outstanding when the disorder began.
    pub(super) fn on_ack(&mut self, advanced: bool, mss: u64, scoreboard: &Scoreboard) -> Option<u64> {
        self.mss = mss;
        let ended = if advanced { self.flight.take() } else { None };
        if scoreboard.sacked() > 0 && self.flight.is_none() {
            self.flight = Some(scoreboard.outstanding());
        }
        ended
    }

    /// Whether at least max(`segments`, 3) segments are SACKed.
    pub(super) fn has_reported(&self, segments: u64, scoreboard: &Scoreboard) -> bool {
        scoreboard.sacked() >= segments.max(u64::from(DUP_THRESH)) * self.mss
    }

    pub(super) fn forget(&mut self) {
        self.flight = None;
    }

    /// Outstanding bytes, minus one segment for every `reports_per_segment` SACKed segments.
    pub(super) fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        let left = scoreboard.sacked() / (self.reports_per_segment * self.mss) * self.mss;
        scoreboard.outstanding().saturating_sub(left)
    }

    /// FlightSize without the new data that limited transmit sent during the disorder, as RFC 5681 §3.2 requires.
    pub(super) fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64 {
        self.flight.unwrap_or_else(|| scoreboard.outstanding()).min(scoreboard.outstanding())
    }

    /// Records each transmission in [`Sack`], so that [`Sack`] does not send the last segment twice.
    pub(super) fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        use super::LossRecovery;
        self.sack.on_sent(range, is_retransmission);
    }
}
