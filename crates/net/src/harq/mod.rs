//! LTE and 5G NR: hybrid ARQ of transport blocks, under RLC in acknowledged or unacknowledged mode (3GPP TS 36.321,
//! 36.322, 38.321, 38.322; PDCP's order: 38.323).
//!
//! * `direction`: one direction of a link, slot by slot.
//! * `processes`: hybrid ARQ: fate of a block, and its time.
//! * `sender`: contents of a block, and retransmissions. `polling`: requests of a status.
//! * `reassembly`: missing bytes, and t-Reassembly (LTE's t-Reordering).
//! * `status`: status reports of the receiver. `delivery`: SDUs (packets) and their order.
//!
//! A slot (LTE: subframe) carries one block of the link's rate times its length, decoded at the slot's end. After a
//! failure the same block uses the slot one HARQ round trip later, before new data, until it arrives, its transmissions
//! are used up, or a NACK is misread as an ACK. Later blocks overtake it. Status reports travel in the other
//! direction's blocks, and are lost with these.
//!
//! A first transmission fails as the `channel` decides; a retransmission with that probability times `combining` to the
//! power of the earlier transmissions, as in Simu5G (`LteRealisticChannelModel`, `harqReduction`). The channel decides
//! all transmissions of a block at the first one, so that other traffic does not change the outcome.
//!
//! Numbers are those of bytes in the direction's stream. NR numbers SDUs and segments (TS 38.322 §6.2.2), LTE PDUs;
//! both lose and retransmit the same bytes.
//!
//! # Not modelled
//! One block per slot (no spatial layers, no second carrier), no scheduler, no other users, no uplink grants, no ACK
//! misread as a NACK. The propagation delay lies behind the link layer; the HARQ round trip includes the air's. A
//! status has 16 bytes. An SDU with too many retransmissions is given up, and the receiver knows (a network would
//! re-establish the connection). NR's unacknowledged mode does not number complete SDUs; here t-Reassembly waits for
//! these, too. Numbers do not wrap. In a planned outage nothing new is sent, and retransmissions are lost.

mod delivery;
mod direction;
mod parameters;
mod polling;
mod processes;
mod reassembly;
mod sender;
mod status;

pub use parameters::MECHANISM;

use crate::arq::{Build, DirectionParts, Layer, Partner};
use crate::element::Element;
use direction::HarqDirection;
use lasthop_base::{Mechanism, Values};

/// All link layers of this kind.
pub const ALL: &[Mechanism<Build>] = &[MECHANISM];

struct HarqLayer {
    values: Values,
}

impl Layer for HarqLayer {
    fn build_direction(self: Box<Self>, parts: DirectionParts) -> Box<dyn Element> {
        Box::new(HarqDirection::new(&self.values, parts))
    }

    fn reports_failures(&self) -> bool {
        false
    }

    fn partner(&self) -> Option<Partner> {
        (self.values.word("mode") == "am").then_some(Partner {
            why: "mode = \"am\" needs HARQ in the other direction, which carries the status",
            remedy: "set mode = \"um\"",
        })
    }
}
