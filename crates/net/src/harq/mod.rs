//! LTE and 5G NR: hybrid ARQ of transport blocks, under RLC in acknowledged or unacknowledged mode (3GPP TS 36.321,
//! 36.322, 38.321, 38.322; order of delivery by PDCP: 38.323).
//!
//! * `direction`: one direction of a link, simulated slot by slot.
//! * `processes`: hybrid ARQ, which decides whether and when a block is decoded.
//! * `sender`: contents of a block, and RLC's retransmissions. `polling`: requests for a status report.
//! * `reassembly`: missing bytes, and the timer t-Reassembly (t-Reordering in LTE).
//! * `status`: status reports of the receiver. `delivery`: SDUs (packets) and the order of their delivery.
//!
//! A slot (LTE: subframe) carries one block, whose size is the link's rate times the slot's length. The block is
//! decoded at the slot's end. A failed block is retransmitted one HARQ round trip later, before new data.
//! Retransmissions end when the block arrives, when the maximum number of transmissions is reached, or when a NACK is
//! misread as an ACK. Later blocks may overtake a block that is being retransmitted. Status reports travel in the
//! blocks of the opposite direction, and are lost with these blocks.
//!
//! The `channel` decides whether a first transmission fails. A retransmission that the channel destroys may still be
//! decoded, because the receiver combines transmissions. Such a retransmission fails only with probability
//! `combining`^n, where n is the number of earlier transmissions (rule of Simu5G's `LteRealisticChannelModel`,
//! `harqReduction`). The outcome of all transmissions of a block is decided at the first transmission, so that other
//! traffic does not change the outcome.
//!
//! Here, sequence numbers count bytes of the direction's stream. NR numbers SDUs and segments (TS 38.322 §6.2.2), and
//! LTE numbers PDUs. With all three kinds of numbering, the same bytes are lost and retransmitted.
//!
//! # Not modelled
//! * Spatial layers and further carriers: each slot has one block.
//! * The scheduler, other users, uplink grants, and ACKs misread as NACKs.
//! * The propagation time of each transmission: the HARQ round trip includes this time. The link's propagation delay is
//!   added after the link layer.
//! * The size of a status report: every report has 16 bytes.
//! * Re-establishing the connection: an SDU with too many retransmissions is given up, and the receiver is notified.
//! * The wrapping of sequence numbers.
//!
//! NR's unacknowledged mode does not number SDUs that are sent unsegmented. Here, t-Reassembly waits for such SDUs,
//! too. In a planned outage no new block is sent, and retransmissions are lost.
//!
//! # Changes at run time
//! A new rate, 0 included, applies to blocks that begin after the change. Blocks whose first transmission was earlier
//! keep their outcome and their retransmissions. A new delay and a new queue apply to later deliveries and dequeues. In a
//! direction that is not built for changes, packets may arrive out of order after a shorter delay.

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

/// List of this module's link layers: `harq`.
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
            why: "mode = \"am\" needs HARQ in the other direction, which carries the status reports",
            remedy: "set mode = \"um\"",
        })
    }
}
