//! CAKE: a shaper with one queue per flow, new flows first, and COBALT in each queue (Høiland-Jørgensen et al., Piece
//! of CAKE, LANMAN 2018). Defaults and rules are those of Linux's sch_cake.
//!
//! * This file: shaper, hashing of flows (eight ways), memory limit.
//! * `cobalt`: drops and marks. `hosts`: fairness between hosts. `ack_filter`: removal of redundant ACKs.
//! * `division`: classes of traffic by DSCP. `tins`: priority between classes, each with queues of its own.
//!
//! The shaper allows no burst: a packet may leave as soon as the previous packet would have been sent at `rate`. A
//! flow's hash selects a set of eight queues. While this set has a free queue, each flow gets a queue of its own. At a
//! low rate, `target` and the interval grow with the transmission time of a packet.
//!
//! # Not modelled
//! NAT, framing except `overhead`, and rate estimation are not modelled. While a flow pauses, its COBALT count stays constant, whereas sch_cake decreases the count step by step.
//! Host fairness is off by default, whereas sch_cake's default is `triple-isolate`. All packets are in one tin by
//! default, whereas sch_cake's default is `diffserv3`.

mod ack_filter;
mod cobalt;
mod division;
mod hosts;
mod tins;

use super::flows::{Flows, SALT, hash};
use super::{Build, Dropped, Hosts, Queue};
use crate::discipline::Discipline;
use ack_filter::AckFilter;
use cobalt::{Cobalt, CobaltParameters};
use hosts::{Isolation, Sides};
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Rate, Stream, Time, Unit, Values};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::cell::RefCell;
use tins::Tins;

const LONGEST: Duration = Duration::from_secs(100);

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "cake",
        summary: "shaper, and one queue per flow (eight-way hashing); COBALT in each queue",
        source: "Høiland-Jørgensen et al., LANMAN 2018; tc-cake(8)",
        parameters: &[
            Parameter {
                name: "shape",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0"),
                doc: "shaper's rate as a share of the link's rate (first rate of a plan, mean rate of a trace); \
                      0: no shaper, for a queue at the bottleneck itself",
            },
            Parameter {
                name: "overhead",
                unit: Unit::Bytes(0, 256),
                default: Some("0 bytes"),
                doc: "bytes that the shaper adds to each packet",
            },
            Parameter {
                name: "target",
                unit: Unit::Duration(Duration::from_micros(1), LONGEST),
                default: Some("5 ms"),
                doc: "acceptable standing delay; never less than one and a half packet times at the shaper's rate",
            },
            Parameter {
                name: "rtt",
                unit: Unit::Duration(Duration::from_millis(1), LONGEST),
                default: Some("100 ms"),
                doc: "time above target before the first drop: about the longest round trip",
            },
            Parameter {
                name: "memory",
                unit: Unit::Bytes(1500, 1_000_000_000_000),
                default: Some("4 MB"),
                doc: "limit of all queues together, bytes; above this limit, packets are dropped from the head \
                      of the longest queue",
            },
            Parameter {
                name: "marks",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "marks ECN-capable packets instead of dropping them",
            },
            Parameter {
                name: "isolation",
                unit: Unit::Word(&["flows", "dual_srchost", "dual_dsthost", "triple_isolate"]),
                default: Some("flows"),
                doc: "units with equal shares: flows; sending hosts, then their flows; receiving hosts, then their \
                      flows; or the busier of a flow's two hosts, then its flows (sch_cake's default). A host is a \
                      node",
            },
            Parameter {
                name: "ack_filter",
                unit: Unit::Word(AckFilter::WORDS),
                default: Some("off"),
                doc: "removes pure ACKs that a later packet of the flow in the queue makes redundant; on: keeps one \
                      redundant ACK; aggressive: keeps none. Removed ACKs count as acks_lost",
            },
            Parameter {
                name: "tins",
                unit: Unit::Word(division::WORDS),
                default: Some("besteffort"),
                doc: "classes by DSCP, each with priority up to a share of the rate. besteffort: one class. diffserv3 \
                      (sch_cake's default): Bulk 1/16, Best Effort 1, Voice 1/4. diffserv4: also Video 1/2. diffserv8, \
                      precedence: eight classes",
            },
            SALT,
        ],
        only_if: &[OnlyIf { parameters: &["overhead"], other: "shape", is: Is::Not("0") }],
        ..Info::PLAIN
    },
    build: &|values, context| {
        let shape = values.number("shape");
        let rate = (shape > 0.0).then(|| Rate::from_bps(((context.rate.bps() as f64 * shape) as u64).max(1)));
        match Tins::new(values, rate, &context.random, context.hosts.as_ref()) {
            Some(tins) => Discipline::scheduled(tins),
            None => {
                let cake = Cake::new(values, rate, QUEUES, context.random);
                Discipline::scheduled(cake.between(values, context.hosts))
            }
        }
    },
};

