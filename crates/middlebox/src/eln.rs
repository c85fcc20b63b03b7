//! Explicit loss notification: a bit in duplicate ACKs reports whether the loss was wireless. The sender must use the
//! loss discrimination `eln` to obey this bit.
//!
//! A duplicate ACK requests the byte that follows the acknowledged data. If the mobile sends, a requested byte that
//! never reached the station was lost over the air (Balakrishnan and Katz, GLOBECOM Internet Mini-Conference 1998;
//! ns-2's `snoop.cc`). If the mobile receives, a requested byte that the station has forwarded was lost over the air.
//! The rule for a receiving mobile is ours; its idea is from Balakrishnan et al.'s comparison of 1996/97 and from
//! ACK_ELN in huang §2.
//!
//! "ELN" has four meanings in the literature. The first is the bit of this module, for both directions of data; it may
//! mark wireless losses or congestion losses. The second is a receiver that itself reports the cause of a loss. The
//! third is Gupta and Kuri's name for HACK's signal. The fourth is a hint from the link, upon which the receiver delays
//! duplicate ACKs.
//!
//! # Our choices
//! Only duplicate ACKs are marked, whereas ns-2 also marks new ACKs and ACKs without outstanding data. Packets that the
//! station's queue drops do not count as forwarded. The mark is a reserved bit of the TCP header.

use crate::acks::AckKind;
use crate::directions::{PerDirection, Toward};
use crate::forwarded::ForwardedData;
use crate::sequence::end_of;
use crate::{Build, Decision, Middlebox};
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Body, Flags, LossHint, Packet, Segment};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "eln",
        summary: "marks duplicate ACKs to report whether the loss was wireless or wired",
        source: "Balakrishnan and Katz, GLOBECOM 1998; ns-2 tcp/snoop.cc; huang §2 (toward the mobile: our construction)",
        parameters: &[
            Parameter {
                name: "data",
                unit: Unit::Word(&["up", "down"]),
                default: Some("up"),
                doc: "direction of the data: up (the mobile sends) or down (the mobile receives)",
            },
            Parameter {
                name: "says",
                unit: Unit::Word(&["wireless", "congestion"]),
                default: Some("wireless"),
                doc: "kind of losses whose ACKs are marked",
            },
            Parameter {
                name: "runs",
                unit: Unit::Count(1, 1_000_000),
                default: Some("1000"),
                doc: "largest number of data ranges recorded (ns-2: 8); further ranges are not recorded",
            },
            Parameter {
                name: "place",
                unit: Unit::Word(&["behind", "before"]),
                default: Some("behind"),
                doc: "behind: packets that the next queue drops do not count as forwarded; before: these packets count",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, site| {
        let toward = if values.word("data") == "up" { Toward::Network } else { Toward::Mobile };
        Some(Box::new(Eln {
            toward,
            marked_hint: if values.word("says") == "wireless" {
                LossHint::Wireless
            } else {
                LossHint::Congestion
            },
            max_ranges: values.count("runs") as usize,
            sees_queue: values.word("place") == "behind",
            flows: PerDirection::new(site, toward, |_| ForwardedData::default()),
        }))
    },
};

struct Eln {
    toward: Toward,
    marked_hint: LossHint,
    max_ranges: usize,
    sees_queue: bool,
    flows: PerDirection<ForwardedData>,
}

impl Middlebox for Eln {
    fn handle_packet(&mut self, _: Time, packet: Packet, out: &mut Vec<Decision>) {
        let Some(segment) = packet.segment() else { return out.push(Decision::Forward(packet)) };
        let [data, acknowledged] = self.flows.by_direction(&packet);
        if let Some(forwarded) = data {
            forwarded.on_data(segment, self.max_ranges);
        }
        let mut hint = LossHint::None;
        if let Some(forwarded) = acknowledged
            && segment.flags.has(Flags::ACK)
        {
            hint = match (forwarded.on_ack(segment), forwarded.contains(segment.ack), self.toward) {
                // The requested byte never arrived over the air, or was forwarded to the air and lost there.
                (AckKind::Duplicate, false, Toward::Network) | (AckKind::Duplicate, true, Toward::Mobile) => {
                    LossHint::Wireless
                }
                (AckKind::Duplicate, ..) => LossHint::Congestion,
                _ => LossHint::None,
            };
        }
        let hint = if hint == self.marked_hint { hint } else { LossHint::None };
        if hint == LossHint::None {
            return out.push(Decision::Forward(packet));
        }
        let marked = Segment { flags: segment.flags.with_hint(hint), ..*segment };
        out.push(Decision::Rewrite(Packet { body: Body::Tcp(marked), ..packet }));
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Decision>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn handle_queue_drop(&mut self, _: Time, packet: &Packet) {
        if self.sees_queue
            && let ([Some(forwarded), _], Some(segment)) = (self.flows.by_direction(packet), packet.segment())
        {
            forwarded.remove(segment.seq, end_of(segment));
        }
    }

    fn draws(&self) -> bool {
        false
    }
}
