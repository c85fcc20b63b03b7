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
