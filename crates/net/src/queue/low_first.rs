//! Drop-tail with two drop priorities. A full queue drops packets of low priority first.
//!
//! If a packet of normal priority finds the queue full, the newest packet of low priority is dropped. If no packet of
//! low priority waits, or if the arriving packet has low priority, the arriving packet is dropped. TCP-Peach requires
//! that all routers on a path drop packets of low priority first (Akyildiz et al. 2001). Dropping the newest of these
//! packets is our choice.

use super::{Build, Dropped, Queue};
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Backlog, LossReason, Packet, Priority};
use std::collections::VecDeque;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "low_first",
        summary: "drop-tail; a full queue drops packets of low priority (dummies, tags) first",
        source: "Akyildiz, Morabito and Palazzo, IEEE/ACM ToN 9(3), 2001; RFC 8622",
        parameters: &[Parameter {
            name: "packets",
            unit: Unit::Count(1, 1_000_000_000),
            default: Some("50"),
            doc: "queue limit, packets, without the packet in transmission",
        }],
        ..Info::PLAIN
    },
    build: &|values, _| Discipline::scheduled(LowFirst::new(values.count("packets") as usize)),
};

struct LowFirst {
    limit: usize,
    waiting: VecDeque<Packet>,
    bytes: u64,
    /// Number of waiting packets of low priority.
    low: usize,
}

impl LowFirst {
    fn new(limit: usize) -> LowFirst {
        LowFirst { limit, waiting: VecDeque::new(), bytes: 0, low: 0 }
    }

    fn remove_newest_low(&mut self) -> Option<Packet> {
        if self.low == 0 {
            return None;
        }
        let index = self.waiting.iter().rposition(is_low)?;
        let packet = self.waiting.remove(index)?;
        self.on_removed(&packet);
        Some(packet)
    }

    fn on_removed(&mut self, packet: &Packet) {
        self.bytes -= u64::from(packet.wire_bytes);
        self.low -= usize::from(is_low(packet));
    }
}

fn is_low(packet: &Packet) -> bool {
    packet.priority == Priority::LOW
}

impl Queue for LowFirst {
    fn enqueue(&mut self, _: Time, packet: Packet, dropped: &mut Dropped) {
        if self.waiting.len() >= self.limit {
            let victim = if is_low(&packet) { None } else { self.remove_newest_low() };
            match victim {
                Some(victim) => dropped.push((victim, LossReason::QueueFull)),
                None => return dropped.push((packet, LossReason::QueueFull)),
            }
        }
        self.bytes += u64::from(packet.wire_bytes);
        self.low += usize::from(is_low(&packet));
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, _: Time, _: &mut Dropped) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.on_removed(&packet);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        Backlog { waiting: self.waiting.len() as u32, in_service: false, bytes: self.bytes }
    }

    fn draws(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, at, packet};
    use super::*;
    use lasthop_wire::Ecn;

    /// Enqueues packets of these priorities (true: low) in a queue with a limit of three packets. Returns the numbers
    /// of the dropped packets, and of the packets dequeued afterwards.
    fn offered(low: &[bool]) -> (Vec<u64>, Vec<u64>) {
        let (mut queue, mut dropped) = (LowFirst::new(3), Dropped::new());
        for (number, low) in (0..).zip(low) {
            let priority = if *low { Priority::LOW } else { Priority::NORMAL };
            queue.enqueue(at(0), Packet { priority, ..packet(number, 1, Ecn::NotEct) }, &mut dropped);
        }
        let leave = all(&mut queue, at(1)).iter().map(|(_, number)| *number).collect();
        assert_eq!((queue.bytes, queue.low), (0, 0));
        (dropped.iter().map(|(packet, _)| packet.number).collect(), leave)
    }

    #[test]
    fn low_priority_is_dropped_first_and_order_stays() {
        assert_eq!(offered(&[true, false, true, false]), (vec![2], vec![0, 1, 3]));
        assert_eq!(offered(&[true, false, true, false, false, false]), (vec![2, 0, 5], vec![1, 3, 4]));
        assert_eq!(offered(&[true, false, false, true]), (vec![3], vec![0, 1, 2]));
        assert_eq!(offered(&[false; 5]), (vec![3, 4], vec![0, 1, 2]));
    }
}
