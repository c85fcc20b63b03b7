//! Last-hop acknowledgements: the base station sends the source a notice of data that has reached the last hop. If such
//! data is lost, the source attributes the loss to the air (Cobb and Agrawal, ISCC 1995, as described in huang §2). The
//! source must use the loss discrimination `lhack`.
//!
//! # Our choices
//! The paper was not available. A notice has 40 bytes, and may be lost or queued like any packet. Captures show a
//! notice as an ICMP message of an experimental type. Retransmissions cause notices, too. A notice is sent before the
//! packet enters the station's queue. If that queue then drops the packet, the loss therefore looks wireless.

use crate::directions::{PerDirection, Toward};
use crate::{Build, Decision, Middlebox};
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Body, Ecn, NodeNotice, Packet, Priority, Seq};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "lhack",
        summary: "notifies the source of data that has reached the last hop",
        source: "Cobb and Agrawal, ISCC 1995, as described in huang §2 (details are our construction)",
        parameters: &[Parameter {
            name: "every",
            unit: Unit::Count(1, 64),
            default: Some("1"),
            doc: "number of consecutive data packets per notice; a gap in the sequence causes a notice at once",
        }],
        ..Info::PLAIN
    },
    build: &|values, site| {
        Some(Box::new(Lhack {
            every: values.count("every") as u32,
            flows: PerDirection::new(site, Toward::Mobile, |_| Batch::default()),
        }))
    },
};

struct Lhack {
    every: u32,
    flows: PerDirection<Batch>,
}

/// Data that has reached the last hop, and that the next notice will report.
#[derive(Default)]
struct Batch {
    seq: Seq,
    len: u32,
    packets: u32,
}

impl Middlebox for Lhack {
    fn handle_packet(&mut self, _: Time, packet: Packet, out: &mut Vec<Decision>) {
        out.push(Decision::Forward(packet));
        let every = self.every;
        let ([Some(batch), _], Some(segment)) = (self.flows.by_direction(&packet), packet.segment()) else {
            return;
        };
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

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Decision>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn draws(&self) -> bool {
        false
    }
}

fn notice(data: &Packet, batch: &Batch) -> Decision {
    Decision::Emit(Packet {
        forward: !data.forward,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        body: Body::Notice(NodeNotice::LastHop { seq: batch.seq, len: batch.len }),
        ..*data
    })
}
