//! The sending side: contents of a block, retransmissions and discards.

use super::segmentation::Pdus;
use super::status::PDUS_IN_PAIR;
use crate::across::Status;
use crate::counters::Counters;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

/// Consecutive PDUs with the same number of earlier transmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) pdus: Pdus,
    pub(super) attempt: u32,
}

/// Condition to discard an SDU (TS 25.322 §9.7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discard {
    Retransmissions(u32),
    Timer(Duration),
    Never,
}

#[derive(Debug)]
struct Sdu {
    pdus: Pdus,
    bytes: u32,
    joined: Time,
    unacknowledged: u64,
    /// Whether the SDU counts in the buffer.
    held: bool,
    /// Discarded, or never in the buffer.
    gone: bool,
}

#[derive(Debug)]
pub(super) struct Transmitter {
    discard: Discard,
    /// Whether an SDU counts until it is acknowledged, rather than until its last PDU was sent once.
    holds_sent: bool,
    sdus: VecDeque<Sdu>,
    /// Number of the first SDU kept.
    base: u64,
    /// Number of the first SDU whose last PDU was not sent yet.
    sending: u64,
    /// PDUs never sent.
    fresh: Pdus,
    again: VecDeque<Run>,
    /// Whether status reports cover PDUs, instead of one report per PDU.
    polls: bool,
    /// Outcomes not reported yet, by time of the report or, with polled status, of arrival.
    acknowledgements: VecDeque<(Time, Pdus)>,
    losses: VecDeque<(Time, Run)>,
    held: u32,
    held_bytes: u64,
    missing: Vec<Pdus>,
}

impl Transmitter {
    pub(super) fn new(discard: Discard, holds_sent: bool, polls: bool) -> Transmitter {
        Transmitter {
            polls,
            missing: Vec::new(),
            discard,
            holds_sent,
            sdus: VecDeque::new(),
            base: 0,
            sending: 0,
            fresh: Pdus::default(),
            again: VecDeque::new(),
            acknowledgements: VecDeque::new(),
            losses: VecDeque::new(),
            held: 0,
            held_bytes: 0,
        }
    }

    pub(super) fn held(&self) -> (u32, u64) {
        (self.held, self.held_bytes)
    }

    pub(super) fn fresh(&self) -> u64 {
        self.fresh.start
    }

    /// Adds an SDU; without PDUs only its number.
    pub(super) fn push(&mut self, now: Time, bytes: u32, pdus: Pdus, counters: &mut Counters) {
        let gone = pdus.is_empty();
        self.sdus.push_back(Sdu { pdus, bytes, joined: now, unacknowledged: pdus.len(), held: !gone, gone });
        if !gone {
            self.fresh.end = pdus.end;
            self.held += 1;
            self.held_bytes += u64::from(bytes);
            counters.largest_sending = counters.largest_sending.max(self.held);
        }
    }

    pub(super) fn ready(&self) -> u64 {
        self.again.iter().map(|run| run.pdus.len()).sum::<u64>() + self.fresh.len()
    }

    /// Fills a block of `room` PDUs, retransmissions first. Returns whether the block has the last retransmission or
    /// the last new PDU; `more_wait`: packets wait before the buffer.
    pub(super) fn fill(&mut self, mut room: u64, more_wait: bool, block: &mut Vec<Run>) -> bool {
        let before = (!self.again.is_empty(), !self.fresh.is_empty());
        while room > 0
            && let Some(run) = self.again.front_mut()
        {
            let taken = run.pdus.len().min(room);
            let pdus = Pdus { start: run.pdus.start, end: run.pdus.start + taken };
            block.push(Run { pdus, attempt: run.attempt });
            run.pdus.start += taken;
            room -= taken;
            if run.pdus.is_empty() {
                self.again.pop_front();
            }
        }
        let taken = self.fresh.len().min(room);
        if taken > 0 {
            let pdus = Pdus { start: self.fresh.start, end: self.fresh.start + taken };
            block.push(Run { pdus, attempt: 0 });
            self.fresh.start += taken;
            self.note_sent();
        }
        (before.0 && self.again.is_empty()) || (before.1 && self.fresh.is_empty() && !more_wait)
    }

    /// Notes a run's report at `at`, or its arrival with polled status; `at` never decreases.
    pub(super) fn report(&mut self, at: Time, run: Run, lost: bool) {
        if lost { self.losses.push_back((at, run)) } else { self.acknowledgements.push_back((at, run.pdus)) }
    }

