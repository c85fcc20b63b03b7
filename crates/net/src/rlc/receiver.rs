//! The receiving side. The receiver reassembles SDUs, and delivers them in order or after the reordering timer WT (koga
//! §4.4.2).
//!
//! A hole is a range of consecutive missing SDUs. The timer of a hole starts when a later SDU is complete. When the
//! timer expires, the receiver skips the hole, and delivers all complete SDUs up to the next hole. The next hole has
//! its own timer. If a skipped SDU still arrives, the receiver delivers the SDU as soon as it is complete.

use super::segmentation::Pdus;
use crate::counters::RlcCounters;
use crate::element::Output;
use lasthop_base::{Duration, Time};
use lasthop_wire::{LossReason, Packet};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReceptionState {
    Incomplete,
    /// The SDU will never arrive, but the receiver has not detected the loss. The sender has discarded the SDU, or has
    /// dropped the SDU because the sender's buffer was full.
    NeverArrives {
        is_sender_discard: bool,
    },
    /// The SDU has been complete since this time, and waits for earlier SDUs.
    Complete(Time),
    /// The SDU is delivered, or the receiver has detected that the SDU is lost.
    Done,
}

#[derive(Debug)]
struct Sdu {
    packet: Packet,
    pdus: Pdus,
    missing: u64,
    state: ReceptionState,
}

#[derive(Debug)]
pub(super) struct RlcReceiver {
    wait: Duration,
    sdus: VecDeque<Sdu>,
    /// Number of the first SDU in `sdus`.
    base: u64,
    /// Number of the first SDU that is neither delivered nor skipped.
    next: u64,
    waiting: u32,
    /// Number of skipped SDUs that may still arrive.
    holes: u32,
    /// Number of the highest SDU that was delivered, plus one.
    highest: u64,
    deadline: Time,
}

impl RlcReceiver {
    pub(super) fn new(wait: Duration) -> RlcReceiver {
        RlcReceiver {
            wait,
            sdus: VecDeque::new(),
            base: 0,
            next: 0,
            waiting: 0,
            holes: 0,
            highest: 0,
            deadline: Time::NEVER,
        }
    }

    /// Adds the next SDU. An SDU with an empty range of PDUs never arrives.
    pub(super) fn push(&mut self, packet: Packet, pdus: Pdus) {
        let state = if pdus.is_empty() {
            ReceptionState::NeverArrives { is_sender_discard: false }
        } else {
            ReceptionState::Incomplete
        };
        self.sdus.push_back(Sdu { packet, pdus, missing: pdus.len(), state });
    }

    /// Number of the first SDU that is neither delivered nor skipped.
    pub(super) fn first_undecided(&self) -> u64 {
        self.next
    }

    /// Removes the last SDU, of which no PDU was sent.
    pub(super) fn pop_last(&mut self) -> Option<Packet> {
        self.sdus.pop_back().map(|sdu| sdu.packet)
    }

    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Handles all expiries of WT up to and including `until`.
    pub(super) fn run_until(&mut self, until: Time, counters: &mut RlcCounters, out: &mut Vec<Output>) {
        while self.deadline <= until {
            counters.reordering_timeouts += u64::from(self.wait > Duration::ZERO);
            self.expire(self.deadline, counters, out);
        }
    }

    pub(super) fn on_pdus(
        &mut self,
        at: Time,
        pdus: Pdus,
        counters: &mut RlcCounters,
        out: &mut Vec<Output>,
    ) {
        let mut index = match self.sdus.front() {
            Some(sdu) if pdus.start < sdu.pdus.end => 0,
            _ => self.sdus.partition_point(|sdu| sdu.pdus.end <= pdus.start),
        };
        // Delivered SDUs may be removed from the front during this loop, so indices shift. SDU numbers stay valid.
        let mut number = self.base + index as u64;
        while number >= self.base
            && let Some(sdu) = self.sdus.get_mut((number - self.base) as usize)
            && sdu.pdus.start < pdus.end
        {
            index = (number - self.base) as usize;
            let common = sdu.pdus.common(pdus).len();
            sdu.missing = sdu.missing.saturating_sub(common);
            if common > 0 && sdu.missing == 0 && sdu.state == ReceptionState::Incomplete {
                self.complete(index, at, counters, out);
            }
            number += 1;
        }
        self.remove_finished();
    }

