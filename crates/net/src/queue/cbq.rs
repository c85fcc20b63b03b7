//! Class-based queueing (CBQ): traffic classes with allocated rates, priorities and borrowing (Floyd and Van Jacobson,
//! Link-sharing and Resource Management Models, IEEE/ACM ToN 3(4), 1995).
//!
//! There are two classes, TCP segments and datagrams. The link's allocated rate is the sum of the two classes' rates.
//! For each class, CBQ keeps an average idle time. An idle time is the time by which a packet of the class leaves later
//! than it would at the allocated rate. When the average becomes negative, the class is over its limit until the
//! average would be zero again. Nested classes are not modelled.
//!
//! The formal link-sharing guidelines (§3) decide which classes may send. A class may send if it is not over its limit.
//! A class over its limit may send only if it may borrow, the link is not over its limit, and every other class with a
//! backlog is over its limit. Among classes that may send, the class with the highest priority is served. Classes of
//! equal priority share the link in proportion to their rates.

use super::{Build, Dropped, Queue};
use crate::discipline::Discipline;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Rate, Time, Unit, Values};
use lasthop_wire::{Backlog, Body, LossReason, Packet};
use std::collections::VecDeque;

const PACKETS: Unit = Unit::Count(1, 1_000_000_000);
const PRIORITY: Unit = Unit::Count(1, 8);

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "cbq",
        summary: "classes (TCP, datagrams) with allocated rates, priorities and borrowing",
        source: "Floyd and Van Jacobson, ToN 3(4), 1995; koga §3.2",
        parameters: &[
            Parameter {
                name: "tcp_rate",
                unit: Unit::Rate,
                default: Some("70 Mbit/s"),
                doc: "rate allocated to TCP",
            },
            Parameter {
                name: "datagram_rate",
                unit: Unit::Rate,
                default: Some("30 Mbit/s"),
                doc: "rate allocated to datagrams; the sum of this rate and TCP's rate is the link's rate",
            },
            Parameter {
                name: "tcp_priority",
                unit: PRIORITY,
                default: Some("2"),
                doc: "priority of TCP: 1 is served first",
            },
            Parameter {
                name: "datagram_priority",
                unit: PRIORITY,
                default: Some("1"),
                doc: "priority of datagrams: 1 is served first",
            },
            Parameter {
                name: "tcp_borrows",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "TCP may use capacity that datagrams leave unused",
            },
            Parameter {
                name: "datagram_borrows",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "datagrams may use capacity that TCP leaves unused",
            },
            Parameter {
                name: "packets",
                unit: PACKETS,
                default: Some("200"),
                doc: "queue limit of a class, packets, without the packet in transmission",
            },
            Parameter {
                name: "weight",
                unit: Unit::Number(1e-6, 1.0),
                default: Some("0.0625"),
                doc: "weight of the latest idle time in the average (1/16)",
            },
            Parameter {
                name: "max_burst",
                unit: Unit::Count(1, 10_000),
                default: Some("16"),
                doc: "largest back-to-back burst of a class after a long pause, packets",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, _| Discipline::scheduled(Cbq::new(values)),
};

struct Cbq {
    /// The class of TCP segments, then the class of datagrams.
    classes: [Class; 2],
    link: Estimator,
    limit: usize,
}

struct Class {
    packets: VecDeque<Packet>,
    bytes: u64,
    priority: u64,
    borrows: bool,
    estimator: Estimator,
    /// Time in s that all bytes of the class served so far take at the allocated rate. Among classes of equal priority,
    /// the class with the smallest value sends next.
    served: f64,
}

impl Cbq {
    fn new(values: &Values) -> Cbq {
        let (tcp, datagrams) = (values.rate("tcp_rate"), values.rate("datagram_rate"));
        let link = Rate::from_bps(tcp.bps().saturating_add(datagrams.bps()));
        let weight = values.number("weight");
        let burst = values.count("max_burst");
        let class = |rate, priority, borrows| Class {
            packets: VecDeque::new(),
            bytes: 0,
            priority: values.count(priority),
            borrows: values.flag(borrows),
            estimator: Estimator::new(rate, link, weight, burst),
            served: 0.0,
        };
        Cbq {
            classes: [
                class(tcp, "tcp_priority", "tcp_borrows"),
                class(datagrams, "datagram_priority", "datagram_borrows"),
            ],
            link: Estimator::new(link, link, weight, burst),
            limit: usize::try_from(values.count("packets")).unwrap_or(usize::MAX),
        }
    }

    fn is_another_unsatisfied(&self, at: usize, now: Time) -> bool {
        let mut others = self.classes.iter().enumerate().filter(|(other, _)| *other != at);
        others.any(|(_, class)| !class.packets.is_empty() && !class.estimator.is_over(now))
    }

    fn may_send(&self, at: usize, now: Time) -> bool {
        let class = &self.classes[at];
        !class.estimator.is_over(now)
            || (class.borrows && !self.link.is_over(now) && !self.is_another_unsatisfied(at, now))
    }

    fn next_class(&self, now: Time) -> Option<usize> {
        let waiting = |at: &usize| !self.classes[*at].packets.is_empty();
        (0..self.classes.len()).filter(waiting).filter(|at| self.may_send(*at, now)).min_by(|one, other| {
            let (one, other) = (&self.classes[*one], &self.classes[*other]);
            one.priority.cmp(&other.priority).then(one.served.total_cmp(&other.served))
        })
    }
}

impl Queue for Cbq {
    fn enqueue(&mut self, _: Time, packet: Packet, dropped: &mut Dropped) {
        let at = match packet.body {
            Body::Tcp(_) => 0,
            _ => 1,
        };
        if self.classes[at].packets.len() >= self.limit {
            dropped.push((packet, LossReason::QueueFull));
            return;
        }
        if self.classes[at].packets.is_empty() {
            // A class gets no compensation for the turns that it missed while it was idle.
            let least = self.classes.iter().filter(|class| !class.packets.is_empty());
            let least = least.map(|class| class.served).fold(f64::INFINITY, f64::min);
            if least.is_finite() {
                self.classes[at].served = self.classes[at].served.max(least);
            }
        }
        self.classes[at].bytes += u64::from(packet.wire_bytes);
        self.classes[at].packets.push_back(packet);
    }

    fn dequeue(&mut self, now: Time, _: &mut Dropped) -> Option<Packet> {
        let at = self.next_class(now)?;
        let class = &mut self.classes[at];
        let bytes = u64::from(class.packets.front()?.wire_bytes);
        class.bytes -= bytes;
        let leaves = now + self.link.timing_of(bytes).service_time;
        class.served += class.estimator.timing_of(bytes).due;
        class.estimator.on_sent(leaves, bytes);
        self.link.on_sent(leaves, bytes);
        class.packets.pop_front()
    }

    /// Returns the earliest time at which a waiting class may send. At that time, the class or the link from which it
    /// borrows is no longer over its limit. Call this function only while no class may send.
    fn ready_at(&self, now: Time) -> Time {
        let waiting = self.classes.iter().filter(|class| !class.packets.is_empty());
        let recovers = waiting.map(|class| {
            if class.borrows {
                class.estimator.recovers.min(self.link.recovers)
            } else {
                class.estimator.recovers
            }
        });
        recovers.filter(|at| *at > now).min().unwrap_or(Time::NEVER)
    }

    fn backlog(&self) -> Backlog {
        Backlog {
            waiting: self.classes.iter().map(|class| class.packets.len() as u32).sum(),
            in_service: false,
            bytes: self.classes.iter().map(|class| class.bytes).sum(),
        }
    }

    fn draws(&self) -> bool {
        false
    }
}

/// Estimator of the average idle time of a class or of the link (Floyd and Van Jacobson, appendix A).
struct Estimator {
    rate: Rate,
    weight: f64,
    /// Average idle time in s, at most [`PacketTiming::largest`].
    idle: f64,
    /// Factor by which the weight of an old average decreases in `max_burst` packets: (1 - `weight`)^`max_burst`.
    decay: f64,
    share: f64,
    left: Time,
    /// Time until which the class, or the link, is over its limit.
    recovers: Time,
    timing: PacketTiming,
}

#[derive(Clone, Copy)]
struct PacketTiming {
    bytes: u64,
    /// Transmission time of a packet of `bytes` at the allocated rate.
    service_time: Duration,
    /// `service_time` in s.
    due: f64,
    largest: f64,
}

/// Tolerance in s for the clock's resolution. Without this tolerance, rounding could put a busy link over its limit.
const GRAIN: f64 = 2e-9;

impl Estimator {
    fn new(rate: Rate, link: Rate, weight: f64, burst: u64) -> Estimator {
        let burst = i32::try_from(burst).unwrap_or(i32::MAX);
        Estimator {
            rate,
            weight,
            idle: 0.0,
            decay: libm::pow(1.0 - weight, f64::from(burst)),
            share: rate.bps() as f64 / link.bps().max(1) as f64,
            left: Time::ZERO,
            recovers: Time::ZERO,
            timing: PacketTiming { bytes: 0, service_time: Duration::ZERO, due: 0.0, largest: 0.0 },
        }
    }

    fn is_over(&self, now: Time) -> bool {
        now < self.recovers
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn on_sent(&mut self, leaves: Time, bytes: u64) {
        let PacketTiming { due, largest, .. } = self.timing_of(bytes);
        let latest = leaves.since(self.left).as_secs() - due;
        let average = self.idle + self.weight * (latest - self.idle);
        self.idle = if average < largest { average } else { largest };
        self.left = leaves;
        self.recovers = if self.idle < -GRAIN {
            // If the next packet leaves `wait` after this packet, the average becomes zero.
            let wait = due - self.idle * (1.0 - self.weight) / self.weight;
            leaves + Duration::from_secs_f64((wait - due * self.share).max(0.0))
        } else {
            Time::ZERO
        };
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn timing_of(&mut self, bytes: u64) -> PacketTiming {
        if self.timing.bytes != bytes {
            self.timing = self.compute_timing(bytes);
        }
        self.timing
    }

    #[cold]
    fn compute_timing(&self, bytes: u64) -> PacketTiming {
        let service_time = self.rate.time_for(bytes);
        let due = service_time.as_secs();
        PacketTiming { bytes, service_time, due, largest: self.largest(due) }
    }

    /// Returns the largest average idle time in s, which the literature calls maxidle. With this average, `max_burst`
    /// packets of this size can leave back to back after a pause (Floyd, Notes on Class-Based Queueing: Setting
    /// Parameters, 1996).
    fn largest(&self, due: f64) -> f64 {
        let excess = due * (1.0 - self.share);
        (excess * (1.0 - self.decay) / self.decay).max(due * self.share * self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Value;
    use lasthop_wire::{Ecn, FlowId, Segment};

    const SIZE: u32 = 500;

    fn packet(tcp: bool) -> Packet {
        let body = if tcp { Body::Tcp(Segment::default()) } else { Body::Datagram { number: 0 } };
        Packet {
            number: 0,
            flow: FlowId(0),
            route: 0,
            wire_bytes: SIZE,
            forward: true,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn: Ecn::NotEct,
            priority: Default::default(),
            hop: 0,
            enqueued_at: Time::ZERO,
            body,
        }
    }

    fn cbq(changes: &[(&'static str, Value)]) -> Cbq {
        let mut values = MECHANISM.info.defaults();
        for (name, value) in changes {
            values.set(name, value.clone());
        }
        Cbq::new(&values)
    }

    /// Returns each class's throughput in Mbit/s in the first second. At each dequeue, at least `offered[0]` TCP
    /// packets and `offered[1]` datagrams wait.
    fn run(mut cbq: Cbq, offered: [usize; 2]) -> [f64; 2] {
        let link = Rate::from_bps(100_000_000);
        let end = Time::ZERO + Duration::from_secs(1);
        let (mut now, mut served, mut dropped) = (Time::ZERO, [0.0; 2], Vec::new());
        while now < end {
            for (class, least) in offered.into_iter().enumerate() {
                while cbq.classes[class].packets.len() < least {
                    cbq.enqueue(now, packet(class == 0), &mut dropped);
                }
            }
            match cbq.dequeue(now, &mut dropped) {
                Some(packet) => {
                    served[usize::from(!matches!(packet.body, Body::Tcp(_)))] += f64::from(8 * SIZE) / 1e6;
                    now += link.time_for(u64::from(SIZE));
                }
                None => {
                    let ready = cbq.ready_at(now);
                    assert!(ready > now, "`ready_at` must be in the future");
                    now = ready.min(end);
                }
            }
        }
        assert!(dropped.is_empty());
        served
    }

    #[test]
    fn saturated_classes_get_what_they_were_allocated() {
        for priorities in [(2, 1), (1, 2), (1, 1)] {
            let changes = [
                ("tcp_priority", Value::Count(priorities.0)),
                ("datagram_priority", Value::Count(priorities.1)),
            ];
            let [tcp, datagrams] = run(cbq(&changes), [50, 50]);
            assert!((tcp - 70.0).abs() < 1.4 && (datagrams - 30.0).abs() < 1.4, "{tcp} {datagrams}");
            assert!((tcp + datagrams - 100.0).abs() < 0.1, "{tcp} {datagrams}");
        }
    }

    #[test]
    fn an_idle_class_lends_all_its_rate() {
        let [tcp, datagrams] = run(cbq(&[]), [50, 0]);
        assert!((tcp - 100.0).abs() < 0.1 && datagrams == 0.0, "{tcp}");
        let [_, datagrams] = run(cbq(&[]), [0, 50]);
        assert!((datagrams - 100.0).abs() < 0.1, "{datagrams}");
    }

    #[test]
    fn who_may_not_borrow_keeps_to_the_allocation() {
        let [tcp, _] = run(cbq(&[("tcp_borrows", Value::Flag(false))]), [50, 0]);
        assert!((tcp - 70.0).abs() < 1.4, "{tcp}");
        let [tcp, datagrams] = run(cbq(&[("datagram_borrows", Value::Flag(false))]), [0, 50]);
        // The estimator lets two packets pass, and then makes the class wait for only 15/16 of the time by which the
        // packets were early. The rate is therefore up to (1/32) (1 - 0.3) = 2.2 % too high, where 0.3 is the class's
        // share of the link.
        assert!((datagrams - 30.0).abs() < 0.9 && tcp == 0.0, "{datagrams}");
    }

    #[test]
    fn within_its_allocation_the_higher_priority_goes_first() {
        let mut cbq = cbq(&[]);
        let mut dropped = Vec::new();
        for _ in 0..10 {
            cbq.enqueue(Time::ZERO, packet(true), &mut dropped);
        }
        for _ in 0..3 {
            cbq.enqueue(Time::ZERO, packet(false), &mut dropped);
        }
        let mut now = Time::ZERO + Duration::from_millis(100);
        let mut kinds = Vec::new();
        while let Some(packet) = cbq.dequeue(now, &mut dropped) {
            kinds.push(matches!(packet.body, Body::Tcp(_)));
            now += Rate::from_bps(100_000_000).time_for(u64::from(SIZE));
        }
        assert_eq!(kinds[..4], [false, false, false, true]);
        assert_eq!(kinds.len(), 13);
    }

    #[test]
    fn a_class_has_its_own_room() {
        let mut cbq = cbq(&[("packets", Value::Count(2))]);
        let mut dropped = Vec::new();
        for tcp in [true, true, true, false, false, false] {
            cbq.enqueue(Time::ZERO, packet(tcp), &mut dropped);
        }
        assert_eq!(cbq.backlog().waiting, 4);
        assert_eq!(cbq.backlog().bytes, 4 * u64::from(SIZE));
        assert!(dropped.iter().map(|(packet, _)| packet.segment().is_some()).eq([true, false]));
    }

    #[test]
    fn the_average_of_idle_times_by_hand() {
        // The class is allocated 30 Mbit/s of a link of 100 Mbit/s. Packets of 500 bytes take 133.3 us at the allocated
        // rate and 40 us on the link. The weight is 1/16.
        let link = Rate::from_bps(100_000_000);
        let mut class = Estimator::new(Rate::from_bps(30_000_000), link, 1.0 / 16.0, 16);
        let start = Time::ZERO + Duration::from_secs(1);
        class.on_sent(start, 500);
        // After a pause, the average must be maxidle = (133.3 us - 40 us) ((16/15)^16 - 1) = 168.8 us.
        let largest = 93.333e-6 * (libm::pow(16.0 / 15.0, 16.0) - 1.0);
        assert!((class.idle - largest).abs() < 5e-9, "{}", class.idle);
        // Each of the next 16 packets leaves 93.3 us early, back to back. The packets must reduce the average to zero.
        let mut now = start;
        for _ in 0..16 {
            assert!(!class.is_over(now));
            now += Duration::from_micros(40);
            class.on_sent(now, 500);
        }
        assert!(class.idle.abs() < 5e-9, "{}", class.idle);
        now += Duration::from_micros(40);
        class.on_sent(now, 500);
        assert!(class.is_over(now) && class.idle < 0.0);
        // A packet that leaves at the time of recovery must raise the average to zero.
        let again = class.recovers;
        class.on_sent(again + Duration::from_micros(40), 500);
        assert!(class.idle.abs() < 2e-9, "{}", class.idle);
    }

    /// The backlog counts the packets and bytes of both classes. A class of two packets drops the third. The class has
    /// sent 1000 of 2000 bytes.
    #[test]
    fn the_backlog_counts_what_waits() {
        let values = MECHANISM.info.defaults().with("packets", Value::Count(2));
        let (mut cbq, mut dropped) = (Cbq::new(&values), Dropped::new());
        for number in 0..3 {
            cbq.enqueue(Time::ZERO, crate::queue::testing::packet(number, 0, Ecn::NotEct), &mut dropped);
        }
        let waits = |waiting, bytes| Backlog { waiting, in_service: false, bytes };
        assert_eq!((cbq.backlog(), dropped.len()), (waits(2, 2000), 1));
        assert_eq!(cbq.ready_at(Time::ZERO), Time::NEVER, "a packet may be sent at once");
        assert!(cbq.dequeue(Time::ZERO, &mut dropped).is_some());
        assert_eq!(cbq.backlog(), waits(1, 1000));
    }
}
