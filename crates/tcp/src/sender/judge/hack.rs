//! HACK, the sender's half: what the receiver calls damaged goes again at once, and nothing else happens (Balan et al.,
//! INFOCOM 2001; Computer Networks 39, 2002). The receiver's half is its cause of the same name.
//!
//! # What is ours
//! The paper was not at hand. Duplicates that follow tell of the same hole: if they begin a recovery, the window stays, and
//! what has gone already does not go twice. Its loss is found by the usual means.

use super::{Build, Cause, LossJudge};
use crate::ranges::{Range, RangeSet};
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism};
use lasthop_wire::Priority;

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hack",
        summary: "segments that the receiver got damaged go again at once, and the window stays",
        source: "Balan et al., INFOCOM 2001 (abstract; rules partly from memory)",
        ..Info::PLAIN
    },
    build: &|_| Some(Box::new(Hack::default())),
};

#[derive(Default)]
struct Hack {
    damaged: RangeSet,
}

impl LossJudge for Hack {
    fn on_damaged(&mut self, segment: Range) -> bool {
        self.damaged.insert(segment);
        true
    }

    fn on_sent(&mut self, _: Range, _: u64, board: &Scoreboard) -> Priority {
        self.damaged.remove_below(board.una());
        Priority::Normal
    }

    fn on_loss(&mut self, lost: Range) -> Option<Cause> {
        self.damaged.remove_below(lost.start);
        Some(match self.damaged.containing(lost.start) {
            Some(_) => Cause::Wireless,
            None => Cause::Congestion,
        })
    }

    fn on_timeout(&mut self) {
        self.damaged.clear();
    }

    fn judges_losses(&self) -> bool {
        true
    }
}
