//! Last-hop acknowledgements: for data that reaches it the station sends the source a notice of its own, so that the source
//! knows of what is lost all the same that the air has lost it (Cobb and Agrawal, ISCC 1995, as huang §2 has it). The
//! source's half is its judge of the same name.
//!
//! # What is ours
//! The paper was not at hand. A notice has 40 bytes, and may be lost or wait in a queue as any packet; captures have it as
//! an ICMP message of a type for experiments. Retransmissions have notices, too. What the queue behind the station refuses
//! has a notice already: its loss looks like one on the air.

use crate::directions::{Directions, Toward};
use crate::{Build, Middlebox, Onward};
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Body, Ecn, NodeNotice, Packet, Priority, Seq};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "lhack",
        summary: "tells the source which data has reached the last hop",
        source: "Cobb and Agrawal, ISCC 1995, by huang §2 (details are our construction)",
        parameters: &[Parameter {
            name: "every",
            unit: Unit::Count(1, 64),
            default: Some("1"),
            doc: "data packets in a row that one notice tells of; those that do not join on wait for no others",
        }],
        ..Info::PLAIN
    },
    build: &|values, place| {
        Some(Box::new(Lhack {
            every: values.count("every") as u32,
            flows: Directions::new(place, Toward::Mobile, |_| Batch::default()),
        }))
    },
};

/// See the file.
struct Lhack {
    every: u32,
    flows: Directions<Batch>,
}

/// What the next notice is to tell of.
#[derive(Default)]
struct Batch {
    seq: Seq,
    len: u32,
    packets: u32,
}

impl Middlebox for Lhack {
    fn handle_packet(&mut self, _: Time, packet: Packet, out: &mut Vec<Onward>) {
        out.push(Onward::Same(packet));
        let every = self.every;
        let ([Some(batch), _], Some(segment)) = (self.flows.of(&packet), packet.segment()) else { return };
        if segment.len == 0 {
            return;
        }
        let joins_on = batch.packets > 0 && batch.seq.0.wrapping_add(batch.len) == segment.seq.0;
        if batch.packets > 0 && !joins_on {
            out.push(notice(&packet, batch));
        }
        if !joins_on {
            *batch = Batch { seq: segment.seq, ..Batch::default() };
        }
        batch.len = batch.len.saturating_add(segment.len);
        batch.packets += 1;
        if batch.packets >= every {
            out.push(notice(&packet, batch));
            *batch = Batch::default();
        }
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Onward>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn draws(&self) -> bool {
        false
    }
}

fn notice(data: &Packet, batch: &Batch) -> Onward {
    Onward::New(Packet {
        forward: !data.forward,
        again: false,
        early: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::Normal,
        body: Body::Notice(NodeNotice::LastHop { seq: batch.seq, len: batch.len }),
        ..*data
    })
}
