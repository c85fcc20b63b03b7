//! Last-hop acknowledgements, sender side (Cobb and Agrawal, ISCC 1995, as described in huang §2). The middlebox
//! `lhack` notifies the sender of segments that reached the last hop. If such a segment does not arrive, the wireless
//! link has lost it.
//!
//! # Our choices
//! Source: two sentences in huang, and memory. After a wireless loss, recovery repairs the loss and cwnd stays. The
//! first timeout of a segment that has reached the last hop also counts as wireless. If a notice is lost, the loss
//! counts as congestion. A retransmitted segment counts as not having reached the last hop, because a notice does not
//! show which copy has reached it.

use super::{Build, Cause, LossDiscriminator};
use crate::ranges::{Range, RangeSet};
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism, Parameter, Unit};
use lasthop_wire::Priority;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "lhack",
        summary: "treats a loss as wireless, and keeps the window, if the lost segment had reached the last hop",
        source: "Cobb and Agrawal, ISCC 1995, as described in huang §2 (the sender's rule is our construction)",
        parameters: &[Parameter {
            name: "timeouts",
            unit: Unit::Count(0, 100),
            default: Some("1"),
            doc: "number of consecutive timeouts that keep window and RTO if the segment has reached the last hop",
        }],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Lhack {
            reached: RangeSet::default(),
            resent: RangeSet::default(),
            most: values.count("timeouts") as u32,
            kept: 0,
            kept_at: 0,
        }))
    },
};

struct Lhack {
    /// Outstanding bytes that have reached the last hop.
    reached: RangeSet,
    /// Outstanding bytes that were retransmitted.
    resent: RangeSet,
    most: u32,
    /// Number of consecutive timeouts of the segment at `kept_at` that left the window unchanged.
    kept: u32,
    /// Offset of the first byte of the segment whose timeouts `kept` counts.
    kept_at: u64,
}

impl Lhack {
    fn has_reached(&mut self, segment: Range) -> bool {
        self.reached.remove_below(segment.start);
        self.resent.remove_below(segment.start);
        self.reached.run_at(segment.start, segment.end) == (true, segment.end)
            && self.resent.containing(segment.start).is_none()
    }
}

impl LossDiscriminator for Lhack {
    fn on_sent(&mut self, _: Range, _: u64, scoreboard: &Scoreboard) -> Priority {
        self.reached.remove_below(scoreboard.una());
        self.resent.remove_below(scoreboard.una());
        Priority::NORMAL
    }

    fn on_retransmitted(&mut self, range: Range) -> Priority {
        self.resent.insert(range);
        Priority::NORMAL
    }

    fn on_last_hop(&mut self, range: Range) {
        self.reached.insert(range);
    }

    fn on_loss(&mut self, lost: Range) -> Option<Cause> {
        Some(if self.has_reached(lost) { Cause::Wireless } else { Cause::Congestion })
    }

    fn keeps_window_at_timeout(&mut self, first: Range) -> bool {
        if self.kept_at != first.start {
            (self.kept, self.kept_at) = (0, first.start);
        }
        let keeps = self.kept < self.most && self.has_reached(first);
        self.kept += u32::from(keeps);
        keeps
    }

    fn on_timeout(&mut self) {
        self.reached.clear();
        self.resent.clear();
    }

    fn discriminates_each_loss(&self) -> bool {
        true
    }
}
