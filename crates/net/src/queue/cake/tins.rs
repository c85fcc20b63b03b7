//! Tins: CAKE's classes of traffic. The DSCP of a packet selects the tin, and each tin has flow queues of its own.
//!
//! With a shaper, each tin has a threshold, which is a share of the shaper's rate. The next packet is from the tin with
//! the highest priority among the tins below their thresholds. If all backlogged tins are above their thresholds, the
//! next packet is from the tin that falls below its threshold first. A tin may use the whole rate that other tins leave
//! unused. Without a shaper, tins share the link by deficit round robin, in proportion to their thresholds.
//!
//! The quantum of a tin's flows, the target and the interval follow from the tin's threshold, as those of a single tin
//! follow from the shaper's rate. Rules and figures are those of sch_cake.c (Linux 5.9 and later) and tc-cake(8).
//!
//! # Not modelled
//! The queue does not change the DSCP (`wash`). Firewall marks and `skb->priority` do not select a tin.

use super::division::Division;
use super::{Cake, Dropped, QUEUES, Queue};
use crate::discipline::Hosts;
use lasthop_base::{Duration, Rate, Stream, Time, Values};
use lasthop_wire::{Backlog, Packet};

/// CAKE with two or more tins.
pub(super) struct Tins {
    tins: Vec<Tin>,
    tin_of: fn(u8) -> usize,
    rate: Option<Rate>,
    overhead: u64,
    memory: u64,
    next_at: Time,
    /// Index of the tin that has the turn, without a shaper.
    current: usize,
}

struct Tin {
    /// Flow queues, without a shaper and without a memory limit of their own.
    flows: Cake,
    /// Threshold; `None` without a shaper.
    rate: Option<Rate>,
    /// Time from which the tin is below its threshold.
    next_at: Time,
    /// Bytes per turn.
    quantum: i64,
    /// Bytes that the tin may still send in its current turn.
    deficit: i64,
}

impl Tins {
    /// Returns `None` if the parameter `tins` selects a single tin.
    pub(super) fn new(
        values: &Values,
        rate: Option<Rate>,
        random: &Stream,
        hosts: Option<&Hosts>,
    ) -> Option<Tins> {
        let division = Division::named(values.word("tins"))?;
        let quanta = division.shares(division.quantum);
        let rates = rate.map(|rate| division.shares(rate.bps()));
        let tin = |(index, quantum): (usize, u64)| {
            let rate = rates.as_ref().map(|rates| Rate::from_bps(rates[index]));
            let random = Stream::named(random.clone().draw(), &format!("tin.{index}"));
            let flows = Cake::new(values, rate, QUEUES, random).between(values, hosts.cloned());
            Tin {
                flows: Cake { rate: None, memory: u64::MAX, ..flows },
                rate,
                next_at: Time::ZERO,
                quantum: quantum as i64,
                deficit: 0,
            }
        };
        Some(Tins {
            tins: quanta.into_iter().enumerate().map(tin).collect(),
            tin_of: division.tin_of,
            rate,
            overhead: values.bytes("overhead"),
            memory: values.bytes("memory"),
            next_at: Time::ZERO,
            current: 0,
        })
    }

    fn bytes(&self) -> u64 {
        self.tins.iter().map(|tin| tin.flows.flows.bytes()).sum()
    }

    /// Returns the backlogged tin that is next with a shaper: the tin with the highest priority among the tins below
    /// their thresholds; otherwise the tin that falls below its threshold first.
    fn next_by_threshold(&self, now: Time) -> Option<usize> {
        let active = self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active());
        // `min_by_key` returns the first of several equal tins: the tin with the highest priority.
        active.rev().min_by_key(|(_, tin)| tin.next_at.max(now)).map(|(index, _)| index)
    }

    /// Returns the backlogged tin that is next by deficit round robin.
    fn next_by_turn(&mut self) -> Option<usize> {
        if !self.tins.iter().any(Tin::is_active) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.is_active() {
                return Some(self.current);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }
}

impl Tin {
    /// Whether the tin has a flow with packets, or a flow whose turn has not ended.
    fn is_active(&self) -> bool {
        self.flows.flows.active() > 0
    }

    /// Charges a packet to the tin. Below its threshold, a tin keeps the time in which it sent less than its threshold.
    fn charge(&mut self, now: Time, bytes: u64) {
        self.deficit -= bytes as i64;
        let duration = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes));
        self.next_at =
            if self.next_at < now { self.next_at + duration } else { self.next_at.max(now + duration) };
    }
}

