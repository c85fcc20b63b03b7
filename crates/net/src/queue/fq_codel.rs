//! FQ-CoDel: one queue per flow, served with new flows first, and with CoDel in each queue (RFC 8290).
//!
//! Flows are hashed to queues. A queue that was empty is served before the other queues, so a flow that sends less than
//! its share does not wait for other flows. Each turn allows `quantum` bytes (deficit round robin). Each queue runs
//! CoDel (RFC 8289). If the queue limit is exceeded, half of the packets of the longest queue, at most 64, are dropped
//! from its head (§4.1).
//!
//! # Differences from the RFC
//! The `mtu` rule of RFC 8289 §5.6 applies to each queue, whereas Linux counts the bytes of all queues together. A turn
//! has 1500 bytes, without Ethernet header (§5.2.4: 1514). The queue has no limit in bytes (Linux: 32 MB). The module
//! `flows` describes the hashing of flows.

use super::flows::{FLOWS, Flows, QUANTUM, SALT, hash};
use super::law::{CoDelParameters, ControlLaw, INTERVAL, MARKS, MTU, TARGET};
use super::{Build, Dropped, Queue};
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit, Values};
use lasthop_wire::{Backlog, LossReason, Packet};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "fq_codel",
        summary: "one queue per flow, served in turn with new flows first; CoDel in each queue",
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
                doc: "limit of all queues together, packets, without the packet in transmission",
            },
            MTU,
            MARKS,
            SALT,
        ],
        ..Info::PLAIN
    },
    build: &|values, _| Discipline::scheduled(FqCoDel::new(values)),
};

/// Largest number of packets that are dropped at once if the queue limit is exceeded.
const BATCH: u32 = 64;

struct FqCoDel {
    parameters: CoDelParameters,
    quantum: i64,
    limit: u32,
    salt: u64,
    flows: Flows,
    laws: Vec<ControlLaw>,
}

impl FqCoDel {
    fn new(values: &Values) -> FqCoDel {
        let flows = values.count("flows");
        FqCoDel {
            parameters: CoDelParameters::new(values),
            quantum: values.bytes("quantum") as i64,
            limit: values.count("packets") as u32,
            salt: values.count("salt"),
            flows: Flows::new(flows, true),
            laws: vec![ControlLaw::default(); flows as usize],
        }
    }

    /// Drops packets from the head of the longest queue, so that the sender notices the losses soon.
    fn make_room(&mut self, dropped: &mut Dropped) {
        let longest_queue = self.flows.longest_queue();
        let many = self.flows.waiting_of(longest_queue).div_ceil(2).min(BATCH);
        for _ in 0..many {
            if let Some((_, packet)) = self.flows.pop(longest_queue) {
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
        let (parameters, laws) = (&self.parameters, &mut self.laws);
        self.flows.next(self.quantum, |flows, flow| {
            laws[flow as usize].dequeue(parameters, now, &mut flows.front(flow), dropped)
        })
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn marks(&self) -> bool {
        self.parameters.marks
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

    /// RFC 8290 §4.2: with a quantum of two packets, each flow must send two packets per turn.
    #[test]
    fn backlogged_flows_take_turns_of_a_quantum() {
        let mut queue = fq_codel(&[("quantum", Value::Bytes(2000))]);
        for flow in [1, 2, 3] {
            assert!(put(&mut queue, 0, flow, 4).is_empty());
        }
        let flows: Vec<u32> = all(&mut queue, at(1)).into_iter().map(|(flow, _)| flow).collect();
        assert_eq!(flows, [1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3]);
    }

    /// RFC 8290 §1.3, §4.2: a flow whose queue was empty must be served before the other flows. Afterwards, the flow
    /// must pass through the list of old flows before it counts as new again.
    #[test]
    fn a_sparse_flow_comes_first_but_not_for_ever() {
        let mut queue = fq_codel(&[("quantum", Value::Bytes(1514))]);
        put(&mut queue, 0, 1, 50);
        let mut dropped = Dropped::new();
        let mut leave = |queue: &mut FqCoDel| queue.dequeue(at(1), &mut dropped).map(|packet| packet.flow.0);
        assert_eq!(
            [leave(&mut queue), leave(&mut queue)],
            [Some(1); 2],
            "flow 1 sends two packets, because the first packet leaves a positive deficit"
        );
        put(&mut queue, 1, 2, 1);
        assert_eq!(leave(&mut queue), Some(2), "flow 2 is served before the other 48 packets of flow 1");
        // Flow 2 has no packets left, so flow 1 has its turn.
        assert_eq!(leave(&mut queue), Some(1));
        put(&mut queue, 1, 2, 1);
        assert_eq!(leave(&mut queue), Some(1), "flow 2 is behind flow 1 in the list of old flows");
        assert_eq!(leave(&mut queue), Some(2));
    }

    /// RFC 8290 §4.1: half of the packets of the longest queue, at most 64, must be dropped from its head. This rule
    /// must also apply if a packet of another flow exceeds the queue limit.
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

    /// Each queue has its own CoDel state. Packets of a flow with a standing queue for 400 ms must be dropped. Packets
    /// of a flow that sends one packet every 10 ms must not be dropped.
    #[test]
    fn only_who_builds_a_queue_is_dropped_from() {
        let (mut queue, mut dropped) = (fq_codel(&[]), Dropped::new());
        let mut waits = 0;
        for now in 0..400u64 {
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
        assert!(waits <= 1, "flow 2 waits for {waits} ms, more than one transmission");
        // RFC 8289 §5.3: the first drop follows one interval (100 ms) after the delay exceeds 5 ms. Further drops
        // follow at shorter intervals, so 400 ms have 3 to 20 drops.
        assert!((3..=20).contains(&dropped.len()), "{}", dropped.len());
    }

    /// At most 21 packets wait at a time, so at most 21 slots must be allocated for 100,000 packets.
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
        assert!(queue.flows.slot_count() <= 21, "{}", queue.flows.slot_count());
    }

    #[test]
    fn the_salt_says_who_collides() {
        let shares = |salt: u64| {
            let of = |flow: u32| hash(&packet(0, flow, Ecn::NotEct), salt) % 16;
            (0..64).filter(|flow| of(*flow) == of(99)).collect::<Vec<u32>>()
        };
        assert_eq!(shares(0), shares(0));
        assert_ne!(shares(0), shares(1));
        // 64 flows are hashed to 16 queues, so a queue has four flows on average. The binomial standard deviation is
        // sqrt(64 * 1/16 * 15/16) = 1.94.
        assert!((0..12).contains(&shares(0).len()));
    }
}