const QUEUES: usize = 1024;
const WAYS: usize = 8;
/// Size of a full-size packet, bytes (Linux: 1514, with Ethernet header).
const MTU: u64 = 1500;

struct Cake {
    parameters: CobaltParameters,
    rate: Option<Rate>,
    overhead: u64,
    quantum: i64,
    memory: u64,
    salt: u64,
    flows: Flows,
    /// For each queue, hash of the flow that uses the queue or used it last.
    tags: Vec<u64>,
    cobalts: Vec<Cobalt>,
    random: Stream,
    isolation: Option<Isolation>,
    needs_hosts: bool,
    ack_filter: AckFilter,
    next_at: Time,
}

impl Cake {
    fn new(values: &Values, rate: Option<Rate>, queues: usize, random: Stream) -> Cake {
        let mtu_time = rate.map_or(Duration::ZERO, |rate| rate.time_for(MTU));
        let (wanted, rtt) = (values.duration("target"), values.duration("rtt"));
        let target = wanted.max((mtu_time * 3).divided_by(2));
        let interval = (rtt + target.saturating_sub(wanted)).max(target * 2);
        Cake {
            parameters: CobaltParameters { target, interval, mtu_time, marks: values.flag("marks") },
            rate,
            overhead: values.bytes("overhead"),
            // The quantum is 1/4096 of the bytes that the shaper sends in a second, but at least 300 bytes and at most
            // one MTU.
            quantum: rate.map_or(MTU, |rate| (rate.bps() / 8 / 4096).clamp(300, MTU)) as i64,
            memory: values.bytes("memory"),
            salt: values.count("salt"),
            flows: Flows::new(queues as u64, true),
            tags: vec![0; queues],
            cobalts: vec![Cobalt::default(); queues],
            random,
            isolation: None,
            needs_hosts: false,
            ack_filter: AckFilter::named(values.word("ack_filter")),
            next_at: Time::ZERO,
        }
    }

    fn between(mut self, values: &Values, hosts: Option<Hosts>) -> Cake {
        let sides = Sides::named(values.word("isolation"));
        self.needs_hosts = sides.is_some();
        let random = Stream::named(self.random.clone().draw(), "hosts");
        self.isolation =
            sides.zip(hosts).map(|(sides, hosts)| Isolation::new(sides, hosts, self.tags.len(), random));
        self
    }

    /// Returns the queue of a flow: the queue that the flow already has, or else a free queue of the flow's set. If the
    /// set has no free queue, returns the queue to which the flow's hash points, so that the flow shares this queue.
    fn queue_of(&mut self, hash: u64) -> u32 {
        let wanted = (hash % self.tags.len() as u64) as usize;
        if self.tags[wanted] == hash && self.flows.is_active(wanted as u32) {
            return wanted as u32;
        }
        let set = wanted - wanted % WAYS;
        let mut ways = (0..WAYS).map(|way| set + (wanted + way) % WAYS);
        let own = ways.clone().find(|way| self.tags[*way] == hash);
        let free = || ways.find(|way| !self.flows.is_active(*way as u32));
        let found = own.or_else(free).unwrap_or(wanted);
        self.tags[found] = hash;
        found as u32
    }

    /// Number of bytes in the longest queue.
    fn longest_bytes(&self) -> u64 {
        self.flows.bytes_of(self.flows.longest_queue())
    }

    /// Drops the first packet of the longest queue. Returns false if all queues are empty.
    fn drop_from_longest(&mut self, now: Time, dropped: &mut Dropped) -> bool {
        let longest_queue = self.flows.longest_queue();
        let Some((_, packet)) = self.flows.pop(longest_queue) else { return false };
        self.cobalts[longest_queue as usize].on_full(&self.parameters, now);
        dropped.push((packet, LossReason::QueueFull));
        true
    }
}