impl Queue for Tins {
    fn enqueue(&mut self, now: Time, packet: Packet, dropped: &mut Dropped) {
        let tin = &mut self.tins[(self.tin_of)(packet.priority.dscp())];
        if tin.flows.flows.waiting() == 0 {
            tin.next_at = tin.next_at.max(now);
        }
        tin.flows.enqueue(now, packet, dropped);
        while self.bytes() > self.memory {
            let longest = self.tins.iter_mut().max_by_key(|tin| tin.flows.longest_bytes());
            if !longest.is_some_and(|tin| tin.flows.drop_from_longest(now, dropped)) {
                break;
            }
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Packet> {
        if now < self.next_at {
            return None;
        }
        loop {
            let next = if self.rate.is_some() { self.next_by_threshold(now) } else { self.next_by_turn() };
            let tin = &mut self.tins[next?];
            if let Some(packet) = tin.flows.dequeue(now, dropped) {
                let bytes = u64::from(packet.wire_bytes) + self.overhead;
                tin.charge(now, bytes);
                if let Some(rate) = self.rate {
                    self.next_at = self.next_at.max(now) + rate.time_for(bytes);
                }
                return Some(packet);
            }
        }
    }

    fn ready_at(&self, now: Time) -> Time {
        let is_backlogged = self.tins.iter().any(|tin| tin.flows.flows.waiting() > 0);
        if is_backlogged && self.next_at > now { self.next_at } else { Time::NEVER }
    }

    fn backlog(&self) -> Backlog {
        let waiting = self.tins.iter().map(|tin| tin.flows.flows.waiting()).sum();
        Backlog { waiting, in_service: false, bytes: self.bytes() }
    }

    fn marks(&self) -> bool {
        self.tins.iter().any(|tin| tin.flows.marks())
    }

    fn needs_hosts(&self) -> bool {
        self.tins.iter().any(|tin| tin.flows.needs_hosts())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::packet;
    use super::super::MECHANISM;
    use super::*;
    use lasthop_base::Value;
    use lasthop_wire::{Ecn, LossReason, Priority};

    const BEST_EFFORT: u8 = 0;
    const CS1: u8 = 8;
    const AF41: u8 = 34;
    const EF: u8 = 46;

    /// Tins on a link of 8 Mbit/s, which transmits a packet of 1000 bytes in 1 ms.
    fn tins(word: &'static str, has_shaper: bool) -> Tins {
        let mut values = MECHANISM.info.defaults();
        values.set("tins", Value::Word(word));
        // No packet is dropped in these tests, so that shares depend on the scheduler only.
        values.set("target", Value::Duration(Duration::from_secs(100)));
        values.set("memory", Value::Bytes(1_000_000_000));
        let rate = has_shaper.then(|| Rate::from_bps(8_000_000));
        Tins::new(&values, rate, &Stream::named(1, "queue"), None).expect("two or more tins")
    }

    fn marked(number: u64, dscp: u8) -> Packet {
        Packet { priority: Priority::of_dscp(dscp), ..packet(number, u32::from(dscp), Ecn::NotEct) }
    }

    /// Enqueues 2000 packets with each DSCP, dequeues `count` packets, one per millisecond, and returns the number of
    /// packets with each DSCP.
    fn shares<const N: usize>(mut tins: Tins, dscps: [u8; N], count: u64) -> [u64; N] {
        let mut dropped = Dropped::new();
        for number in 0..2000 {
            dscps.iter().for_each(|dscp| tins.enqueue(Time::ZERO, marked(number, *dscp), &mut dropped));
        }
        let mut shares = [0; N];
        for millis in 0..count {
            let now = Time::ZERO + Duration::from_millis(millis);
            let packet = tins.dequeue(now, &mut dropped).expect("the shaper allows a packet per millisecond");
            let index = dscps.iter().position(|dscp| *dscp == packet.priority.dscp()).expect("known");
            shares[index] += 1;
        }
        assert!(dropped.is_empty());
        shares
    }

    /// Below its threshold of 1/16 of the rate, Bulk has priority over Best Effort; above, Best Effort has priority.
    /// Voice and Video likewise get their thresholds, 1/4 and 1/2. The first packet of a tin is early: one packet more.
    #[test]
    fn backlogged_tins_get_their_thresholds() {
        let nearly = |shares: &[u64], expected: &[u64]| {
            for (share, expected) in shares.iter().zip(expected) {
                assert!(share.abs_diff(*expected) <= 3, "{shares:?}, expected {expected}");
            }
        };
        nearly(&shares(tins("diffserv4", true), [BEST_EFFORT, CS1], 1600), &[1500, 100]);
        nearly(&shares(tins("diffserv3", true), [BEST_EFFORT, EF], 1600), &[1200, 400]);
        let all = shares(tins("diffserv4", true), [BEST_EFFORT, CS1, AF41, EF], 1600);
        nearly(&all, &[300, 100, 800, 400]);
    }

    /// Without a shaper, the weights are 1024, 64, 512 and 256.
    #[test]
    fn without_a_shaper_tins_share_in_proportion_to_their_thresholds() {
        let shares = shares(tins("diffserv4", false), [BEST_EFFORT, CS1, AF41, EF], 1856);
        for (share, weight) in shares.iter().zip([1024, 64, 512, 256]) {
            assert!(share.abs_diff(weight) <= 3, "{shares:?}");
        }
    }

    /// A single backlogged tin gets the whole rate, also above its threshold.
    #[test]
    fn a_tin_uses_the_rate_that_others_leave() {
        assert_eq!(shares(tins("diffserv4", true), [CS1], 1600), [1600]);
        assert_eq!(shares(tins("diffserv4", false), [CS1], 1600), [1600]);
    }

    /// An idle tin collects no right to a later burst: after 1 s without packets, 100 voice packets wait for their
    /// threshold of 1/4 like any others.
    #[test]
    fn an_idle_tin_gets_no_burst() {
        let (mut tins, mut dropped) = (tins("diffserv4", true), Dropped::new());
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        for number in 0..2000 {
            tins.enqueue(at(0), marked(number, BEST_EFFORT), &mut dropped);
        }
        (0..1000).for_each(|millis| assert!(tins.dequeue(at(millis), &mut dropped).is_some()));
        (0..100).for_each(|number| tins.enqueue(at(1000), marked(number, EF), &mut dropped));
        let mut next = |millis| tins.dequeue(at(millis), &mut dropped).map(|packet| packet.priority.dscp());
        let voice = (1000..1040).filter(|millis| next(*millis) == Some(EF));
        assert_eq!(voice.count(), 10);
    }

    /// sch_cake, `cake_set_rate`: at the threshold 1/16 of 8 Mbit/s, a packet of 1500 bytes takes 24 ms. The target is
    /// one and a half times as long, and the quantum has its lower limit.
    #[test]
    fn target_and_quantum_follow_from_the_threshold() {
        let mut values = MECHANISM.info.defaults();
        values.set("tins", Value::Word("diffserv4"));
        let rate = Some(Rate::from_bps(8_000_000));
        let tins = Tins::new(&values, rate, &Stream::named(1, "queue"), None).expect("four tins");
        let targets = tins.tins.iter().map(|tin| tin.flows.parameters.target.as_nanos() / 1000);
        assert_eq!(targets.collect::<Vec<_>>(), [5000, 36_000, 5000, 9000]);
        let quanta = Tins::new(&values, Some(Rate::from_bps(100_000_000)), &Stream::named(1, "queue"), None);
        let quanta = quanta.expect("four tins").tins.into_iter().map(|tin| tin.flows.quantum);
        // 12.5, 6.25 and 3.125 MB/s are 3051, 1525 and 762 times 4096 bytes/s.
        assert_eq!(quanta.collect::<Vec<_>>(), [1500, 300, 1500, 762]);
    }

    /// The memory limit is common to all tins. Above the limit, packets of the longest queue are dropped.
    #[test]
    fn the_memory_limit_drops_from_the_longest_queue_of_all_tins() {
        let (mut tins, mut dropped) = (tins("diffserv4", true), Dropped::new());
        tins.memory = 10_000;
        (0..3).for_each(|number| tins.enqueue(Time::ZERO, marked(number, EF), &mut dropped));
        (0..9).for_each(|number| tins.enqueue(Time::ZERO, marked(number, CS1), &mut dropped));
        let fates: Vec<_> =
            dropped.iter().map(|(packet, reason)| (packet.priority.dscp(), *reason)).collect();
        assert_eq!(fates, [(CS1, LossReason::QueueFull); 2]);
        assert_eq!(tins.backlog(), Backlog { waiting: 10, in_service: false, bytes: 10_000 });
    }
}