    /// Handles a discard by the sender. If `is_announced` is true, the receiver is notified of the discard now.
    /// Otherwise the loss is reported when WT expires, or never if the SDU was already skipped.
    pub(super) fn discard(
        &mut self,
        at: Time,
        number: u64,
        is_announced: bool,
        counters: &mut RlcCounters,
        out: &mut Vec<Output>,
    ) {
        let Some(index) = number.checked_sub(self.base) else { return };
        let Some(sdu) = self.sdus.get_mut(index as usize) else { return };
        if sdu.state != ReceptionState::Incomplete {
            return;
        }
        counters.discarded += 1;
        let noticed_at = if is_announced { at } else { Time::NEVER };
        out.push(Output::lost(sdu.packet, noticed_at, LossReason::Discarded));
        let is_skipped = number < self.next;
        sdu.state = if is_announced || is_skipped {
            ReceptionState::Done
        } else {
            ReceptionState::NeverArrives { is_sender_discard: true }
        };
        self.holes -= u32::from(is_skipped);
        if is_announced && number == self.next {
            self.advance(at, counters, out);
        }
        self.remove_finished();
    }

    fn complete(&mut self, index: usize, at: Time, counters: &mut RlcCounters, out: &mut Vec<Output>) {
        if self.base + (index as u64) < self.next {
            self.holes -= 1;
            return self.deliver(index, at, at, counters, out);
        }
        self.sdus[index].state = ReceptionState::Complete(at);
        self.waiting += 1;
        self.deadline = self.deadline.min(at + self.wait);
        self.advance(at, counters, out);
        while self.deadline <= at {
            self.expire(at, counters, out);
        }
        counters.largest_receiving = counters.largest_receiving.max(self.waiting);
    }

    /// Skips the missing SDUs before the first complete SDU, and delivers the SDUs that are then in order.
    fn expire(&mut self, at: Time, counters: &mut RlcCounters, out: &mut Vec<Output>) {
        while let Some(sdu) = self.sdus.get_mut((self.next - self.base) as usize) {
            match sdu.state {
                ReceptionState::Incomplete => self.holes += 1,
                ReceptionState::NeverArrives { is_sender_discard } => {
                    sdu.state = ReceptionState::Done;
                    if is_sender_discard {
                        out.push(Output::LossNoticed { packet: sdu.packet, at });
                    }
                }
                ReceptionState::Complete(_) => break,
                ReceptionState::Done => {}
            }
            self.next += 1;
        }
        self.advance(at, counters, out);
    }

    fn advance(&mut self, at: Time, counters: &mut RlcCounters, out: &mut Vec<Output>) {
        let before = self.next;
        while let Some(sdu) = self.sdus.get((self.next - self.base) as usize) {
            match sdu.state {
                ReceptionState::Complete(since) => {
                    self.waiting -= 1;
                    self.deliver((self.next - self.base) as usize, at, since, counters, out);
                }
                ReceptionState::Done => {}
                ReceptionState::Incomplete | ReceptionState::NeverArrives { .. } => break,
            }
            self.next += 1;
        }
        if self.next != before || self.waiting == 0 {
            self.deadline = self.earliest_wait().map_or(Time::NEVER, |since| since + self.wait);
        }
    }

    fn deliver(
        &mut self,
        index: usize,
        at: Time,
        since: Time,
        counters: &mut RlcCounters,
        out: &mut Vec<Output>,
    ) {
        let number = self.base + index as u64;
        let sdu = &mut self.sdus[index];
        sdu.state = ReceptionState::Done;
        out.push(Output::Arrives { packet: sdu.packet, at });
        let waited = at.since(since);
        counters.delivered += 1;
        counters.waited += waited;
        counters.longest_wait = counters.longest_wait.max(waited);
        counters.behind_gap += u64::from(self.holes > 0);
        counters.late += u64::from(number < self.highest);
        self.highest = self.highest.max(number + 1);
    }