    #[inline]
    pub(super) fn settle(&mut self, now: Time) {
        if self.polls {
            return;
        }
        if self.acknowledgements.front().is_some_and(|(at, _)| *at <= now) {
            self.settle_due(now);
        }
        self.forget();
    }

    #[inline(never)]
    fn settle_due(&mut self, now: Time) {
        while let Some((at, pdus)) = self.acknowledgements.front().copied()
            && at <= now
        {
            self.acknowledgements.pop_front();
            self.acknowledge(pdus);
        }
    }

    fn acknowledge(&mut self, pdus: Pdus) {
        let mut index = self.find(pdus.start);
        while let Some(sdu) = self.sdus.get_mut(index)
            && sdu.pdus.start < pdus.end
        {
            sdu.unacknowledged = sdu.unacknowledged.saturating_sub(sdu.pdus.common(pdus).len());
            if sdu.unacknowledged == 0 {
                self.release(index);
            }
            index += 1;
        }
    }

    /// Handles PDUs reported lost by `now`; numbers of discarded SDUs go to `discarded`.
    pub(super) fn repeat(&mut self, now: Time, discarded: &mut Vec<u64>) {
        while let Some((at, run)) = self.losses.front().copied()
            && at <= now
            && !self.polls
        {
            self.losses.pop_front();
            self.repeat_run(run, discarded);
        }
        if let Discard::Timer(lifetime) = self.discard {
            for index in 0..self.sdus.len() {
                let sdu = &self.sdus[index];
                if sdu.joined + lifetime > now {
                    break;
                }
                if !sdu.gone && sdu.unacknowledged > 0 {
                    self.give_up(index, discarded);
                }
            }
        }
        self.forget();
    }

    /// Time of the next data to send, without new SDUs.
    pub(super) fn wants(&self, now: Time) -> Time {
        match self.again.is_empty() && self.fresh.is_empty() {
            false => now,
            true if self.polls => Time::NEVER,
            true => self.losses.front().map_or(Time::NEVER, |(at, _)| *at),
        }
    }

    /// Handles a status. PDUs retransmitted after the status was made are not covered. Numbers of discarded SDUs go to
    /// `discarded`.
    pub(super) fn hear(&mut self, status: &Status, discarded: &mut Vec<u64>) {
        let told = |at, pdus: Pdus| at <= status.made && pdus.start < status.until;
        for _ in 0..self.acknowledgements.len() {
            let Some((at, pdus)) = self.acknowledgements.pop_front() else { break };
            let rest = Pdus { start: pdus.start.max(status.until), ..pdus };
            if told(at, pdus) {
                self.acknowledge(Pdus { end: pdus.end.min(status.until), ..pdus });
                if !rest.is_empty() {
                    self.acknowledgements.push_back((at, rest));
                }
            } else {
                self.acknowledgements.push_back((at, pdus))
            }
        }
        for _ in 0..self.losses.len() {
            let Some((at, run)) = self.losses.pop_front() else { break };
            let rest = Pdus { start: run.pdus.start.max(status.until), ..run.pdus };
            if told(at, run.pdus) {
                let pdus = Pdus { end: run.pdus.end.min(status.until), ..run.pdus };
                self.repeat_run(Run { pdus, ..run }, discarded);
                if !rest.is_empty() {
                    self.losses.push_back((at, Run { pdus: rest, ..run }));
                }
            } else {
                self.losses.push_back((at, run))
            }
        }
        self.forget();
    }

    pub(super) fn is_outstanding(&self) -> bool {
        !self.losses.is_empty() || !self.acknowledgements.is_empty()
    }

    /// Retransmits the last outstanding PDU, if lost, to carry a poll. Returns whether it had arrived, so that only the
    /// poll is new.
    pub(super) fn repeat_last(&mut self, discarded: &mut Vec<u64>) -> bool {
        let arrived = self.acknowledgements.iter().map(|(_, pdus)| pdus.end).max().unwrap_or(0);
        let end = |losses: &VecDeque<(Time, Run)>, index: usize| losses[index].1.pdus.end;
        while self.again.is_empty()
            && let Some(index) = (0..self.losses.len()).max_by_key(|index| end(&self.losses, *index))
            && end(&self.losses, index) > arrived
        {
            let run = &mut self.losses[index].1;
            run.pdus.end -= 1;
            let last = Run { pdus: Pdus { start: run.pdus.end, end: run.pdus.end + 1 }, ..*run };
            if run.pdus.is_empty() {
                self.losses.remove(index);
            }
            self.repeat_run(last, discarded);
        }
        self.again.is_empty() && self.is_outstanding()
    }

