//! LTE and 5G NR: hybrid ARQ of transport blocks, and RLC in acknowledged or unacknowledged mode above it (3GPP TS 36.321,
//! 36.322, 38.321, 38.322; PDCP's order: 38.323).
//!
//! * `direction`: one direction of a link, slot by slot.
//! * `processes`: hybrid ARQ. What becomes of a block, and when.
//! * `sender`: what goes into a block; what a status asks for once more. `polling`: when it asks for a status.
//! * `reassembly`: what is missing, and for how long it may still come (t-Reassembly, LTE's t-Reordering).
//! * `status`: when the receiving side answers, and what.
//! * `delivery`: SDUs (packets), from the first one that is not done with; who may go up.
//! * `parameters`: what can be set.
//!
//! A slot (LTE: subframe) carries one block, as large as the link's rate times its length. It is decoded at the slot's end;
//! if that fails, the same block takes the slot one HARQ round trip later, before anything new, until it is there, its
//! transmissions are used up, or a NACK is taken for an ACK. What comes in blocks meanwhile overtakes it. Both ends are in
//! this one place; what a status says travels in the other direction's blocks and is lost there.
//!
//! A transmission by itself fails as the `channel` says, a repeat with that probability times `combining` to the power of
//! the transmissions before it, as Simu5G has it (`LteRealisticChannelModel`, `harqReduction`). The channel is asked about
//! all transmissions of a block when the first one is sent, so that nothing else changes what it destroys.
//!
//! Numbers are those of bytes in the direction's stream: a hole is what is missing before a byte that has come. NR numbers
//! SDUs and segments (TS 38.322 §6.2.2), LTE what a block has of them; both lose and repeat the same bytes.
//!
//! # What is not modelled
//! The propagation delay lies behind the link layer (core, processing): the HARQ round trip has the air's. One block a slot
//! (no spatial layers, no second carrier), which a repeat fills; no scheduler, no other users, no grant before an uplink
//! transmission, no ACK taken for a NACK. A status has 16 bytes whatever it lists. What is repeated too
//! often is given up, and the receiving side knows: a network would establish the connection anew. NR's unacknowledged mode
//! has no number for an SDU in one piece; here t-Reassembly waits for that, too. Numbers never run out. In an outage by
//! plan nothing new is sent, and what is repeated there is destroyed.

mod delivery;
mod direction;
mod parameters;
mod polling;
mod processes;
mod reassembly;
mod sender;
mod status;

pub use parameters::MECHANISM;

use crate::arq::{Build, Layer, Partner, Parts};
use crate::element::Element;
use direction::Direction;
use lasthop_base::{Mechanism, Values};

/// All link layers of this kind.
pub const ALL: &[Mechanism<Build>] = &[MECHANISM];

/// With these parameters, before it is part of a link.
struct Radio {
    values: Values,
}

impl Layer for Radio {
    fn element(self: Box<Self>, parts: Parts) -> Box<dyn Element> {
        Box::new(Direction::new(&self.values, parts))
    }

    fn reports_trouble(&self) -> bool {
        false
    }

    fn partner(&self) -> Option<Partner> {
        (self.values.word("mode") == "am").then_some(Partner {
            why: "mode = \"am\" needs HARQ in the other direction, which carries the status",
            remedy: "set mode = \"um\"",
        })
    }
}
