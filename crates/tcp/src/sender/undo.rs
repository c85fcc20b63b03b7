//! A recovery that repaired nothing is taken back: the receiver has told of each segment that went out again that it had
//! arrived already (D-SACK, RFC 2883), so that what was taken for a loss was reordering (RFC 3708; the response is RFC 4015's,
//! without its bound on a burst, as Linux has it).
//!
//! # What is not asked
//! Timestamps could tell it sooner (Eifel, RFC 3522), at the first ACK of the original.

use super::Sender;
use super::congestion::{Level, Recovered};
use crate::event::Log;

/// What the last recovery changed, and whether it was needed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The window before it; `None` if there is nothing to take back.
    before: Option<Level>,
    /// Segments that went out again, less those that are known to have arrived twice.
    again: u32,
    is_due: bool,
}

impl Undo {
    /// There is nothing to take back any more.
    pub(super) fn forget(&mut self) {
        *self = Undo::default();
    }

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

    /// The window to go back to, if nothing of the recovery was needed.
    fn due(&self) -> Option<Level> {
        self.before.filter(|_| self.is_due)
    }
}

impl Sender {
    /// A recovery is about to lower the window.
    pub(super) fn note_before_recovery(&mut self) {
        let before = Some(self.level());
        if let Some(undo) = &mut self.repair.undo {
            **undo = Undo { before, again: 0, is_due: false };
        }
    }

    /// Once no recovery lasts: takes the last one back if nothing of it was needed.
    #[inline(never)]
    pub(super) fn undo_recovery(&mut self, log: &mut Log) {
        let Some(before) = self.repair.undo.as_ref().and_then(|undo| undo.due()) else { return };
        if self.repair.recovery.is_recovering() {
            return;
        }
        if let Some(undo) = &mut self.repair.undo {
            undo.forget();
        }
        let from = self.level();
        let to =
            Level { window: before.window.max(from.window), ssthresh: before.ssthresh.max(from.ssthresh) };
        self.congestion.on_recovered(self.board.outstanding(), Recovered::Revised { from, to });
        self.reductions.until = self.board.una();
        log.counters.recoveries_undone += 1;
    }
}
