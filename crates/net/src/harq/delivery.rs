//! SDUs (packets) that the sender or the receiver of this direction still needs, and the delivery of these SDUs.
//!
//! RLC (LTE) or PDCP (NR) delivers SDUs in order. PDCP waits for a missing SDU for at most t-Reordering (TS 38.323
//! §5.2.2). At the timer's expiry, PDCP delivers the complete SDUs up to the highest SDU that was complete when the
//! timer started. PDCP skips the missing SDUs below that SDU.

use crate::counters::RlcCounters;
use crate::element::Output;
use crate::span::Span;
use lasthop_base::{Duration, Time};
use lasthop_wire::{LossReason, Packet};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveryOrder {
    /// RLC delivers SDUs in order. RLC waits for missing bytes until the bytes arrive or are given up.
    Rlc,
    /// PDCP delivers SDUs in order. PDCP waits for a missing SDU for at most this time (t-Reordering).
    Pdcp(Duration),
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeliveryState {
    Incomplete,
    /// The SDU is lost, but the receiver has not detected the loss.
    LostUnnoticed,
    /// The SDU has been complete since this time, and waits for earlier SDUs.
    Complete(Time),
    /// The SDU is delivered, or the receiver has detected that the SDU is lost.
    Done,
}

#[derive(Debug)]
pub(super) struct Sdu {
    packet: Packet,
    pub(super) bytes: Span,
    missing: u64,
    state: DeliveryState,
    /// Number of status reports that requested a retransmission of the SDU.
    pub(super) requests: u32,
    /// Time of the last status report that requested a retransmission of the SDU.
    pub(super) requested_at: Time,
}

#[derive(Debug)]
pub(super) struct Delivery {
    delay: Duration,
    order: DeliveryOrder,
    sdus: VecDeque<Sdu>,
    /// Number of the first SDU in `sdus`.
    base: u64,
    /// Number of the first SDU that is neither delivered nor skipped.
    next: u64,
    /// Number of the highest complete SDU, plus one.
    complete_end: u64,
    end: u64,
    waiting: u32,
    /// Number of the highest SDU that was complete when t-Reordering started, plus one. t-Reordering stops when all
    /// SDUs below this number are delivered or skipped.
    trigger: u64,
    /// Expiry of t-Reordering.
    deadline: Time,
    pub(super) counters: RlcCounters,
}

impl Delivery {
    pub(super) fn new(order: DeliveryOrder, delay: Duration) -> Delivery {
        Delivery {
            delay,
            order,
            sdus: VecDeque::new(),
            base: 0,
            next: 0,
            complete_end: 0,
            end: 0,
            waiting: 0,
            trigger: 0,
            deadline: Time::NEVER,
            counters: RlcCounters::default(),
        }
    }

    pub(super) fn delay(&self) -> Duration {
        self.delay
    }

    pub(super) fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Adds an SDU at its first transmission, and returns its byte range in the direction's stream.
    pub(super) fn push(&mut self, packet: Packet) -> Span {
        let bytes = Span { start: self.end, end: self.end + u64::from(packet.wire_bytes.max(1)) };
        self.end = bytes.end;
        let (missing, state) = (bytes.len(), DeliveryState::Incomplete);
        self.sdus.push_back(Sdu { packet, bytes, missing, state, requests: 0, requested_at: Time::NEVER });
        bytes
    }

    /// Returns the index of the SDU that contains this byte.
    pub(super) fn find(&self, byte: u64) -> usize {
        match self.sdus.front() {
            Some(sdu) if byte < sdu.bytes.end => 0,
            _ => self.sdus.partition_point(|sdu| sdu.bytes.end <= byte),
        }
    }

    pub(super) fn at(&mut self, index: usize) -> Option<&mut Sdu> {
        self.sdus.get_mut(index)
    }

    pub(super) fn count(&self) -> usize {
        self.sdus.len()
    }

    pub(super) fn receive(&mut self, at: Time, bytes: Span, out: &mut Vec<Output>) {
        let mut index = self.find(bytes.start);
        while let Some(sdu) = self.sdus.get_mut(index)
            && sdu.bytes.start < bytes.end
        {
            sdu.missing -= sdu.bytes.common(bytes).len();
            if sdu.missing == 0 && sdu.state == DeliveryState::Incomplete {
                self.complete(index, at, out);
            }
            index += 1;
        }
        self.advance(at, out);
    }

    fn complete(&mut self, index: usize, at: Time, out: &mut Vec<Output>) {
        let number = self.base + index as u64;
        self.complete_end = self.complete_end.max(number + 1);
        if self.order == DeliveryOrder::None {
            return self.deliver(index, at, at, out);
        }
        self.sdus[index].state = DeliveryState::Complete(at);
        self.waiting += 1;
        self.counters.largest_receiving = self.counters.largest_receiving.max(self.waiting);
    }

    fn deliver(&mut self, index: usize, at: Time, since: Time, out: &mut Vec<Output>) {
        let number = self.base + index as u64;
        let sdu = &mut self.sdus[index];
        sdu.state = DeliveryState::Done;
        out.push(Output::Arrives { packet: sdu.packet, at: at + self.delay });
        let waited = at.since(since);
        self.counters.delivered += 1;
        self.counters.waited += waited;
        self.counters.longest_wait = self.counters.longest_wait.max(waited);
        self.counters.late += u64::from(self.order == DeliveryOrder::None && number + 1 < self.complete_end);
    }

    /// Delivers the SDUs that are next in order, and starts or stops t-Reordering.
    fn advance(&mut self, at: Time, out: &mut Vec<Output>) {
        while let Some(sdu) = self.sdus.get((self.next - self.base) as usize) {
            match sdu.state {
                DeliveryState::Complete(since) => {
                    self.waiting -= 1;
                    self.deliver((self.next - self.base) as usize, at, since, out);
                }
                DeliveryState::Done => {}
                DeliveryState::Incomplete | DeliveryState::LostUnnoticed => break,
            }
            self.next += 1;
        }
        if let DeliveryOrder::Pdcp(wait) = self.order {
            if self.next >= self.trigger {
                self.deadline = Time::NEVER;
            }
            if self.waiting > 0 && self.deadline == Time::NEVER {
                (self.trigger, self.deadline) = (self.complete_end, at + wait);
            }
        }
    }

    pub(super) fn on_timeout(&mut self, out: &mut Vec<Output>) {
        let at = self.deadline;
        self.deadline = Time::NEVER;
        self.counters.reordering_timeouts += 1;
        while self.next < self.trigger {
            let index = (self.next - self.base) as usize;
            if let DeliveryState::Complete(since) = self.sdus[index].state {
                self.waiting -= 1;
                self.deliver(index, at, since, out);
            } else {
                self.skip_missing(index, at, out);
            }
            self.next += 1;
        }
        self.advance(at, out);
    }

    /// Skips a missing SDU, and outputs its loss.
    fn skip_missing(&mut self, index: usize, at: Time, out: &mut Vec<Output>) {
        let (sdu, at) = (&mut self.sdus[index], at + self.delay);
        match sdu.state {
            DeliveryState::LostUnnoticed => out.push(Output::LossNoticed { packet: sdu.packet, at }),
            DeliveryState::Incomplete => {
                self.counters.discarded += 1;
                out.push(Output::lost(sdu.packet, at, LossReason::Discarded));
            }
            DeliveryState::Complete(_) | DeliveryState::Done => return,
        }
        sdu.state = DeliveryState::Done;
    }

    /// Handles bytes that HARQ lost and that RLC does not retransmit. The receiver does not detect the loss yet.
    pub(super) fn lose_unnoticed(&mut self, bytes: Span, reason: LossReason, out: &mut Vec<Output>) {
        let from = self.find(bytes.start);
        for sdu in self.sdus.range_mut(from..).take_while(|sdu| sdu.bytes.start < bytes.end) {
            if sdu.state == DeliveryState::Incomplete {
                sdu.state = DeliveryState::LostUnnoticed;
                self.counters.discarded += 1;
                out.push(Output::lost(sdu.packet, Time::NEVER, reason));
            }
        }
    }

    /// Handles bytes that RLC gives up. If PDCP restores the order, the receiver's PDCP does not detect the loss yet.
    pub(super) fn abandon(&mut self, at: Time, bytes: Span, out: &mut Vec<Output>) {
        if let DeliveryOrder::Pdcp(_) = self.order {
            return self.lose_unnoticed(bytes, LossReason::Discarded, out);
        }
        let mut index = self.find(bytes.start);
        while self.sdus.get(index).is_some_and(|sdu| sdu.bytes.start < bytes.end) {
            self.skip_missing(index, at, out);
            index += 1;
        }
        self.advance(at, out);
    }

    /// Handles an SDU that the sender gives up. The sender announces the discard to the receiver.
    pub(super) fn discard(&mut self, index: usize, at: Time, out: &mut Vec<Output>) {
        self.skip_missing(index, at, out);
        self.advance(at, out);
    }

    /// Removes SDUs that neither end needs any longer. The sender needs no bytes before `released`.
    pub(super) fn remove_finished(&mut self, released: u64) {
        while self.base < self.next && self.sdus.front().is_some_and(|sdu| sdu.bytes.end <= released) {
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
        delivery: Delivery,
        out: Vec<Output>,
    }

    impl Fixture {
        /// Adds five SDUs of 10 bytes each. The propagation delay is 1 ms.
        fn new(order: DeliveryOrder) -> Fixture {
            let mut delivery = Delivery::new(order, MS);
            for number in 0..5 {
                assert_eq!(delivery.push(packet(number, 10)), span(10 * number, 10 * number + 10));
            }
            Fixture { delivery, out: Vec::new() }
        }

        fn receive(&mut self, now: u64, start: u64, end: u64) -> Vec<Fate> {
            self.delivery.receive(at(now), span(start, end), &mut self.out);
            fates(&mut self.out)
        }
    }

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    #[test]
    fn an_sdu_is_complete_with_its_last_byte() {
        let mut one = Fixture::new(DeliveryOrder::Rlc);
        assert_eq!(one.receive(1, 0, 9), []);
        assert_eq!(one.receive(2, 9, 12), [Arrives(0, at(3))]);
        assert_eq!(one.receive(3, 12, 30), [Arrives(1, at(4)), Arrives(2, at(4))]);
        let indices = [0, 9, 10, 29, 30, 49, 50].map(|byte| one.delivery.find(byte));
        assert_eq!(indices, [0, 0, 1, 2, 3, 4, 5]);
        assert_eq!(one.delivery.counters.delivered, 3);
        assert_eq!(one.delivery.push(packet(9, 0)).len(), 1, "an empty packet has one byte");
    }

    /// RLC holds complete SDUs back until all earlier SDUs are complete.
    #[test]
    fn rlc_delivers_in_order() {
        let mut one = Fixture::new(DeliveryOrder::Rlc);
        assert_eq!(one.receive(1, 10, 30), []);
        assert_eq!(one.receive(4, 30, 40), []);
        assert_eq!(one.receive(9, 0, 10), [0, 1, 2, 3].map(|number| Arrives(number, at(10))));
        let counters = one.delivery.counters;
        // SDUs 1 and 2 waited for 8 ms each, SDU 3 for 5 ms.
        assert_eq!((counters.waited, counters.longest_wait), (MS * 21, MS * 8));
        // The buffer holds SDU 0, too, when SDU 0 completes the order.
        assert_eq!((counters.largest_receiving, counters.late, counters.delivered), (4, 0, 4));
        assert_eq!(one.delivery.deadline(), Time::NEVER);
    }

    #[test]
    fn without_order_sdus_overtake() {
        let mut one = Fixture::new(DeliveryOrder::None);
        assert_eq!(one.receive(1, 10, 20), [Arrives(1, at(2))]);
        assert_eq!(one.receive(2, 0, 10), [Arrives(0, at(3))]);
        assert_eq!(one.receive(3, 20, 30), [Arrives(2, at(4))]);
        let counters = one.delivery.counters;
        assert_eq!((counters.late, counters.waited, counters.largest_receiving), (1, Duration::ZERO, 0));
    }

    /// TS 38.323 §5.2.2.2: t-Reordering starts with SDU 1, with SDU 1 as its trigger. At the expiry, SDU 0 is skipped.
    /// SDU 3 is complete, so that the timer restarts for SDU 2.
    #[test]
    fn pdcp_skips_a_missing_sdu_at_the_expiry() {
        let mut one = Fixture::new(DeliveryOrder::Pdcp(MS * 20));
        assert_eq!(one.receive(1, 10, 20), []);
        assert_eq!(one.delivery.deadline(), at(21));
        assert_eq!(one.receive(5, 30, 40), []);
        assert_eq!(one.delivery.deadline(), at(21));
        one.delivery.on_timeout(&mut one.out);
        assert_eq!(fates(&mut one.out), [Lost(0, at(22), LossReason::Discarded), Arrives(1, at(22))]);
        assert_eq!(one.delivery.deadline(), at(41));
        assert_eq!(one.receive(30, 20, 30), [Arrives(2, at(31)), Arrives(3, at(31))]);
        assert_eq!(one.delivery.deadline(), Time::NEVER);
        let counters = one.delivery.counters;
        assert_eq!((counters.reordering_timeouts, counters.discarded, counters.delivered), (1, 1, 3));
        // SDU 1 waited from 1 to 21 ms, SDU 3 from 5 to 30 ms.
        assert_eq!((counters.waited, counters.longest_wait), (MS * 45, MS * 25));
    }

    /// HARQ loses bytes of SDUs 0 and 1. The receiver notices the losses at the expiry of t-Reordering.
    #[test]
    fn unnoticed_losses_are_noticed_later() {
        let mut one = Fixture::new(DeliveryOrder::Pdcp(MS * 20));
        one.receive(1, 0, 10);
        one.delivery.lose_unnoticed(span(5, 20), LossReason::Channel, &mut one.out);
        assert_eq!(fates(&mut one.out), [Lost(1, Time::NEVER, LossReason::Channel)], "SDU 0 is delivered");
        one.delivery.abandon(at(2), span(10, 25), &mut one.out);
        assert_eq!(fates(&mut one.out), [Lost(2, Time::NEVER, LossReason::Discarded)]);
        assert_eq!(one.receive(3, 30, 40), []);
        one.delivery.on_timeout(&mut one.out);
        assert_eq!(fates(&mut one.out), [Noticed(1, at(24)), Noticed(2, at(24)), Arrives(3, at(24))]);
        assert_eq!(one.delivery.counters.discarded, 2);
    }

    /// RLC gives up bytes 15 to 30, a part of SDU 1 and the whole SDU 2. SDU 3 must not wait any longer.
    #[test]
    fn abandoned_bytes_are_skipped_at_once() {
        let mut one = Fixture::new(DeliveryOrder::Rlc);
        one.receive(1, 0, 10);
        assert_eq!(one.receive(2, 30, 40), []);
        one.delivery.abandon(at(5), span(15, 30), &mut one.out);
        let discarded = |number| Lost(number, at(6), LossReason::Discarded);
        assert_eq!(fates(&mut one.out), [discarded(1), discarded(2), Arrives(3, at(6))]);
        one.delivery.discard(4, at(7), &mut one.out);
        assert_eq!(fates(&mut one.out), [Lost(4, at(8), LossReason::Discarded)]);
        assert_eq!(one.delivery.counters.discarded, 3);
    }

    /// An SDU is removed as soon as the SDU is delivered and the sender has released all of its bytes.
    #[test]
    fn finished_sdus_are_removed() {
        let mut one = Fixture::new(DeliveryOrder::Rlc);
        one.receive(1, 0, 20);
        let mut count = |released| {
            one.delivery.remove_finished(released);
            one.delivery.count()
        };
        assert_eq!([count(9), count(10), count(19), count(50)], [5, 4, 4, 3]);
        assert_eq!(one.receive(2, 20, 30), [Arrives(2, at(3))], "numbers stay valid");
        assert_eq!(one.delivery.find(30), 1);
    }
}