    /// Makes a status with room for `pairs` at `made`; `highest`: one past the highest PDU received.
    pub(super) fn status(&mut self, made: Time, highest: u64, mut pairs: u64) -> Status {
        let mut missing = std::mem::take(&mut self.missing);
        let late = self.acknowledgements.iter().filter(|(at, _)| *at > made).map(|(_, pdus)| *pdus);
        let lost = self.losses.iter().map(|(_, run)| run.pdus);
        missing.extend(late.chain(lost).chain(self.again.iter().map(|run| run.pdus)));
        missing.sort_unstable_by_key(|pdus| pdus.start);
        let mut until = highest;
        for pdus in missing.drain(..).take_while(|pdus| pdus.start < highest) {
            let needed = pdus.len().div_ceil(PDUS_IN_PAIR);
            if needed > pairs {
                until = until.min(pdus.start + pairs * PDUS_IN_PAIR);
                break;
            }
            pairs -= needed;
        }
        self.missing = missing;
        Status { made, until }
    }

    fn repeat_run(&mut self, run: Run, discarded: &mut Vec<u64>) {
        let spent = matches!(self.discard, Discard::Retransmissions(most) if run.attempt >= most);
        let mut from = run.pdus.start;
        let mut index = self.find(from);
        while from < run.pdus.end
            && let Some(sdu) = self.sdus.get(index)
            && sdu.pdus.start < run.pdus.end
        {
            if sdu.gone {
                // A PDU shared with the next SDU is still needed there.
                let next = self.sdus.get(index + 1).map_or(sdu.pdus.end, |next| next.pdus.start);
                from = from.max(sdu.pdus.end.min(next));
            } else if spent {
                self.give_up(index, discarded);
            } else {
                let pdus = Pdus { start: from.max(sdu.pdus.start), end: run.pdus.end.min(sdu.pdus.end) };
                if !pdus.is_empty() {
                    self.again.push_back(Run { pdus, attempt: run.attempt + 1 });
                    from = pdus.end;
                }
            }
            index += 1;
        }
    }

    fn give_up(&mut self, index: usize, discarded: &mut Vec<u64>) {
        let before = index.checked_sub(1).and_then(|index| self.sdus.get(index)).filter(|sdu| !sdu.gone);
        let after = self.sdus.get(index + 1).filter(|sdu| !sdu.gone);
        let own = Pdus {
            start: before.map_or(0, |sdu| sdu.pdus.end).max(self.sdus[index].pdus.start),
            end: after.map_or(u64::MAX, |sdu| sdu.pdus.start).min(self.sdus[index].pdus.end),
        };
        discarded.push(self.base + index as u64);
        self.sdus[index].gone = true;
        self.release(index);
        // Removes its PDUs from retransmission and from first transmission.
        for _ in 0..self.again.len() {
            let Some(run) = self.again.pop_front() else { break };
            let before = Pdus { end: run.pdus.end.min(own.start), ..run.pdus };
            let after = Pdus { start: run.pdus.start.max(own.end), ..run.pdus };
            for pdus in [before, after] {
                if !pdus.is_empty() {
                    self.again.push_back(Run { pdus, ..run });
                }
            }
        }
        if own.start <= self.fresh.start && self.fresh.start < own.end {
            self.fresh.start = own.end;
            self.note_sent();
        }
    }

    fn note_sent(&mut self) {
        while let Some(sdu) = self.sdus.get((self.sending - self.base) as usize)
            && sdu.pdus.end <= self.fresh.start
        {
            if !self.holds_sent {
                self.release((self.sending - self.base) as usize);
            }
            self.sending += 1;
        }
    }

    fn release(&mut self, index: usize) {
        let sdu = &mut self.sdus[index];
        if sdu.held {
            sdu.held = false;
            self.held -= 1;
            self.held_bytes -= u64::from(sdu.bytes);
        }
    }

    fn forget(&mut self) {
        while let Some(sdu) = self.sdus.front()
            && (sdu.gone || sdu.unacknowledged == 0)
            && self.base < self.sending
        {
            self.sdus.pop_front();
            self.base += 1;
        }
    }

    fn find(&self, pdu: u64) -> usize {
        if self.sdus.front().is_some_and(|sdu| pdu < sdu.pdus.end) {
            return 0;
        }
        self.sdus.partition_point(|sdu| sdu.pdus.end <= pdu)
    }
}
