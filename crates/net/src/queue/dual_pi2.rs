//! DualPI2: two queues share one transmitter, and L4S traffic uses the queue with the short delay (RFC 9332, appendix
//! A).
//!
//! Packets marked ECT(1) or CE enter the L (low-latency) queue, all other packets the C (classic) queue. A
//! proportional-integral controller derives a base probability p' from the delay. Packets of the C queue are dropped or
//! marked with probability p'^2. Packets of the L queue are marked with probability k p', where k is the coupling
//! factor, or if their delay exceeds a threshold. A flow of the L queue and a flow of the C queue then get about the
//! same rate.
//!
//! For each packet, a random number is drawn, as in Linux. The RFC's pseudocode instead adds up probabilities
//! (`recur`). p' is updated only when a packet arrives or leaves, once for each update interval that has ended since
//! the last update. The rules are those of the RFC's pseudocode (from memory), with details of Linux's sch_dualpi2.

use super::fifo::{Front, PacketFifo};
use super::{Build, Dropped, Queue};
use crate::admission::mark;
use crate::discipline::Discipline;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Stream, Time, Unit, Values};
use lasthop_wire::{Backlog, LossReason, Packet};

const LONGEST: Duration = Duration::from_secs(100);

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "dualpi2",
        summary: "two coupled queues: a target of 1 ms for L4S packets, and of 15 ms for all others",
        source: "RFC 9332 appendix A; defaults as Linux's (tc-dualpi2(8))",
        parameters: &[
            Parameter {
                name: "target",
                unit: Unit::Duration(Duration::from_micros(1), LONGEST),
                default: Some("15 ms"),
                doc: "target delay of the controller",
            },
            Parameter {
                name: "update",
                unit: Unit::Duration(Duration::from_micros(100), LONGEST),
                default: Some("16 ms"),
                doc: "time between two updates of the probability (Tupdate)",
            },
            Parameter {
                name: "alpha",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("0.16"),
                doc: "integral gain: change of p' per update for each second by which the delay exceeds the \
                      target, Hz",
            },
            Parameter {
                name: "beta",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("3.2"),
                doc: "proportional gain: change of p' per update for each second by which the delay has grown, Hz",
            },
            Parameter {
                name: "coupling",
                unit: Unit::Number(0.1, 100.0),
                default: Some("2"),
                doc: "k: the marking probability is k p' in the L queue and p'^2 in the C queue",
            },
            Parameter {
                name: "step",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("1 ms"),
                doc: "delay above which L packets are marked",
            },
            Parameter {
                name: "step_packets",
                unit: Unit::Count(0, 1_000_000),
                default: Some("1"),
                doc: "smallest number of L packets that must wait behind a packet that `step` marks; at low rates, \
                      the transmission of one packet takes longer than `step`",
            },
            Parameter {
                name: "classic_share",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0.1"),
                doc: "share of the C queue while both queues have packets (weighted round robin)",
            },
            Parameter {
                name: "overload",
                unit: Unit::Word(&["drop", "mark"]),
                default: Some("drop"),
                doc: "action if k p' reaches 1: drop in both queues with probability p'^2, or only mark until \
                      the queue is full",
            },
            Parameter {
                name: "packets",
                unit: Unit::Count(0, 1_000_000_000),
                default: Some("10000"),
                doc: "limit of both queues together, packets, without the packet in transmission; 0: no limit",
            },
            Parameter {
                name: "mtu",
                unit: Unit::Bytes(1, 65_535),
                default: Some("1500 bytes"),
                doc: "packet size: the controller neither drops nor marks while less than two packets of this \
                      size wait",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, context| Discipline::scheduled(DualPi2::new(values, context.random)),
};

struct DualPi2 {
    target: Duration,
    update: Duration,
    alpha: f64,
    beta: f64,
    coupling: f64,
    step: Duration,
    step_packets: usize,
    classic_share: f64,
    drops_overload: bool,
    limit: usize,
    mtu: u64,
    random: Stream,
    classic: PacketFifo,
    low: PacketFifo,
    base: f64,
    /// Delay at the last update, s.
    last_delay: f64,
    updates_at: Time,
    /// Number of bytes that the C queue may still send for its share of the link. If the number is negative, the C
    /// queue has sent more than its share.
    classic_credit: f64,
}

impl DualPi2 {
    fn new(values: &Values, random: Stream) -> DualPi2 {
        DualPi2 {
            target: values.duration("target"),
            update: values.duration("update"),
            alpha: values.number("alpha"),
            beta: values.number("beta"),
            coupling: values.number("coupling"),
            step: values.duration("step"),
            step_packets: values.count("step_packets") as usize,
            classic_share: values.number("classic_share"),
            drops_overload: values.word("overload") == "drop",
            limit: match values.count("packets") {
                0 => usize::MAX,
                packets => packets as usize,
            },
            mtu: values.bytes("mtu"),
            random,
            classic: PacketFifo::default(),
            low: PacketFifo::default(),
            base: 0.0,
            last_delay: 0.0,
            updates_at: Time::ZERO,
            classic_credit: 0.0,
        }
    }

    /// Runs `dualpi2_update` (RFC 9332, appendix A.1) once for each update interval up to `now`. As soon as p' and the
    /// delay are zero, the remaining updates are skipped.
    fn advance(&mut self, now: Time) {
        while self.updates_at <= now {
            let delay =
                self.classic.head_delay(self.updates_at).max(self.low.head_delay(self.updates_at)).as_secs();
            self.update_controller(delay);
            self.updates_at += self.update;
            if self.base == 0.0 && delay == 0.0 && self.updates_at <= now {
                let missed = now.since(self.updates_at).as_nanos() / self.update.as_nanos();
                self.updates_at += self.update * missed;
            }
        }
    }

    fn update_controller(&mut self, delay: f64) {
        let change = self.alpha * (delay - self.target.as_secs()) + self.beta * (delay - self.last_delay);
        // If overload does not cause drops, p' is limited to 1/k, so that the marking probability k p' is at most 1.
        let max = if self.drops_overload { 1.0 } else { 1.0 / self.coupling };
        self.base = (self.base + change).clamp(0.0, max);
        self.last_delay = delay;
    }

    /// The scheduler (RFC 9332 §4.2.2): the L queue has priority, except for the C queue's share of the link.
    fn next_is_low(&self) -> bool {
        !self.low.is_empty() && (self.classic.is_empty() || self.classic_credit <= 0.0)
    }

    fn draw(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.random.uniform() < probability
    }

    /// Decides whether a packet of the C queue is dropped or marked. Marks the packet if needed; returns false if the
    /// caller must drop the packet.
    fn passes_classic(&mut self, packet: &mut Packet) -> bool {
        if self.is_short() || !self.draw(self.base * self.base) {
            return true;
        }
        // If p'^2 is at least 1/k^2 (25 % for k = 2), ECN-capable packets are dropped instead of marked (RFC 9332,
        // appendix A.2).
        let overload = self.coupling * self.base >= 1.0 && self.drops_overload;
        !overload && mark(packet)
    }

    /// Decides whether a packet of the L queue, which arrived at `arrived_at`, is dropped or marked. Marks the packet
    /// if needed; returns false if the caller must drop the packet.
    fn passes_low(&mut self, now: Time, arrived_at: Time, packet: &mut Packet) -> bool {
        if !self.is_short() {
            let likelihood = self.coupling * self.base;
            if likelihood >= 1.0 && self.drops_overload && self.draw(self.base * self.base) {
                return false;
            }
            if self.draw(likelihood) {
                mark(packet);
            }
        }
        if now.since(arrived_at) > self.step && self.low.len() >= self.step_packets {
            mark(packet);
        }
        true
    }

    fn is_short(&self) -> bool {
        self.classic.bytes() + self.low.bytes() < 2 * self.mtu
    }
}

impl Queue for DualPi2 {
    fn enqueue(&mut self, now: Time, packet: Packet, dropped: &mut Dropped) {
        self.advance(now);
        if self.classic.len() + self.low.len() >= self.limit {
            return dropped.push((packet, LossReason::QueueFull));
        }
        if packet.ecn.is_l4s() { self.low.push(now, packet) } else { self.classic.push(now, packet) }
    }

    /// Implements `dualpi2_dequeue` (RFC 9332, appendices A.1 and A.2).
    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Packet> {
        self.advance(now);
        loop {
            let is_low = self.next_is_low();
            // The packet must leave its queue before [`DualPi2::is_short`] is called, because `is_short` must count
            // only the packets that remain.
            let waiting = if is_low { &mut self.low } else { &mut self.classic };
            let (arrived_at, mut packet) = waiting.pop()?;
            let bytes = f64::from(packet.wire_bytes);
            let stays = if is_low {
                self.passes_low(now, arrived_at, &mut packet)
            } else {
                self.passes_classic(&mut packet)
            };
            if !stays {
                dropped.push((packet, LossReason::EarlyDrop));
                continue;
            }
            if is_low && !self.classic.is_empty() {
                self.classic_credit += self.classic_share * bytes;
            } else if !is_low && !self.low.is_empty() {
                self.classic_credit -= (1.0 - self.classic_share) * bytes;
            }
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        let waiting = (self.classic.len() + self.low.len()) as u32;
        Backlog { waiting, in_service: false, bytes: self.classic.bytes() + self.low.bytes() }
    }

    fn marks(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Value;
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

    fn dual(settings: &[(&'static str, Value)]) -> DualPi2 {
        let mut values = MECHANISM.info.defaults();
        settings.iter().for_each(|(name, value)| values.set(name, value.clone()));
        DualPi2::new(&values, Stream::named(1, "queue"))
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + MS * millis
    }

    /// Returns two shares of `count` packets with the code point `ecn`: the share that is marked, and the share that is
    /// dropped. The base probability is fixed, and ten packets wait at each dequeue.
    fn fates(base: f64, ecn: Ecn, count: u32, settings: &[(&'static str, Value)]) -> (f64, f64) {
        let still = [("alpha", Value::Number(0.0)), ("beta", Value::Number(0.0))];
        let mut dual = dual(&[settings, &still].concat());
        dual.base = base;
        let (mut dropped, mut marked) = (Dropped::new(), 0);
        let mut left = 0;
        while left + (dropped.len() as u32) < count {
            while dual.backlog().waiting < 10 {
                dual.enqueue(at(1), packet(ecn), &mut dropped);
            }
            if let Some(packet) = dual.dequeue(at(1), &mut dropped) {
                left += 1;
                marked += u32::from(packet.ecn == Ecn::Ce);
            }
        }
        (f64::from(marked) / f64::from(count), dropped.len() as f64 / f64::from(count))
    }

    fn is_near(share: f64, p: f64) -> bool {
        (share - p).abs() <= 4.0 * (p * (1.0 - p) / 20_000.0).sqrt() + 1e-9
    }

    /// RFC 9332 §2.1: the C queue must mark with probability p'^2, the L queue with probability k p'. Packets that are
    /// not ECN-capable must be dropped instead of marked.
    #[test]
    fn the_two_queues_are_coupled_by_a_square() {
        for base in [0.05, 0.2, 0.4] {
            let of = |ecn| fates(base, ecn, 20_000, &[]);
            let (low, ect0, not) = (of(Ecn::Ect1), of(Ecn::Ect0), of(Ecn::NotEct));
            assert!(is_near(low.0, 2.0 * base) && low.1 == 0.0, "{base} {low:?}");
            assert!(is_near(ect0.0, base * base) && ect0.1 == 0.0, "{base} {ect0:?}");
            assert!(is_near(not.1, base * base) && not.0 == 0.0, "{base} {not:?}");
        }
    }

    /// RFC 9332, appendix A.2: if k p' is at least 1 (for k = 2, if p'^2 is at least 25 %), both queues must drop
    /// packets with probability p'^2. The other packets of the L queue must be marked.
    #[test]
    fn overload_drops_whatever_the_code_point() {
        let of = |ecn| fates(0.6, ecn, 20_000, &[]);
        let (low, ect0) = (of(Ecn::Ect1), of(Ecn::Ect0));
        assert!(is_near(low.1, 0.36) && is_near(low.0, 0.64), "{low:?}");
        assert!(is_near(ect0.1, 0.36) && ect0.0 == 0.0, "{ect0:?}");
        // Overload must already apply at exactly k p' = 1 (p_Lmax in the RFC).
        let (low, ect0) = (fates(0.5, Ecn::Ect1, 20_000, &[]), fates(0.5, Ecn::Ect0, 20_000, &[]));
        assert!(is_near(low.1, 0.25) && is_near(low.0, 0.75), "{low:?}");
        assert!(is_near(ect0.1, 0.25) && ect0.0 == 0.0, "{ect0:?}");
        let marked = fates(0.5, Ecn::Ect1, 20_000, &[("overload", Value::Word("mark"))]);
        assert_eq!(marked, (1.0, 0.0));
    }

    /// The delay is 25 ms, 10 ms above the target. The first update must add alpha * 10 ms + beta * 25 ms, and each
    /// further update alpha * 10 ms (RFC 9332, appendix A.1).
    #[test]
    fn the_controller_integrates() {
        let mut dual = dual(&[]);
        dual.update_controller(0.025);
        let first = 0.16 * 0.010 + 3.2 * 0.025;
        assert!((dual.base - first).abs() < 1e-12);
        for _ in 0..10 {
            dual.update_controller(0.025);
        }
        assert!((dual.base - (first + 10.0 * 0.16 * 0.010)).abs() < 1e-12);
        (0..1000).for_each(|_| dual.update_controller(0.0));
        assert_eq!(dual.base, 0.0);
    }

    /// An L packet that has waited for more than a millisecond must be marked while another L packet waits behind it.
    #[test]
    fn the_step_marks_by_waiting_time() {
        let mut dropped = Dropped::new();
        for (waited, marked) in [(1, false), (2, true)] {
            let mut dual = dual(&[]);
            (0..2).for_each(|_| dual.enqueue(at(10), packet(Ecn::Ect1), &mut dropped));
            let first = dual.dequeue(at(10 + waited), &mut dropped).expect("a packet");
            assert_eq!(first.ecn == Ecn::Ce, marked);
            let last = dual.dequeue(at(10 + waited), &mut dropped).expect("a packet");
            assert_eq!(last.ecn, Ecn::Ect1);
        }
    }

    /// While both queues have packets, the C queue must get a tenth of the link.
    #[test]
    fn nobody_starves() {
        let (mut dual, mut dropped) = (dual(&[]), Dropped::new());
        let mut classic = 0;
        for _ in 0..1000 {
            for ecn in [Ecn::Ect1, Ecn::NotEct] {
                while dual.backlog().waiting < 20 || dual.classic.len() < 5 {
                    dual.enqueue(at(1), packet(ecn), &mut dropped);
                    if ecn == Ecn::Ect1 && dual.low.len() > 15 {
                        break;
                    }
                }
            }
            let packet = dual.dequeue(at(1), &mut dropped).expect("a packet");
            classic += u32::from(packet.ecn == Ecn::NotEct);
        }
        assert_eq!(classic, 100);
    }

    #[test]
    fn silence_is_caught_up_with() {
        let (mut dual, mut dropped) = (dual(&[]), Dropped::new());
        dual.base = 0.9;
        dual.enqueue(at(100_000_000), packet(Ecn::Ect0), &mut dropped);
        assert_eq!(dual.base, 0.0);
        assert!(dual.updates_at > at(100_000_000) && dual.updates_at <= at(100_000_016));
    }
}
