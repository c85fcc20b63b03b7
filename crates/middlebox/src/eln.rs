//! Explicit loss notification: a bit in duplicate ACKs says whether the loss that they tell of is the air's. The sender honours
//! it by its judge of the same name.
//!
//! With a mobile that sends (Balakrishnan and Katz, GLOBECOM Internet Mini-Conference 1998; ns-2's `snoop.cc`) the station
//! knows what reached it over the air: a byte that is asked for and never did was lost there. With a mobile that receives
//! (the comparison of 1996/97 and huang §2's ACK_ELN have the idea; the station's rule is our construction) it knows what
//! it has passed on: what is asked for all the same was lost behind it.
//!
//! "ELN" means four things: this bit in both directions and polarities; a receiver that says so itself; Gupta and Kuri's
//! name for HACK's signal; and a hint from the link to a receiver that delays duplicates.
//!
//! # What is ours
//! ns-2 marks new ACKs, too, and ACKs while nothing is outstanding: here only duplicates are marked. What the queue behind
//! the station refuses has not been passed on. The bit is one of the header's reserved ones.

use crate::acks::Kind;
use crate::directions::{Directions, Toward};
use crate::numbers::end_of;
use crate::passed::Passed;
use crate::{Build, Middlebox, Onward};
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Body, Flags, LossHint, Packet, Segment};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "eln",
        summary: "marks duplicate ACKs: was it lost on the air, or in the wired network?",
        source: "Balakrishnan and Katz, GLOBECOM 1998; ns-2 tcp/snoop.cc; huang §2 (toward the mobile: our construction)",
        parameters: &[
            Parameter {
                name: "data",
                unit: Unit::Word(&["up", "down"]),
                default: Some("up"),
                doc: "whose data it looks after: a mobile that sends, or one that receives",
            },
            Parameter {
                name: "says",
                unit: Unit::Word(&["wireless", "congestion"]),
                default: Some("wireless"),
                doc: "which losses it marks; the others are told by no mark",
            },
            Parameter {
                name: "runs",
                unit: Unit::Count(1, 1_000_000),
                default: Some("1000"),
                doc: "most stretches of data that it remembers (ns-2: 8); further ones are forgotten",
            },
            Parameter {
                name: "place",
                unit: Unit::Word(&["behind", "before"]),
                default: Some("behind"),
                doc: "whether it knows what the queue behind it refuses; before the queue, that counts as passed on",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, place| {
        let toward = if values.word("data") == "up" { Toward::Network } else { Toward::Mobile };
        Some(Box::new(Eln {
            toward,
            says: if values.word("says") == "wireless" { LossHint::Wireless } else { LossHint::Congestion },
            most: values.count("runs") as usize,
            sees_queue: values.word("place") == "behind",
            flows: Directions::new(place, toward, |_| Passed::default()),
        }))
    },
};

/// See the file.
struct Eln {
    toward: Toward,
    says: LossHint,
    most: usize,
    sees_queue: bool,
    flows: Directions<Passed>,
}

impl Middlebox for Eln {
    fn handle_packet(&mut self, _: Time, packet: Packet, out: &mut Vec<Onward>) {
        let Some(segment) = packet.segment() else { return out.push(Onward::Same(packet)) };
        let [data, acknowledged] = self.flows.of(&packet);
        if let Some(seen) = data {
            seen.pass_data(segment, self.most);
        }
        let mut hint = LossHint::None;
        if let Some(seen) = acknowledged
            && segment.flags.has(Flags::ACK)
        {
            hint = match (seen.acknowledge(segment), seen.has(segment.ack), self.toward) {
                // It never came over the air; or it went on to it.
                (Kind::Duplicate, false, Toward::Network) | (Kind::Duplicate, true, Toward::Mobile) => {
                    LossHint::Wireless
                }
                (Kind::Duplicate, ..) => LossHint::Congestion,
                _ => LossHint::None,
            };
        }
        let hint = if hint == self.says { hint } else { LossHint::None };
        if hint == LossHint::None {
            return out.push(Onward::Same(packet));
        }
        let marked = Segment { flags: segment.flags.with_hint(hint), ..*segment };
        out.push(Onward::Changed(Packet { body: Body::Tcp(marked), ..packet }));
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Onward>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn handle_refused(&mut self, _: Time, packet: &Packet) {
        if self.sees_queue
            && let ([Some(seen), _], Some(segment)) = (self.flows.of(packet), packet.segment())
        {
            seen.remove(segment.seq, end_of(segment));
        }
    }

    fn draws(&self) -> bool {
        false
    }
}
