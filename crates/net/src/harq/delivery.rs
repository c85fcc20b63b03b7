//! SDUs (packets) of a direction that one of its ends still needs, and their delivery.
//!
//! RLC (LTE) or PDCP (NR) keeps the order, PDCP for at most t-Reordering (TS 38.323 §5.2.2): then all complete SDUs
//! before the highest one at the timer's start are delivered, and missing ones are skipped.

use crate::counters::Counters;
use crate::element::Output;
use crate::span::Span;
use lasthop_base::{Duration, Time};
use lasthop_wire::{LossReason, Packet};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// RLC, until missing bytes arrive or are given up.
    Rlc,
    /// PDCP, for at most this time.
    Pdcp(Duration),
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Coming,
    /// Lost; the receiver does not know.
    Missed,
    /// Complete since then, waiting for earlier SDUs.
    Whole(Time),
    /// Delivered, or known to be lost.
    Done,
}

#[derive(Debug)]
pub(super) struct Sdu {
    packet: Packet,
    pub(super) bytes: Span,
    missing: u64,
    state: State,
    /// Number of requests to retransmit, and the last status with one.
    pub(super) repeats: u32,
    pub(super) asked: Time,
}

#[derive(Debug)]
pub(super) struct Delivery {
    delay: Duration,
    order: Order,
    sdus: VecDeque<Sdu>,
    /// Numbers of the first SDU kept and the first unfinished one here; one past the highest complete one.
    base: u64,
    next: u64,
    top: u64,
    end: u64,
    waiting: u32,
    /// SDU that started t-Reordering, and the timer's end.
    trigger: u64,
    deadline: Time,
    pub(super) counters: Counters,
}