impl Queue for Cake {
    fn enqueue(&mut self, now: Time, packet: Packet, dropped: &mut Dropped) {
        let flow = self.queue_of(hash(&packet, self.salt));
        let quantum = match &mut self.isolation {
            None => self.quantum,
            Some(hosts) => hosts.on_packet(flow, &packet, self.flows.is_active(flow), self.quantum),
        };
        if self.ack_filter != AckFilter::Off
            && let Some(place) = self.ack_filter.redundant(self.flows.packets(flow), &packet)
            && let Some(ack) = self.flows.remove(flow, place)
        {
            dropped.push((ack, LossReason::EarlyDrop));
        }
        self.flows.push(flow, now, packet, quantum);
        while self.flows.bytes() > self.memory {
            if !self.drop_from_longest(now, dropped) {
                break;
            }
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Packet> {
        if now < self.next_at {
            return None;
        }
        let (parameters, cobalts, random) = (&self.parameters, &mut self.cobalts, &mut self.random);
        let dequeue = |flows: &mut Flows, flow: u32| {
            let cobalt = &mut cobalts[flow as usize];
            while let Some((arrived_at, mut packet)) = flows.pop(flow) {
                if !cobalt.should_drop(parameters, now, arrived_at, &mut packet, flows.old(), random) {
                    return Some(packet);
                }
                dropped.push((packet, LossReason::EarlyDrop));
            }
            cobalt.on_empty(parameters, now);
            None
        };
        let packet = match &mut self.isolation {
            None => self.flows.next(self.quantum, dequeue),
            Some(hosts) => {
                let (quantum, hosts) = (self.quantum, RefCell::new(hosts));
                self.flows.next_by(
                    &mut |flow, has_some| hosts.borrow_mut().next_quantum(flow, has_some, quantum),
                    dequeue,
                    &mut |flow| hosts.borrow_mut().leave(flow),
                )
            }
        }?;
        if let Some(rate) = self.rate {
            self.next_at =
                self.next_at.max(now) + rate.time_for(u64::from(packet.wire_bytes) + self.overhead);
        }
        Some(packet)
    }

    fn ready_at(&self, now: Time) -> Time {
        if self.flows.waiting() > 0 && self.next_at > now { self.next_at } else { Time::NEVER }
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn marks(&self) -> bool {
        self.parameters.marks
    }

    fn needs_hosts(&self) -> bool {
        self.needs_hosts
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at, packet};
    use super::*;
    use lasthop_base::Value;
    use lasthop_wire::Ecn;

    fn cake(rate: Option<u64>, queues: usize) -> Cake {
        let rate = rate.map(Rate::from_bps);
        Cake::new(&MECHANISM.info.defaults(), rate, queues, Stream::named(1, "queue"))
    }

    /// Eight flows of one set must each have a queue of their own. A ninth flow must share one of these queues.
    #[test]
    fn flows_of_a_set_have_a_queue_each() {
        let mut cake = cake(None, WAYS);
        let mut dropped = Dropped::new();
        let mut queues: Vec<u32> = Vec::new();
        for flow in 0..9u32 {
            let one = packet(0, flow, Ecn::NotEct);
            queues.push(cake.queue_of(hash(&one, 0)));
            cake.enqueue(at(0), one, &mut dropped);
        }
        let ninth = queues.pop().expect("nine");
        assert_eq!(cake.queue_of(hash(&packet(1, 3, Ecn::NotEct), 0)), queues[3], "the flow keeps its queue");
        assert!(queues.contains(&ninth));
        queues.sort_unstable();
        assert_eq!(queues, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    /// At 8 Mbit/s, a packet of 1000 bytes must leave each millisecond, whatever the link's rate. Idle time must not
    /// allow a later burst.
    #[test]
    fn the_shaper_spaces_packets() {
        let (mut cake, mut dropped) = (cake(Some(8_000_000), QUEUES), Dropped::new());
        (0..3).for_each(|number| cake.enqueue(at(10), packet(number, 0, Ecn::NotEct), &mut dropped));
        assert!(cake.dequeue(at(10), &mut dropped).is_some());
        assert!(cake.dequeue(at(10), &mut dropped).is_none());
        assert_eq!(cake.ready_at(at(10)), at(11));
        assert!(cake.dequeue(at(11), &mut dropped).is_some());
        assert!(cake.dequeue(at(50), &mut dropped).is_some());
        assert_eq!(cake.ready_at(at(50)), Time::NEVER);
        (0..2).for_each(|number| cake.enqueue(at(50), packet(number, 0, Ecn::NotEct), &mut dropped));
        assert_eq!(cake.ready_at(at(50)), at(51));
    }

    /// At 1 Mbit/s, a packet of 1500 bytes takes 12 ms. As in sch_cake, the target must then be the time of one and a
    /// half packets, 18 ms. The interval must grow by the same amount as the target.
    #[test]
    fn a_slow_link_has_a_longer_target() {
        let slow = cake(Some(1_000_000), QUEUES).parameters;
        assert_eq!(slow.target, Duration::from_micros(18_000));
        assert_eq!(slow.interval, Duration::from_micros(113_000));
        let fast = cake(Some(100_000_000), QUEUES).parameters;
        assert_eq!((fast.target, fast.interval), (Duration::from_millis(5), Duration::from_millis(100)));
        assert_eq!(cake(Some(100_000_000), QUEUES).quantum, 1500);
        assert_eq!(cake(Some(1_000_000), QUEUES).quantum, 300);
    }

    /// Dequeues 900 packets while all flows are backlogged, and returns each flow's number of packets. `hosts[n]` has
    /// the source and the destination of flow n.
    fn shares(isolation: &'static str, hosts: &[[u32; 2]]) -> Vec<usize> {
        let mut values = MECHANISM.info.defaults();
        values.set("isolation", Value::Word(isolation));
        let mut cake = Cake::new(&values, None, QUEUES, Stream::named(1, "queue"));
        cake.parameters.target = LONGEST;
        let mut cake = cake.between(&values, Some(hosts.into()));
        let mut dropped = Dropped::new();
        for number in 0..1200 {
            let flows = if number < 300 { 0 } else { 8 }..9;
            flows.for_each(|flow| cake.enqueue(at(0), packet(number, flow, Ecn::NotEct), &mut dropped));
        }
        let mut shares = vec![0; hosts.len()];
        // The first 900 packets are not counted, because they include the first turns of new flows.
        for number in 0..1800 {
            let packet = cake.dequeue(at(1), &mut dropped).expect("plenty");
            shares[packet.flow.0 as usize] += usize::from(number >= 900);
        }
        assert!(dropped.is_empty());
        shares
    }

    fn nearly(shares: &[usize], expected: &[f64]) {
        for (share, expected) in shares.iter().zip(expected) {
            assert!((*share as f64 - expected).abs() < 0.06 * expected.max(50.0), "{shares:?}");
        }
    }

    /// One host has eight flows, another host has one flow. With fairness between hosts, each host must get half of the
    /// packets. With fairness between flows, the hosts' shares must be 8 to 1.
    #[test]
    fn hosts_get_the_same_however_many_flows_they_have() {
        let mut from = [[0, 2]; 9];
        from[8] = [1, 3];
        let to = from.map(|[from, to]| [to, from]);
        let even = vec![100.0; 9];
        let by_host = [vec![56.25; 8], vec![450.0]].concat();
        for hosts in [from, to] {
            nearly(&shares("flows", &hosts), &even);
            for isolation in ["dual_srchost", "dual_dsthost", "triple_isolate"] {
                nearly(&shares(isolation, &hosts), &by_host);
            }
        }
        // Both hosts send to the same destination. With fairness between sources, each source must get half of the
        // packets. With the other two modes, all flows must get equal shares.
        let mut one = [[0, 2]; 9];
        one[8] = [1, 2];
        nearly(&shares("dual_srchost", &one), &by_host);
        nearly(&shares("dual_dsthost", &one), &even);
        nearly(&shares("triple_isolate", &one), &even);
    }

    #[test]
    fn flows_that_end_give_their_host_s_turn_back() {
        let mut values = MECHANISM.info.defaults();
        values.set("isolation", Value::Word("dual_srchost"));
        let mut cake = Cake::new(&values, None, QUEUES, Stream::named(1, "queue"));
        cake.parameters.target = LONGEST;
        let hosts: Hosts = vec![[0, 2], [0, 2], [1, 2]].into();
        let mut cake = cake.between(&values, Some(hosts));
        let mut dropped = Dropped::new();
        for number in 0..100 {
            cake.enqueue(at(0), packet(number, 0, Ecn::NotEct), &mut dropped);
            cake.enqueue(at(0), packet(number, 2, Ecn::NotEct), &mut dropped);
        }
        (0..10).for_each(|number| cake.enqueue(at(0), packet(number, 1, Ecn::NotEct), &mut dropped));
        let mut left = Vec::new();
        while let Some(packet) = cake.dequeue(at(1), &mut dropped) {
            left.push(packet.flow.0);
        }
        assert_eq!((left.len(), dropped.len()), (210, 0));
        // While both flows of host 0 send, host 0 and host 1 each send 20 packets. Afterwards each host has one flow,
        // so the flows must take turns.
        let of = |flow: u32, from: usize, to: usize| left[from..to].iter().filter(|it| **it == flow).count();
        assert!(of(1, 0, 50) == 10 && of(2, 0, 40) > 17, "{left:?}");
        assert!(of(0, 60, 160).abs_diff(50) <= 2, "{left:?}");
        let busy = &cake.isolation.as_ref().expect("hosts").busy_of_all();
        assert_eq!(*busy, 0, "no bulk flows are left");
    }

    /// If the packets exceed the memory limit, packets must be dropped from the head of the longest queue.
    #[test]
    fn the_longest_queue_makes_room() {
        let (mut cake, mut dropped) = (cake(None, QUEUES), Dropped::new());
        cake.memory = 10_000;
        cake.enqueue(at(10), packet(0, 2, Ecn::NotEct), &mut dropped);
        (0..12).for_each(|number| cake.enqueue(at(10), packet(number, 1, Ecn::NotEct), &mut dropped));
        let lost: Vec<(u32, u64)> =
            dropped.iter().map(|(packet, _)| (packet.flow.0, packet.number)).collect();
        assert_eq!(lost, [(1, 0), (1, 1), (1, 2)]);
        assert_eq!(cake.backlog().bytes, 10_000);
    }
}
