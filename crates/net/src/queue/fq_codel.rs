//! FQ-CoDel: a queue for each flow, new flows first, and CoDel in each (RFC 8290).
//!
//! Flows are hashed to queues. A queue that was empty gets a turn before those that were not: a flow that sends less
//! than its share finds no queue. Turns are of `quantum` bytes (deficit round robin). Each queue is CoDel's (RFC 8289).
//! A router that is full drops from the head of its fattest queue: half its packets, 64 at most (§4.1).
//!
//! # What is beside the RFC
//! Nothing waits for less than `mtu` behind a packet in its own queue (RFC 8289 §5.6, applied to each queue; Linux counts
//! all queues together). A turn is a packet of 1500 bytes, which has no
//! Ethernet header here (§5.2.4: 1514). There is no limit in bytes (Linux: 32 MB). How flows are told apart: see `flows`.

use super::flows::{FLOWS, Flows, QUANTUM, SALT, hash};
use super::law::{INTERVAL, Law, MARKS, MTU, Rule, TARGET};
use super::{Build, Dropped, Queue};
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit, Values};
use lasthop_wire::{Backlog, LossReason, Packet};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "fq_codel",
        summary: "a queue for each flow in turn, new flows first, each under CoDel",
        source: "RFC 8290; defaults as §5.2",
        parameters: &[
            TARGET,
            INTERVAL,
            QUANTUM,
            FLOWS,
            Parameter {
                name: "packets",
                unit: Unit::Count(1, 1_000_000_000),
                default: Some("10240"),
                doc: "most packets that may wait in all queues, the one in transmission not counted",
            },
            MTU,
            MARKS,
            SALT,
        ],
        ..Info::PLAIN
    },
    build: &|values, _| Discipline::scheduled(FqCoDel::new(values)),
};

/// Most packets that are dropped at once for want of room.
const BATCH: u32 = 64;

struct FqCoDel {
    rule: Rule,
    quantum: i64,
    limit: u32,
    salt: u64,
    flows: Flows,
    /// One for each queue.
    laws: Vec<Law>,
}

impl FqCoDel {
    fn new(values: &Values) -> FqCoDel {
        let flows = values.count("flows");
        FqCoDel {
            rule: Rule::new(values),
            quantum: values.bytes("quantum") as i64,
            limit: values.count("packets") as u32,
            salt: values.count("salt"),
            flows: Flows::new(flows, true),
            laws: vec![Law::default(); flows as usize],
        }
    }

    /// From the head, so that its sender hears of it soon.
    fn make_room(&mut self, dropped: &mut Dropped) {
        let fattest = self.flows.fattest();
        let many = self.flows.waiting_of(fattest).div_ceil(2).min(BATCH);
        for _ in 0..many {
            if let Some((_, packet)) = self.flows.pop(fattest) {
                dropped.push((packet, LossReason::QueueFull));
            }
        }
    }
}

