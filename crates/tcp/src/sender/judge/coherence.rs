//! Congestion coherence at the sender, for a mobile that sends: a loss among ACKs that echo no mark was the air's (Liu and Jain,
//! HICSS 2003). Routers that mark mark before they drop, and congestion does not come and go within a packet.
//!
//! # What is ours
//! Abstracts were at hand, the rule is from memory. The neighbourhood is the last ACKs before the duplicates, and those. An
//! echo lasts until CWR answers it, for a whole round trip: so the rule is coarse. Where the bottleneck does not mark, every
//! congestion loss is taken for the air's.

use super::{Build, Cause, Heard, LossJudge};
use crate::ranges::Range;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "coherence",
        summary: "a loss among ACKs without echoed marks was the air's: it is repaired, and the window stays",
        source: "Liu and Jain, HICSS 2003 (abstracts; rules from memory)",
        parameters: &[Parameter {
            name: "before",
            unit: Unit::Bytes(0, 1 << 30),
            default: Some("1500 B"),
            doc: "so much that was acknowledged with an echo before the hole makes its loss congestion",
        }],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Coherence { before: values.bytes("before"), echoed: None, duplicates_echo: false }))
    },
};

struct Coherence {
    before: u64,
    /// What the last ACK with an echo acknowledged.
    echoed: Option<u64>,
    duplicates_echo: bool,
}

impl LossJudge for Coherence {
    fn on_ack(&mut self, heard: &Heard) -> bool {
        if heard.advanced {
            self.duplicates_echo = false;
        }
        self.duplicates_echo |= heard.duplicate && heard.marked;
        if heard.marked {
            self.echoed = Some(heard.una);
        }
        false
    }

    fn on_loss(&mut self, lost: Range) -> Option<Cause> {
        let is_near = self.echoed.is_some_and(|una| lost.start.saturating_sub(una) <= self.before);
        Some(match self.duplicates_echo || is_near {
            true => Cause::Congestion,
            false => Cause::Wireless,
        })
    }

    fn judges_losses(&self) -> bool {
        true
    }
}