    /// Returns the time at which the first of the waiting complete SDUs became complete.
    fn earliest_wait(&self) -> Option<Time> {
        if self.waiting == 0 {
            return None;
        }
        let from = (self.next - self.base) as usize;
        let since = |sdu: &Sdu| match sdu.state {
            ReceptionState::Complete(since) => Some(since),
            _ => None,
        };
        self.sdus.iter().skip(from).filter_map(since).min()
    }

    fn remove_finished(&mut self) {
        while self.base < self.next && self.sdus.front().is_some_and(|sdu| sdu.state == ReceptionState::Done)
        {
            self.sdus.pop_front();
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fate::{Arrives, Lost, Noticed};
    use crate::testing::{Fate, MS, at, fates, packet};

    struct Fixture {
        receiver: RlcReceiver,
        counters: RlcCounters,
        out: Vec<Output>,
    }

    impl Fixture {
        /// A receiver with this reordering timer (WT), and six SDUs with two PDUs each. SDU 4 never entered the
        /// sender's buffer, so its range of PDUs is empty, and SDU 5 has PDUs 8 and 9.
        fn new(wait: u64) -> Fixture {
            let mut receiver = RlcReceiver::new(MS * wait);
            for (number, pdus) in [(0, 2), (2, 4), (4, 6), (6, 8), (8, 8), (8, 10)].into_iter().enumerate() {
                receiver.push(packet(number as u64, 80), Pdus { start: pdus.0, end: pdus.1 });
            }
            Fixture { receiver, counters: RlcCounters::default(), out: Vec::new() }
        }

        fn receive(&mut self, now: u64, start: u64, end: u64) -> Vec<Fate> {
            self.receiver.on_pdus(at(now), Pdus { start, end }, &mut self.counters, &mut self.out);
            fates(&mut self.out)
        }

        fn discard(&mut self, now: u64, number: u64, is_announced: bool) -> Vec<Fate> {
            self.receiver.discard(at(now), number, is_announced, &mut self.counters, &mut self.out);
            fates(&mut self.out)
        }

        fn run(&mut self, until: u64) -> Vec<Fate> {
            self.receiver.run_until(at(until), &mut self.counters, &mut self.out);
            fates(&mut self.out)
        }
    }

    #[test]
    fn sdus_in_order_are_delivered_at_once() {
        let mut one = Fixture::new(100);
        assert_eq!(one.receive(1, 0, 1), []);
        assert_eq!(one.receive(2, 1, 3), [Arrives(0, at(2))]);
        assert_eq!(one.receive(3, 3, 6), [Arrives(1, at(3)), Arrives(2, at(3))]);
        assert_eq!(one.receive(4, 3, 6), [], "duplicates have no effect");
        assert_eq!((one.receiver.deadline(), one.receiver.sdus.len()), (Time::NEVER, 3));
        let counters = one.counters;
        assert_eq!((counters.delivered, counters.waited, counters.largest_receiving), (3, Duration::ZERO, 0));
        assert_eq!((counters.late, counters.behind_gap, counters.reordering_timeouts), (0, 0, 0));
    }

    /// SDUs 1 and 2 wait for SDU 0. WT runs from the first complete SDU.
    #[test]
    fn sdus_wait_for_earlier_sdus() {
        let mut one = Fixture::new(100);
        assert_eq!(one.receive(10, 4, 6), []);
        assert_eq!(one.receive(12, 2, 4), []);
        assert_eq!(one.receiver.deadline(), at(110));
        assert_eq!(one.run(109), []);
        assert_eq!(one.receive(20, 0, 2), [0, 1, 2].map(|number| Arrives(number, at(20))));
        assert_eq!(one.receiver.deadline(), Time::NEVER);
        // SDU 1 waited for 8 ms, SDU 2 for 10 ms.
        let counters = one.counters;
        assert_eq!((counters.waited, counters.longest_wait), (MS * 18, MS * 10));
        assert_eq!((counters.largest_receiving, counters.delivered, counters.late), (2, 3, 0));
    }

    /// WT expires at 110 ms for the hole before SDU 1. SDU 3 waits behind the hole of SDU 2, and WT for this hole
    /// expires 100 ms after SDU 3 was complete. The skipped SDU 0 arrives late.
    #[test]
    fn each_hole_has_its_own_timer() {
        let mut one = Fixture::new(100);
        one.receive(10, 2, 4);
        one.receive(50, 6, 8);
        assert_eq!(one.run(110), [Arrives(1, at(110))]);
        assert_eq!(one.receiver.deadline(), at(150));
        assert_eq!((one.counters.reordering_timeouts, one.counters.behind_gap), (1, 1));
        assert_eq!(one.receive(120, 0, 2), [Arrives(0, at(120))]);
        assert_eq!((one.counters.late, one.counters.behind_gap), (1, 1), "no hole is left");
        assert_eq!(one.run(150), [Arrives(3, at(150))]);
        assert_eq!(one.receive(160, 4, 6), [Arrives(2, at(160))]);
        let counters = one.counters;
        assert_eq!((counters.reordering_timeouts, counters.late, counters.behind_gap), (2, 2, 2));
        assert_eq!((counters.delivered, counters.waited), (4, MS * 200));
        // SDU 4 never arrives. WT for SDU 5 skips SDU 4 without a notice, because the sender dropped the packet.
        assert_eq!(one.receive(200, 8, 10), []);
        assert_eq!(one.run(300), [Arrives(5, at(300))]);
        assert_eq!((one.receiver.next, one.receiver.deadline()), (6, Time::NEVER));
        assert_eq!(one.receive(301, 8, 10), []);
        assert!(one.receiver.sdus.is_empty() && one.receiver.base == 6);
    }

    /// Without WT, complete SDUs do not wait, and no timer expires.
    #[test]
    fn without_wait_sdus_overtake() {
        let mut one = Fixture::new(0);
        assert_eq!(one.receive(10, 4, 6), [Arrives(2, at(10))]);
        assert_eq!(one.receive(11, 0, 2), [Arrives(0, at(11))]);
        assert_eq!(one.receive(12, 2, 4), [Arrives(1, at(12))]);
        let counters = one.counters;
        assert_eq!((counters.late, counters.behind_gap, counters.reordering_timeouts), (2, 2, 0));
        assert_eq!(counters.largest_receiving, 0);
    }

    /// An announced discard ends the wait for the SDU. A discard of a delivered or unknown SDU has no effect.
    #[test]
    fn announced_discards_end_the_wait() {
        let mut one = Fixture::new(100);
        one.receive(10, 2, 4);
        assert_eq!(one.discard(15, 2, true), [Lost(2, at(15), LossReason::Discarded)]);
        assert_eq!(one.discard(20, 0, true), [Lost(0, at(20), LossReason::Discarded), Arrives(1, at(20))]);
        assert_eq!((one.receiver.next, one.receiver.deadline()), (3, Time::NEVER));
        assert_eq!(one.discard(21, 1, true), []);
        assert_eq!(one.discard(21, 99, true), []);
        assert_eq!(one.receive(22, 4, 8), [Arrives(3, at(22))]);
        assert_eq!(one.counters.discarded, 2);
    }

    /// An unannounced discard is noticed when WT expires. If the SDU was skipped before, no notice follows.
    #[test]
    fn unannounced_discards_are_noticed_at_the_expiry() {
        let mut one = Fixture::new(100);
        assert_eq!(one.discard(5, 0, false), [Lost(0, Time::NEVER, LossReason::Discarded)]);
        assert_eq!(one.receive(10, 2, 4), []);
        assert_eq!(one.run(110), [Noticed(0, at(110)), Arrives(1, at(110))]);
        assert_eq!(one.counters.behind_gap, 0, "a discarded SDU is no hole");
        one.receive(120, 6, 8);
        assert_eq!(one.run(220), [Arrives(3, at(220))]);
        assert_eq!(one.counters.behind_gap, 1, "SDU 2 is a hole");
        assert_eq!(one.discard(230, 2, false), [Lost(2, Time::NEVER, LossReason::Discarded)]);
        assert_eq!(one.receive(240, 8, 10), []);
        assert_eq!(one.run(340), [Arrives(5, at(340))]);
        assert_eq!((one.counters.behind_gap, one.counters.discarded), (1, 2));
    }
}
