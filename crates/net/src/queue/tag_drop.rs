//! Drop-tail with loss notices. For each dropped packet, a tagged packet (low priority) is dropped, too. From the loss
//! of the tagged packet, the sender concludes that the queue has overflowed (huang §3.B).
//!
//! A dropped tagged packet is the notice for all losses since the last notice. If no tagged packet waits, the next
//! tagged packet is dropped at its arrival, even if the queue is not full. A packet that finds the queue full is
//! dropped, even if the drop of a tagged packet makes room. If this packet is itself tagged, its drop is the notice.

use super::{Build, Dropped, Queue};
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Backlog, FlowId, LossReason, Packet, Priority};
use std::collections::VecDeque;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "tag_drop",
        summary: "drop-tail; for each dropped packet, a tagged packet is dropped, too, as a loss notice",
        source: "huang §3.B",
        parameters: &[
            Parameter {
                name: "packets",
                unit: Unit::Count(0, 1_000_000_000),
                default: Some("50"),
                doc: "queue limit, packets, without the packet in transmission; 0: no limit",
            },
            Parameter {
                name: "bytes",
                unit: Unit::Room(0, 1_000_000_000_000),
                default: Some("0 bytes"),
                doc: "queue limit, bytes, without the packet in transmission; 0: no limit",
            },
            Parameter {
                name: "of",
                unit: Unit::Word(&["same_flow", "any"]),
                default: Some("same_flow"),
                doc: "tagged packet to drop: of the flow that lost a packet, or of any flow",
            },
            Parameter {
                name: "which",
                unit: Unit::Word(&["oldest", "newest"]),
                default: Some("oldest"),
                doc: "tagged packet to drop if several wait",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, _| {
        let or_unlimited = |limit: u64| if limit == 0 { u64::MAX } else { limit };
        Discipline::scheduled(TagDrop {
            packets: or_unlimited(values.count("packets")),
            bytes: or_unlimited(values.bytes("bytes")),
            of_any: values.word("of") == "any",
            newest: values.word("which") == "newest",
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            pending_notices: Vec::new(),
        })
    },
};

struct TagDrop {
    packets: u64,
    bytes: u64,
    of_any: bool,
    newest: bool,
    waiting: VecDeque<Packet>,
    waiting_bytes: u64,
    /// Flows that had a loss for which no tagged packet has been dropped yet.
    pending_notices: Vec<FlowId>,
}

impl Queue for TagDrop {
    fn enqueue(&mut self, _: Time, packet: Packet, dropped: &mut Dropped) {
        let is_tagged = packet.priority == Priority::LOW;
        let waits_for_tag = is_tagged && self.has_pending_notice(packet.flow);
        if !self.has_room(&packet) {
            dropped.push((packet, LossReason::QueueFull));
            if is_tagged {
                self.clear_pending_notice(packet.flow)
            } else {
                self.drop_tag_for(packet.flow, dropped)
            }
            return;
        }
        if waits_for_tag {
            self.clear_pending_notice(packet.flow);
            dropped.push((packet, LossReason::TagDrop));
            return;
        }
        self.waiting_bytes += u64::from(packet.wire_bytes);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, _: Time, _: &mut Dropped) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.waiting_bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        Backlog { waiting: self.waiting.len() as u32, in_service: false, bytes: self.waiting_bytes }
    }

    fn draws(&self) -> bool {
        false
    }
}

impl TagDrop {
    /// Returns whether the packet fits. An empty queue admits a packet of any size, as with drop-tail.
    fn has_room(&self, packet: &Packet) -> bool {
        let fits = (self.waiting.len() as u64) < self.packets
            && self.waiting_bytes + u64::from(packet.wire_bytes) <= self.bytes;
        self.waiting.is_empty() || fits
    }

    /// Drops a waiting tagged packet as the notice for a loss of this flow. If no tagged packet waits, records that a
    /// notice is pending.
    fn drop_tag_for(&mut self, flow: FlowId, dropped: &mut Dropped) {
        let is_notice =
            |packet: &Packet| packet.priority == Priority::LOW && (self.of_any || packet.flow == flow);
        let found = if self.newest {
            self.waiting.iter().rposition(is_notice)
        } else {
            self.waiting.iter().position(is_notice)
        };
        match found.and_then(|index| self.waiting.remove(index)) {
            Some(packet) => {
                self.waiting_bytes -= u64::from(packet.wire_bytes);
                self.clear_pending_notice(flow);
                dropped.push((packet, LossReason::TagDrop));
            }
            None if !self.pending_notices.contains(&flow) => self.pending_notices.push(flow),
            None => {}
        }
    }

    fn has_pending_notice(&self, flow: FlowId) -> bool {
        if self.of_any { !self.pending_notices.is_empty() } else { self.pending_notices.contains(&flow) }
    }