impl Delivery {
    pub(super) fn new(order: Order, delay: Duration) -> Delivery {
        Delivery {
            delay,
            order,
            sdus: VecDeque::new(),
            base: 0,
            next: 0,
            top: 0,
            end: 0,
            waiting: 0,
            trigger: 0,
            deadline: Time::NEVER,
            counters: Counters::default(),
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Adds an SDU at its first transmission; returns its bytes.
    pub(super) fn push(&mut self, packet: Packet) -> Span {
        let bytes = Span { start: self.end, end: self.end + u64::from(packet.wire_bytes.max(1)) };
        self.end = bytes.end;
        let (missing, state) = (bytes.len(), State::Coming);
        self.sdus.push_back(Sdu { packet, bytes, missing, state, repeats: 0, asked: Time::NEVER });
        bytes
    }

    /// Index of the SDU with this byte.
    pub(super) fn find(&self, byte: u64) -> usize {
        match self.sdus.front() {
            Some(sdu) if byte < sdu.bytes.end => 0,
            _ => self.sdus.partition_point(|sdu| sdu.bytes.end <= byte),
        }
    }

    pub(super) fn at(&mut self, place: usize) -> Option<&mut Sdu> {
        self.sdus.get_mut(place)
    }

    pub(super) fn count(&self) -> usize {
        self.sdus.len()
    }

    pub(super) fn receive(&mut self, at: Time, bytes: Span, out: &mut Vec<Output>) {
        let mut place = self.find(bytes.start);
        while let Some(sdu) = self.sdus.get_mut(place)
            && sdu.bytes.start < bytes.end
        {
            sdu.missing -= sdu.bytes.common(bytes).len();
            if sdu.missing == 0 && sdu.state == State::Coming {
                self.complete(place, at, out);
            }
            place += 1;
        }
        self.advance(at, out);
    }

    fn complete(&mut self, place: usize, at: Time, out: &mut Vec<Output>) {
        let number = self.base + place as u64;
        self.top = self.top.max(number + 1);
        if self.order == Order::None {
            return self.hand_up(place, at, at, out);
        }
        self.sdus[place].state = State::Whole(at);
        self.waiting += 1;
        self.counters.largest_receiving = self.counters.largest_receiving.max(self.waiting);
    }

    fn hand_up(&mut self, place: usize, at: Time, since: Time, out: &mut Vec<Output>) {
        let number = self.base + place as u64;
        let sdu = &mut self.sdus[place];
        sdu.state = State::Done;
        out.push(Output::Arrives { packet: sdu.packet, at: at + self.delay });
        let waited = at.since(since);
        self.counters.delivered += 1;
        self.counters.waited += waited;
        self.counters.longest_wait = self.counters.longest_wait.max(waited);
        self.counters.late += u64::from(self.order == Order::None && number + 1 < self.top);
    }

    /// Delivers SDUs in order, and starts or stops t-Reordering.
    fn advance(&mut self, at: Time, out: &mut Vec<Output>) {
        while let Some(sdu) = self.sdus.get((self.next - self.base) as usize) {
            match sdu.state {
                State::Whole(since) => {
                    self.waiting -= 1;
                    self.hand_up((self.next - self.base) as usize, at, since, out);
                }
                State::Done => {}
                State::Coming | State::Missed => break,
            }
            self.next += 1;
        }
        if let Order::Pdcp(wait) = self.order {
            if self.next >= self.trigger {
                self.deadline = Time::NEVER;
            }
            if self.waiting > 0 && self.deadline == Time::NEVER {
                (self.trigger, self.deadline) = (self.top, at + wait);
            }
        }
    }

    pub(super) fn expire(&mut self, out: &mut Vec<Output>) {
        let at = self.deadline;
        self.deadline = Time::NEVER;
        self.counters.reordering_timeouts += 1;
        while self.next < self.trigger {
            let place = (self.next - self.base) as usize;
            if let State::Whole(since) = self.sdus[place].state {
                self.waiting -= 1;
                self.hand_up(place, at, since, out);
            } else {
                self.end_wait(place, at, out);
            }
            self.next += 1;
        }
        self.advance(at, out);
    }

    /// Skips a missing SDU, and outputs the loss.
    fn end_wait(&mut self, place: usize, at: Time, out: &mut Vec<Output>) {
        let (sdu, at) = (&mut self.sdus[place], at + self.delay);
        match sdu.state {
            State::Missed => out.push(Output::GivenUp { packet: sdu.packet, at }),
            State::Coming => {
                self.counters.discarded += 1;
                out.push(Output::gone(sdu.packet, at, LossReason::Discarded));
            }
            State::Whole(_) | State::Done => return,
        }
        sdu.state = State::Done;
    }

    /// Bytes that HARQ lost will not be retransmitted; the receiver does not know.
    pub(super) fn miss(&mut self, bytes: Span, reason: LossReason, out: &mut Vec<Output>) {
        let from = self.find(bytes.start);
        for sdu in self.sdus.range_mut(from..).take_while(|sdu| sdu.bytes.start < bytes.end) {
            if sdu.state == State::Coming {
                sdu.state = State::Missed;
                self.counters.discarded += 1;
                out.push(Output::gone(sdu.packet, Time::NEVER, reason));
            }
        }
    }

    /// RLC gives these bytes up; if PDCP keeps the order, PDCP does not know.
    pub(super) fn give_up(&mut self, at: Time, bytes: Span, out: &mut Vec<Output>) {
        if let Order::Pdcp(_) = self.order {
            return self.miss(bytes, LossReason::Discarded, out);
        }
        let mut place = self.find(bytes.start);
        while self.sdus.get(place).is_some_and(|sdu| sdu.bytes.start < bytes.end) {
            self.end_wait(place, at, out);
            place += 1;
        }
        self.advance(at, out);
    }

    /// The sender gives an SDU up and announces that.
    pub(super) fn discard(&mut self, place: usize, at: Time, out: &mut Vec<Output>) {
        self.end_wait(place, at, out);
        self.advance(at, out);
    }

    /// Removes SDUs finished at both ends; the sender has finished all bytes before `released`.
    pub(super) fn forget(&mut self, released: u64) {
        while self.base < self.next && self.sdus.front().is_some_and(|sdu| sdu.bytes.end <= released) {
            self.sdus.pop_front();
            self.base += 1;
        }
    }
}
