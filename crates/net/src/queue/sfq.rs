//! Stochastic fair queueing (SFQ): one queue per flow, served in turn (McKenney 1990; deficit round robin: Shreedhar
//! and Varghese 1996).
//!
//! If the queue limit is exceeded, the first packet of the longest queue is dropped. Linux drops the last packet of
//! that queue, unless `headdrop` is set. Rehashing every few seconds (Linux's `perturb`) is not modelled.

use super::flows::{FLOWS, Flows, QUANTUM, SALT, hash};
use super::{Build, Dropped, Queue};
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit, Values};
use lasthop_wire::{Backlog, LossReason, Packet};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "sfq",
        summary: "fair queueing: one queue per flow, served in turn; a full router drops from the longest queue",
        source: "McKenney 1990; Shreedhar and Varghese 1996; defaults as tc-sfq(8)",
        parameters: &[
            QUANTUM,
            FLOWS,
            Parameter {
                name: "packets",
                unit: Unit::Count(1, 1_000_000_000),
                default: Some("127"),
                doc: "limit of all queues together, packets, without the packet in transmission",
            },
            SALT,
        ],
        ..Info::PLAIN
    },
    build: &|values, _| Discipline::scheduled(Sfq::new(values)),
};

struct Sfq {
    quantum: i64,
    limit: u32,
    salt: u64,
    flows: Flows,
}

impl Sfq {
    fn new(values: &Values) -> Sfq {
        Sfq {
            quantum: values.bytes("quantum") as i64,
            limit: values.count("packets") as u32,
            salt: values.count("salt"),
            flows: Flows::new(values.count("flows"), false),
        }
    }
}

impl Queue for Sfq {
    fn enqueue(&mut self, now: Time, packet: Packet, dropped: &mut Dropped) {
        let flow = (hash(&packet, self.salt) % self.flows.count()) as u32;
        self.flows.push(flow, now, packet, self.quantum);
        if self.flows.waiting() > self.limit {
            let longest_queue = self.flows.longest_queue();
            dropped.extend(self.flows.pop(longest_queue).map(|(_, packet)| (packet, LossReason::QueueFull)));
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut Dropped) -> Option<Packet> {
        self.flows.next(self.quantum, |flows, flow| flows.pop(flow).map(|(_, packet)| packet))
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn draws(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, at, fates, packet};
    use super::*;
    use lasthop_base::Value;
    use lasthop_wire::Ecn;

    fn sfq(packets: u64) -> Sfq {
        let mut values = MECHANISM.info.defaults();
        values.set("packets", Value::Count(packets));
        Sfq::new(&values)
    }

    /// Shreedhar and Varghese 1996 §4.2: for two backlogged flows, the numbers of bytes sent must differ by at most a
    /// quantum plus a packet.
    #[test]
    fn shares_are_equal_whatever_the_packets_size() {
        let (mut queue, mut dropped) = (sfq(1000), Dropped::new());
        for number in 0..400u64 {
            let large = packet(number, 1, Ecn::NotEct);
            queue.enqueue(at(0), Packet { wire_bytes: 1500, ..large }, &mut dropped);
            let small = packet(number, 2, Ecn::NotEct);
            queue.enqueue(at(0), Packet { wire_bytes: 300, ..small }, &mut dropped);
        }
        let mut sent = [0i64; 2];
        for _ in 0..400 {
            let left = queue.dequeue(at(0), &mut dropped).expect("packets of both flows must wait");
            sent[left.flow.0 as usize - 1] += i64::from(left.wire_bytes);
            assert!((sent[0] - sent[1]).abs() <= 1500 + 1500, "{sent:?}");
        }
        assert!(dropped.is_empty() && sent[0] > 90_000, "{sent:?}");
    }

    #[test]
    fn a_full_router_drops_the_first_of_the_longest_queue() {
        let (mut queue, mut dropped) = (sfq(5), Dropped::new());
        for (number, flow) in [1, 1, 1, 2, 2, 2].into_iter().enumerate() {
            queue.enqueue(at(0), packet(number as u64, flow, Ecn::NotEct), &mut dropped);
        }
        assert_eq!(dropped.len(), 1);
        let (victim, _) = dropped[0];
        assert!([0, 3].contains(&victim.number), "{:?}", fates(&dropped));
        queue.enqueue(at(0), packet(6, 3, Ecn::NotEct), &mut dropped);
        let other = if victim.flow.0 == 1 { 2 } else { 1 };
        assert_eq!(dropped[1].0.flow.0, other, "the flow with three packets must lose a packet");
        assert_eq!(all(&mut queue, at(1)).len(), 5);
    }
}
