//! HACK (header checksum), sender side (Balan et al., INFOCOM 2001; Computer Networks 39, 2002). Segments that the
//! receiver reports as damaged are retransmitted at once, without any other effect. The receiver's
//! `loss_discrimination` mechanism `hack` sends the reports.
//!
//! # Our choices
//! Source: the paper's abstract and memory. A recovery that a damaged segment causes keeps cwnd and does not retransmit
//! the segment a second time. The loss of the retransmission is detected as usual.

use super::{Build, Cause, LossDiscriminator};
use crate::ranges::{Range, RangeSet};
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism};
use lasthop_wire::Priority;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hack",
        summary: "retransmits segments reported damaged at once, and keeps the window",
        source: "Balan et al., INFOCOM 2001 (abstract; rules partly from memory)",
        ..Info::PLAIN
    },
    build: &|_| Some(Box::new(Hack::default())),
};

#[derive(Default)]
struct Hack {
    damaged: RangeSet,
}

impl LossDiscriminator for Hack {
    fn on_damaged(&mut self, segment: Range) -> bool {
        self.damaged.insert(segment);
        true
    }

    fn on_sent(&mut self, _: Range, _: u64, scoreboard: &Scoreboard) -> Priority {
        self.damaged.remove_below(scoreboard.una());
        Priority::NORMAL
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

    fn discriminates_each_loss(&self) -> bool {
        true
    }
}
