//! Drop-tail: drops arriving packets while the queue is full. As in ns-2, the limit does not count the packet in
//! transmission.

use super::{Admission, ArrivalState, Build, QueueLimit, Verdict};
use crate::discipline::Discipline;
use lasthop_base::{Info, Limit, Mechanism, Parameter, Time, Unit};
use lasthop_wire::Packet;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "drop_tail",
        summary: "drops arriving packets if the queue is full",
        source: "RFC 7567 §2.1; hasegawa §4.1",
        parameters: &[
            Parameter {
                name: "packets",
                unit: Unit::Count(0, 1_000_000_000),
                default: Some("0"),
                doc: "queue limit, packets, without the packet in transmission; 0: no limit",
            },
            Parameter {
                name: "bytes",
                unit: Unit::Room(0, 1_000_000_000_000),
                default: Some("0 bytes"),
                doc: "queue limit, bytes, without the packet in transmission; 0: no limit",
            },
        ],
        limit: Some(Limit { packets: "packets", bytes: "bytes" }),
        ..Info::PLAIN
    },
    build: &|values, _| {
        let or_unlimited = |limit: u64| if limit == 0 { u64::MAX } else { limit };
        Discipline::fifo(DropTail(QueueLimit {
            packets: or_unlimited(values.count("packets")),
            bytes: or_unlimited(values.bytes("bytes")),
        }))
    },
};

struct DropTail(QueueLimit);

impl Admission for DropTail {
    fn admit(&mut self, _: Time, packet: &mut Packet, queue: &ArrivalState) -> Verdict {
        self.0.admit(packet.wire_bytes, &queue.backlog)
    }

    fn limit(&self) -> Option<QueueLimit> {
        Some(self.0)
    }

    fn draws(&self) -> bool {
        false
    }
}
