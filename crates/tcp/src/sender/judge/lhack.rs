//! Last-hop acknowledgements, the sender's half: what has reached the last hop, by the notices of the middlebox `lhack`, and is
//! lost all the same, the air has lost (Cobb and Agrawal, ISCC 1995, as huang §2 has it).
//!
//! # What is ours
//! The paper was not at hand: huang's two sentences, and memory, were. What the sender makes of it is ours: the recovery
//! repairs and the window stays; a first timeout of a segment that has reached the last hop is no congestion either. A lost
//! notice leaves congestion. Of a segment that went again nobody can tell which copy a notice is about: it counts as not
//! there.

use super::{Build, Cause, LossJudge};
use crate::ranges::{Range, RangeSet};
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism, Parameter, Unit};
use lasthop_wire::Priority;

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "lhack",
        summary: "what has reached the last hop was lost on the air: it is repaired, and the window stays",
        source: "Cobb and Agrawal, ISCC 1995, by huang §2 (the sender's rule is our construction)",
        parameters: &[Parameter {
            name: "timeouts",
            unit: Unit::Count(0, 100),
            default: Some("1"),
            doc: "timeouts in a row that change neither window nor timeout if the segment has reached the last hop",
        }],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Lhack {
            reached: RangeSet::default(),
            resent: RangeSet::default(),
            most: values.count("timeouts") as u32,
            spared: 0,
            spared_at: 0,
        }))
    },
};

struct Lhack {
    /// Outstanding bytes that have reached the last hop, as sent last.
    reached: RangeSet,
    /// What has gone again.
    resent: RangeSet,
    most: u32,
    /// Timeouts spared in a row for the segment at this offset.
    spared: u32,
    spared_at: u64,
}

impl Lhack {
    fn has_reached(&mut self, segment: Range) -> bool {
        self.reached.remove_below(segment.start);
        self.resent.remove_below(segment.start);
        self.reached.run_at(segment.start, segment.end) == (true, segment.end)
            && self.resent.containing(segment.start).is_none()
    }
}

impl LossJudge for Lhack {
    fn on_sent(&mut self, _: Range, _: u64, board: &Scoreboard) -> Priority {
        self.reached.remove_below(board.una());
        self.resent.remove_below(board.una());
        Priority::Normal
    }

    fn on_sent_again(&mut self, range: Range) -> Priority {
        self.resent.insert(range);
        Priority::Normal
    }

    fn on_last_hop(&mut self, range: Range) {
        self.reached.insert(range);
    }

    fn on_loss(&mut self, lost: Range) -> Option<Cause> {
        Some(if self.has_reached(lost) { Cause::Wireless } else { Cause::Congestion })
    }

    fn spares_timeout(&mut self, first: Range) -> bool {
        if self.spared_at != first.start {
            (self.spared, self.spared_at) = (0, first.start);
        }
        let spares = self.spared < self.most && self.has_reached(first);
        self.spared += u32::from(spares);
        spares
    }

    fn on_timeout(&mut self) {
        self.reached.clear();
        self.resent.clear();
    }

    fn judges_losses(&self) -> bool {
        true
    }
}