    /// Clears the pending notices that the drop of a tagged packet of this flow satisfies: the notice of this flow or,
    /// with `of = "any"`, the notices of all flows.
    fn clear_pending_notice(&mut self, flow: FlowId) {
        let of_any = self.of_any;
        self.pending_notices.retain(|pending| !of_any && *pending != flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::QueueContext;
    use lasthop_base::{Rate, Stream, Value};
    use lasthop_wire::{Body, Ecn};

    fn queue(settings: &[(&'static str, Value)]) -> Box<dyn Queue> {
        let mut values = MECHANISM.info.defaults();
        values.set("packets", Value::Count(3));
        settings.iter().for_each(|(name, value)| values.set(name, value.clone()));
        let context =
            QueueContext { rate: Rate::from_bps(1), random: Stream::named(1, "queue"), hosts: None };
        match (MECHANISM.build)(&values, context) {
            Discipline::Scheduled(queue) => queue,
            Discipline::Fifo(_) => panic!("tag_drop removes packets from the middle of the queue"),
        }
    }

    fn packet(number: u64, flow: u32, tagged: bool) -> Packet {
        Packet {
            number,
            flow: FlowId(flow),
            route: 0,
            wire_bytes: 1000,
            forward: true,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn: Ecn::NotEct,
            priority: if tagged { Priority::LOW } else { Priority::NORMAL },
            hop: 0,
            enqueued_at: Time::ZERO,
            body: Body::Datagram { number },
        }
    }

    /// Enqueues packets, given as (flow, tagged), with numbers from 0. Returns the drops in order, and the numbers of
    /// the packets dequeued afterwards.
    fn put(queue: &mut dyn Queue, packets: &[(u32, bool)]) -> (Vec<(u64, LossReason)>, Vec<u64>) {
        let mut dropped = Dropped::new();
        for (number, (flow, tagged)) in packets.iter().enumerate() {
            queue.enqueue(Time::ZERO, packet(number as u64, *flow, *tagged), &mut dropped);
        }
        let lost = dropped.iter().map(|(packet, reason)| (packet.number, *reason)).collect();
        let left = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut dropped));
        (lost, left.map(|packet| packet.number).collect())
    }

    use LossReason::{QueueFull, TagDrop};

    #[test]
    fn a_waiting_tag_is_dropped_for_the_packet_that_finds_no_room() {
        let (lost, left) =
            put(&mut *queue(&[]), &[(0, false), (0, true), (0, false), (0, false), (0, false)]);
        assert_eq!(lost, [(3, QueueFull), (1, TagDrop)]);
        assert_eq!(left, [0, 2, 4]);
    }

    #[test]
    fn without_a_tag_the_next_to_arrive_is_dropped_once_even_if_there_is_room() {
        let mut queue = queue(&[]);
        let mut dropped = Dropped::new();
        for number in 0..5 {
            queue.enqueue(Time::ZERO, packet(number, 0, false), &mut dropped);
        }
        while queue.dequeue(Time::ZERO, &mut dropped).is_some() {}
        queue.enqueue(Time::ZERO, packet(5, 0, false), &mut dropped);
        queue.enqueue(Time::ZERO, packet(6, 0, true), &mut dropped);
        queue.enqueue(Time::ZERO, packet(7, 0, true), &mut dropped);
        let lost: Vec<_> = dropped.iter().map(|(packet, reason)| (packet.number, *reason)).collect();
        assert_eq!(lost, [(3, QueueFull), (4, QueueFull), (6, TagDrop)]);
    }

    #[test]
    fn an_overflowing_tag_is_the_notice_itself() {
        let (lost, left) =
            put(&mut *queue(&[]), &[(0, true), (0, false), (0, false), (0, true), (0, false), (0, true)]);
        // Packet 3 is tagged, so its drop is the notice. For the loss of packet 4, the tagged packet 0 is dropped, and
        // packet 5 gets the place of packet 0.
        assert_eq!(lost, [(3, QueueFull), (4, QueueFull), (0, TagDrop)]);
        assert_eq!(left, [1, 2, 5]);
    }

    #[test]
    fn whose_and_which() {
        let arrivals = [(1, true), (0, true), (0, true), (0, false)];
        let dropped = |of, which| {
            let mut queue = queue(&[("of", Value::Word(of)), ("which", Value::Word(which))]);
            put(&mut *queue, &arrivals).0[1].0
        };
        assert_eq!(dropped("same_flow", "oldest"), 1);
        assert_eq!(dropped("same_flow", "newest"), 2);
        assert_eq!(dropped("any", "oldest"), 0);
        assert_eq!(dropped("any", "newest"), 2);
    }

    #[test]
    fn a_tag_is_owed_by_flow_or_by_all() {
        let arrivals = [(0, false), (0, false), (0, false), (0, false)];
        for (of, reason) in [("same_flow", None), ("any", Some(TagDrop))] {
            let mut queue = queue(&[("of", Value::Word(of))]);
            put(&mut *queue, &arrivals);
            let mut dropped = Dropped::new();
            queue.enqueue(Time::ZERO, packet(9, 1, true), &mut dropped);
            assert_eq!(dropped.first().map(|(_, reason)| *reason), reason, "{of}");
        }
    }
}