impl Queue for FqCoDel {
    fn enqueue(&mut self, now: Time, packet: Packet, dropped: &mut Dropped) {
        let flow = (hash(&packet, self.salt) % self.flows.count()) as u32;
        self.flows.push(flow, now, packet, self.quantum);
        if self.flows.waiting() > self.limit {
            self.make_room(dropped);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Packet> {
        let (rule, laws) = (&self.rule, &mut self.laws);
        self.flows.next(self.quantum, |flows, flow| {
            laws[flow as usize].dequeue(rule, now, &mut flows.front(flow), dropped)
        })
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn marks(&self) -> bool {
        self.rule.marks
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

    fn fq_codel(settings: &[(&'static str, Value)]) -> FqCoDel {
        let mut values = MECHANISM.info.defaults();
        settings.iter().for_each(|(name, value)| values.set(name, value.clone()));
        FqCoDel::new(&values)
    }

    fn put(queue: &mut FqCoDel, now: u64, flow: u32, count: u64) -> Dropped {
        let mut dropped = Dropped::new();
        (0..count).for_each(|number| {
            queue.enqueue(at(now), packet(number, flow, Ecn::NotEct), &mut dropped);
        });
        dropped
    }

    /// §4.2: with a quantum of two packets each flow sends two a turn; none waits behind another's backlog.
    #[test]
    fn backlogged_flows_take_turns_of_a_quantum() {
        let mut queue = fq_codel(&[("quantum", Value::Bytes(2000))]);
        for flow in [1, 2, 3] {
            assert!(put(&mut queue, 0, flow, 4).is_empty());
        }
        let flows: Vec<u32> = all(&mut queue, at(1)).into_iter().map(|(flow, _)| flow).collect();
        assert_eq!(flows, [1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3]);
    }

    /// §1.3, §4.2: a flow that was empty is served before all that have had their turn, and passes through the old flows
    /// before it counts as new again: it cannot starve them.
    #[test]
    fn a_sparse_flow_comes_first_but_not_for_ever() {
        let mut queue = fq_codel(&[("quantum", Value::Bytes(1514))]);
        put(&mut queue, 0, 1, 50);
        let mut dropped = Dropped::new();
        let mut leave = |queue: &mut FqCoDel| queue.dequeue(at(1), &mut dropped).map(|packet| packet.flow.0);
        assert_eq!([leave(&mut queue), leave(&mut queue)], [Some(1); 2], "1514 bytes: one packet and a debt");
        put(&mut queue, 1, 2, 1);
        assert_eq!(leave(&mut queue), Some(2), "before the other 48");
        // It sends again at once: it has just been seen empty at most once, and its turn comes behind flow 1's.
        assert_eq!(leave(&mut queue), Some(1));
        put(&mut queue, 1, 2, 1);
        assert_eq!(leave(&mut queue), Some(1), "it is among the old ones, flow 1 is before it");
        assert_eq!(leave(&mut queue), Some(2));
    }

    /// §4.1: the fattest flow loses half its packets, 64 at most, from its head, whoever came last.
    #[test]
    fn the_fattest_flow_makes_room_for_all() {
        let mut queue = fq_codel(&[("packets", Value::Count(40))]);
        put(&mut queue, 0, 1, 30);
        put(&mut queue, 0, 2, 10);
        let dropped = put(&mut queue, 0, 2, 1);
        let expected: Vec<_> = (0..15).map(|number| (1, number, LossReason::QueueFull)).collect();
        assert_eq!(fates(&dropped), expected);
        assert_eq!(queue.backlog().waiting, 26);
        let mut wide = fq_codel(&[("packets", Value::Count(300))]);
        assert_eq!(put(&mut wide, 0, 1, 301).len(), 64);
    }

    /// Each queue has a state of its own: one flow stands for 400 ms and is dropped from, the other one sends a packet
    /// every 10 ms and loses none.
    #[test]
    fn only_who_builds_a_queue_is_dropped_from() {
        let (mut queue, mut dropped) = (fq_codel(&[]), Dropped::new());
        let mut waits = 0;
        for now in 0..400u64 {
            // Flow 1 sends twice what the transmitter bears.
            (0..2).for_each(|_| queue.enqueue(at(now), packet(now, 1, Ecn::NotEct), &mut dropped));
            if now % 10 == 5 {
                queue.enqueue(at(now), packet(now, 2, Ecn::NotEct), &mut dropped);
            }
            if let Some(left) = queue.dequeue(at(now), &mut dropped)
                && left.flow.0 == 2
            {
                waits = waits.max(now - left.number);
            }
        }
        assert!(!dropped.is_empty() && dropped.iter().all(|(packet, _)| packet.flow.0 == 1));
        assert!(waits <= 1, "{waits} ms behind the packet in transmission");
        // RFC 8289 §5.3: the first drop is an interval after packets began to wait 5 ms, then they come faster.
        assert!((3..=20).contains(&dropped.len()), "{}", dropped.len());
    }

    /// Room that was once needed is used again: 100,000 packets through 20 places.
    #[test]
    fn places_are_used_again() {
        let (mut queue, mut dropped) = (fq_codel(&[]), Dropped::new());
        for number in 0..100_000u64 {
            queue.enqueue(at(number), packet(number, (number % 7) as u32, Ecn::NotEct), &mut dropped);
            if number >= 20 {
                assert!(queue.dequeue(at(number), &mut dropped).is_some());
            }
            dropped.clear();
        }
        assert!(queue.flows.places() <= 21, "{}", queue.flows.places());
    }

    #[test]
    fn the_salt_says_who_collides() {
        let shares = |salt: u64| {
            let of = |flow: u32| hash(&packet(0, flow, Ecn::NotEct), salt) % 16;
            (0..64).filter(|flow| of(*flow) == of(99)).collect::<Vec<u32>>()
        };
        assert_eq!(shares(0), shares(0));
        assert_ne!(shares(0), shares(1));
        // 64 flows over 16 queues: four each in the mean, standard deviation 1.94.
        assert!((0..12).contains(&shares(0).len()));
    }
}
