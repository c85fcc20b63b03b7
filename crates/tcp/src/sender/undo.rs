//! A recovery that repaired nothing is taken back: the receiver has told of each segment that went out again that it had
//! arrived already (D-SACK, RFC 2883), so that what was taken for a loss was reordering (RFC 3708; the response is RFC 4015's,
//! without its bound on a burst, as Linux has it).
//!
//! # What is not asked
//! Timestamps could tell it sooner (Eifel, RFC 3522), at the first ACK of the original.

use super::Sender;
use super::congestion::{Level, Recovered};
use crate::event::Log;

/// What a recovery changed, and whether it was needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    before: Level,
    /// Segments that went out again, less those that are known to have arrived twice.
    again: u32,
    is_due: bool,
}

impl Undo {
    /// A segment goes out again.
    pub(super) fn on_sent_again(&mut self) {
        self.again += 1;
        self.is_due = false;
    }

    /// The receiver tells that a segment arrived twice.
    pub(super) fn on_told(&mut self) {
        if self.again > 0 {
            self.again -= 1;
            self.is_due = self.again == 0;
        }
    }
}

impl Sender {
    /// A recovery is about to lower the window.
    pub(super) fn note_before_recovery(&mut self) {
        if self.repair.undoes {
            self.repair.undo = Some(Undo { before: self.level(), again: 0, is_due: false });
        }
    }

    /// Once no recovery lasts: takes the last one back if nothing of it was needed.
    #[inline(never)]
    pub(super) fn undo_recovery(&mut self, log: &mut Log) {
        let Some(Undo { before, is_due: true, .. }) = self.repair.undo else { return };
        if self.repair.recovery.is_recovering() {
            return;
        }
        self.repair.undo = None;
        let from = self.level();
        let to =
            Level { window: before.window.max(from.window), ssthresh: before.ssthresh.max(from.ssthresh) };
        self.congestion.on_recovered(self.board.outstanding(), Recovered::Revised { from, to });
        self.reductions.until = self.board.una();
        log.counters.recoveries_undone += 1;
    }
}
