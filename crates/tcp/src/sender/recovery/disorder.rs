//! Extended limited transmit (RFC 4653 §3) of NCR and DCR, which lasts from the first report above a hole (a
//! *disorder*) until the hole is known to be a loss or reordering.

use super::sack::Sack;
use super::{DUP_THRESH, Duplicates};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;

/// SACK recovery with a delayed start.
pub(super) struct Disorder {
    pub(super) sack: Sack,
    /// FlightSizePrev: outstanding bytes when the disorder began; `None`: no disorder.
    pub(super) flight: Option<u64>,
    /// Number of reported segments that together admit a new segment.
    reports_per_segment: u64,
    mss: u64,
}

impl Disorder {
    pub(super) fn new(reports_per_segment: u64) -> Disorder {
        Disorder { sack: Sack::new(Duplicates::default(), true), flight: None, reports_per_segment, mss: 1 }
    }

    /// Handles an ACK outside of a repair. If the ACK ends the disorder, returns the number of bytes that were
    /// outstanding at its start.
    pub(super) fn on_ack(&mut self, advanced: bool, mss: u64, scoreboard: &Scoreboard) -> Option<u64> {
        self.mss = mss;
        let ended = if advanced { self.flight.take() } else { None };
        if scoreboard.sacked() > 0 && self.flight.is_none() {
            self.flight = Some(scoreboard.outstanding());
        }
        ended
    }

    /// Whether SACK has reported at least `segments` segments, and at least three.
    pub(super) fn has_reported(&self, segments: u64, scoreboard: &Scoreboard) -> bool {
        scoreboard.sacked() >= segments.max(u64::from(DUP_THRESH)) * self.mss
    }

    pub(super) fn forget(&mut self) {
        self.flight = None;
    }

    /// Outstanding bytes, minus one segment for every `reports_per_segment` reported segments.
    pub(super) fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        let left = scoreboard.sacked() / (self.reports_per_segment * self.mss) * self.mss;
        scoreboard.outstanding().saturating_sub(left)
    }

    /// FlightSize without the new data sent during the disorder, as in RFC 5681 §3.2.
    pub(super) fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64 {
        self.flight.unwrap_or_else(|| scoreboard.outstanding()).min(scoreboard.outstanding())
    }

    /// Reports each transmission to [`Sack`], so that the last segment is not sent twice.
    pub(super) fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        use super::LossRecovery;
        self.sack.on_sent(range, is_retransmission);
    }
}
