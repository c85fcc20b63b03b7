//! Congestion coherence at a mobile sender (Liu and Jain, HICSS 2003). A loss counts as wireless if the ACKs around the
//! loss echo no ECN mark. Routers mark before they drop, and congestion lasts longer than one packet, so neighbours of
//! a congestion loss would be marked.
//!
//! # Our choices
//! Source: abstracts and memory, not the paper itself. The ACKs around the loss are the last ACKs before the duplicate
//! ACKs, and the duplicate ACKs themselves. The receiver repeats an echo for a round trip, until CWR arrives, so the
//! rule is coarse. If the bottleneck does not mark, every congestion loss counts as wireless.

use super::{AckHint, Build, Cause, LossDiscriminator};
use crate::ranges::Range;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "coherence",
        summary: "treats a loss as wireless, and keeps the window, if the ACKs around the loss echo no mark",
        source: "Liu and Jain, HICSS 2003 (abstracts; rules from memory)",
        parameters: &[Parameter {
            name: "before",
            unit: Unit::Bytes(0, 1 << 30),
            default: Some("1500 B"),
            doc: "a loss is congestion if the last ACK with an echo is at most this far before the hole",
        }],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Coherence { before: values.bytes("before"), echoed: None, duplicates_echo: false }))
    },
};

struct Coherence {
    before: u64,
    /// ACK number of the last ACK that echoed a mark, as an offset.
    echoed: Option<u64>,
    duplicates_echo: bool,
}

impl LossDiscriminator for Coherence {
    fn on_ack(&mut self, ack: &AckHint) -> bool {
        if ack.advanced {
            self.duplicates_echo = false;
        }
        self.duplicates_echo |= ack.duplicate && ack.marked;
        if ack.marked {
            self.echoed = Some(ack.una);
        }
        false
    }

    fn on_loss(&mut self, lost: Range) -> Option<Cause> {
        let is_near = self.echoed.is_some_and(|una| lost.start.saturating_sub(una) <= self.before);
        Some(if self.duplicates_echo || is_near { Cause::Congestion } else { Cause::Wireless })
    }

    fn discriminates_each_loss(&self) -> bool {
        true
    }
}
