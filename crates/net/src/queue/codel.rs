//! CoDel: drops packets at dequeue, at a growing rate, while the queueing delay is too large (RFC 8289 §5).
//!
//! While at least one packet in each `interval` has a queueing delay below `target`, CoDel drops nothing. Otherwise
//! CoDel drops the next packet. The time to each further drop is `interval` divided by the square root of the number of
//! drops so far. With `marks`, ECN-capable packets are marked instead of dropped (RFC 8289 §3 allows this, and Linux
//! does so).

use super::fifo::PacketFifo;
use super::law::{CoDelParameters, ControlLaw, INTERVAL, MARKS, MTU, TARGET};
use super::{Build, Dropped, Queue};
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit, Values};
use lasthop_wire::{Backlog, LossReason, Packet};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "codel",
        summary: "controlled delay: drops or marks at dequeue, more often the longer the delay exceeds the target",
        source: "RFC 8289 §5; Nichols and Jacobson 2012",
        parameters: &[
            TARGET,
            INTERVAL,
            Parameter {
                name: "packets",
                unit: Unit::Count(0, 1_000_000_000),
                default: Some("1000"),
                doc: "queue limit, packets, without the packet in transmission; 0: no limit",
            },
            MTU,
            MARKS,
        ],
        ..Info::PLAIN
    },
    build: &|values, _| Discipline::scheduled(CoDel::new(values)),
};

struct CoDel {
    parameters: CoDelParameters,
    law: ControlLaw,
    limit: usize,
    waiting: PacketFifo,
}

impl CoDel {
    fn new(values: &Values) -> CoDel {
        CoDel {
            parameters: CoDelParameters::new(values),
            law: ControlLaw::default(),
            limit: match values.count("packets") {
                0 => usize::MAX,
                packets => packets as usize,
            },
            waiting: PacketFifo::default(),
        }
    }
}

impl Queue for CoDel {
    fn enqueue(&mut self, now: Time, packet: Packet, dropped: &mut Dropped) {
        if self.waiting.len() >= self.limit {
            dropped.push((packet, LossReason::QueueFull))
        } else {
            self.waiting.push(now, packet)
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Packet> {
        self.law.dequeue(&self.parameters, now, &mut self.waiting, dropped)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
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
    use super::*;
    use lasthop_base::{Duration, Value};
    use lasthop_wire::{Body, Ecn, FlowId, Priority};

    const MS: Duration = Duration::from_millis(1);

    fn packet(ecn: Ecn) -> Packet {
        Packet {
            number: 0,
            flow: FlowId(0),
            route: 0,
            wire_bytes: 1000,
            forward: true,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn,
            priority: Priority::NORMAL,
            hop: 0,
            enqueued_at: Time::ZERO,
            body: Body::Datagram { number: 0 },
        }
    }

    fn codel(settings: &[(&'static str, Value)]) -> CoDel {
        let mut values = MECHANISM.info.defaults();
        settings.iter().for_each(|(name, value)| values.set(name, value.clone()));
        CoDel::new(&values)
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + MS * millis
    }

    /// Dequeues a packet of 1000 bytes each millisecond from a queue in which each packet waits for `waits` ms. Returns
    /// the times in ms of drops and marks.
    fn drops(codel: &mut CoDel, from: u64, until: u64, waits: u64, ecn: Ecn) -> Vec<u64> {
        let (mut drop_times, mut dropped) = (Vec::new(), Dropped::new());
        for now in from..until {
            while (codel.waiting.len() as u64) < waits {
                let arrived_at = at(now.saturating_sub(waits) + codel.waiting.len() as u64);
                codel.enqueue(arrived_at, packet(ecn), &mut dropped);
            }
            let left = codel.dequeue(at(now), &mut dropped);
            let is_marked = left.is_some_and(|packet| packet.ecn == Ecn::Ce);
            drop_times.extend((0..dropped.drain(..).count() + usize::from(is_marked)).map(|_| now));
        }
        drop_times
    }

    fn empty(codel: &mut CoDel, now: u64) {
        codel.waiting = PacketFifo::default();
        assert_eq!(codel.dequeue(at(now), &mut Dropped::new()), None);
    }

    /// RFC 8289 §5.3: with a constant backlog, the first drop must follow after one interval of excess delay. The gaps
    /// between later drops must be `interval / sqrt(count)`: 100, 70.7, 57.7, 50 … ms.
    #[test]
    fn a_queue_that_stands_is_dropped_from_by_the_control_law() {
        let mut expected = vec![200];
        let mut next = 200.0;
        for count in 1..=8 {
            next += 100.0 / f64::from(count).sqrt();
            expected.push(f64::ceil(next) as u64);
        }
        let unmarked = drops(&mut codel(&[]), 100, expected[8] + 1, 50, Ecn::NotEct);
        assert_eq!(unmarked, expected);
        let marked = drops(&mut codel(&[]), 100, expected[8] + 1, 50, Ecn::Ect0);
        assert_eq!(marked, expected, "marks must happen at the same times as drops");
    }

    #[test]
    fn a_queue_within_the_target_is_left_alone() {
        assert!(drops(&mut codel(&[]), 100, 2000, 4, Ecn::NotEct).is_empty());
        // A burst that is shorter than an interval must pass without drops.
        let mut bursty = codel(&[]);
        assert!(drops(&mut bursty, 100, 190, 50, Ecn::NotEct).is_empty());
        empty(&mut bursty, 190);
        assert!(drops(&mut bursty, 190, 280, 50, Ecn::NotEct).is_empty());
    }

    /// RFC 8289 §5.6: on a link where the transmission of a packet takes longer than the target, no packet may be
    /// dropped while at most `mtu` bytes wait.
    #[test]
    fn what_waits_behind_the_last_packet_must_be_more_than_one_mtu() {
        let (mut slow, mut dropped) = (codel(&[]), Dropped::new());
        for now in 0..100u64 {
            slow.enqueue(at(50 * now), packet(Ecn::NotEct), &mut dropped);
            if now > 1 {
                assert!(slow.dequeue(at(50 * now), &mut dropped).is_some());
            }
        }
        // Packets wait for 100 ms. After each dequeue, 2000 bytes wait, which is more than the default `mtu`, so
        // packets must be dropped.
        assert!(!dropped.is_empty());
        let (mut slower, mut dropped) = (codel(&[("mtu", Value::Bytes(2000))]), Dropped::new());
        for now in 0..100u64 {
            slower.enqueue(at(50 * now), packet(Ecn::NotEct), &mut dropped);
            if now > 1 {
                assert!(slower.dequeue(at(50 * now), &mut dropped).is_some());
            }
        }
        assert!(dropped.is_empty());
    }

    /// RFC 8289 §5.5: if the next dropping state begins within 16 intervals, it must start with the count that the last
    /// dropping state reached. After 16 intervals, it must start with a count of one.
    #[test]
    fn it_begins_where_it_was_if_that_is_not_long_ago() {
        for (pause, expected) in [(200, 8), (1700, 1)] {
            let mut codel = codel(&[]);
            let first = drops(&mut codel, 100, 660, 50, Ecn::NotEct);
            assert_eq!(first.len(), 9, "8 drops in the dropping state, and 1 drop that began the state");
            empty(&mut codel, 660);
            let again = drops(&mut codel, 660 + pause, 660 + pause + 101, 50, Ecn::NotEct);
            assert_eq!((again[0], codel.law.last_count()), (660 + pause + 100, expected));
        }
    }
}
