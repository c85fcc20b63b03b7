//! The sending side: contents of a block, retransmissions and discards.

use super::segmentation::Pdus;
use super::status::PDUS_IN_PAIR;
use crate::counters::RlcCounters;
use crate::peer_message::Status;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

/// Consecutive PDUs with the same number of earlier transmissions (`attempt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PduRange {
    pub(super) pdus: Pdus,
    pub(super) attempt: u32,
}

/// Condition under which the sender discards an SDU (TS 25.322 §9.7.3).
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
    /// Whether the SDU still counts towards the number of SDUs and bytes in the sender's buffer.
    held: bool,
    /// Whether the SDU was discarded, or was dropped by the queue.
    is_discarded: bool,
}

#[derive(Debug)]
pub(super) struct RlcTransmitter {
    discard: Discard,
    /// Whether an SDU counts towards the sender's buffer until the SDU is acknowledged. If false, the SDU counts until
    /// its last PDU was sent once.
    holds_sent: bool,
    sdus: VecDeque<Sdu>,
    /// Number of the first SDU in `sdus`.
    base: u64,
    /// Number of the first SDU whose last PDU was not sent yet.
    sending: u64,
    /// PDUs that were not sent yet.
    fresh: Pdus,
    retransmissions: VecDeque<PduRange>,
    /// Whether status is polled, so that one report covers many PDUs. If false, the outcome of each PDU is reported.
    polls: bool,
    /// PDUs that arrived but are not reported yet, each with the time of the report. With polled status, each PDU
    /// instead has its arrival time.
    acknowledgements: VecDeque<(Time, Pdus)>,
    /// PDUs that were lost but are not reported yet. The times have the same meaning as in `acknowledgements`.
    losses: VecDeque<(Time, PduRange)>,
    held: u32,
    held_bytes: u64,
    missing: Vec<Pdus>,
}

impl RlcTransmitter {
    pub(super) fn new(discard: Discard, holds_sent: bool, polls: bool) -> RlcTransmitter {
        RlcTransmitter {
            polls,
            missing: Vec::new(),
            discard,
            holds_sent,
            sdus: VecDeque::new(),
            base: 0,
            sending: 0,
            fresh: Pdus::default(),
            retransmissions: VecDeque::new(),
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

    /// Adds an SDU. If `pdus` is empty, the queue has dropped the SDU. The SDU then takes a sequence number, but does
    /// not enter the buffer.
    pub(super) fn push(&mut self, now: Time, bytes: u32, pdus: Pdus, counters: &mut RlcCounters) {
        let is_discarded = pdus.is_empty();
        self.sdus.push_back(Sdu {
            pdus,
            bytes,
            joined: now,
            unacknowledged: pdus.len(),
            held: !is_discarded,
            is_discarded,
        });
        if !is_discarded {
            self.fresh.end = pdus.end;
            self.held += 1;
            self.held_bytes += u64::from(bytes);
            counters.largest_sending = counters.largest_sending.max(self.held);
        }
    }

    pub(super) fn ready(&self) -> u64 {
        self.retransmissions.iter().map(|range| range.pdus.len()).sum::<u64>() + self.fresh.len()
    }

    /// Fills a block of `room` PDUs, with retransmissions first. Returns whether the block has the last retransmission
    /// or the last new PDU. `more_wait` means that packets are waiting to enter the buffer.
    pub(super) fn fill(&mut self, mut room: u64, more_wait: bool, block: &mut Vec<PduRange>) -> bool {
        let before = (!self.retransmissions.is_empty(), !self.fresh.is_empty());
        while room > 0
            && let Some(range) = self.retransmissions.front_mut()
        {
            let taken = range.pdus.len().min(room);
            let pdus = Pdus { start: range.pdus.start, end: range.pdus.start + taken };
            block.push(PduRange { pdus, attempt: range.attempt });
            range.pdus.start += taken;
            room -= taken;
            if range.pdus.is_empty() {
                self.retransmissions.pop_front();
            }
        }
        let taken = self.fresh.len().min(room);
        if taken > 0 {
            let pdus = Pdus { start: self.fresh.start, end: self.fresh.start + taken };
            block.push(PduRange { pdus, attempt: 0 });
            self.fresh.start += taken;
            self.advance_sent();
        }
        (before.0 && self.retransmissions.is_empty()) || (before.1 && self.fresh.is_empty() && !more_wait)
    }

    /// Records the outcome of consecutive PDUs. The outcome is reported at `at`; with polled status, `at` is instead
    /// the PDUs' arrival time. `at` never decreases.
    pub(super) fn report(&mut self, at: Time, range: PduRange, is_lost: bool) {
        if is_lost {
            self.losses.push_back((at, range))
        } else {
            self.acknowledgements.push_back((at, range.pdus))
        }
    }

    #[inline]
    pub(super) fn apply_reports(&mut self, now: Time) {
        if self.polls {
            return;
        }
        if self.acknowledgements.front().is_some_and(|(at, _)| *at <= now) {
            self.apply_due_reports(now);
        }
        self.remove_finished();
    }

    #[inline(never)]
    fn apply_due_reports(&mut self, now: Time) {
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

    /// Handles PDUs that were reported lost by `now`. Appends the numbers of discarded SDUs to `discarded`.
    pub(super) fn retransmit_lost(&mut self, now: Time, discarded: &mut Vec<u64>) {
        while let Some((at, range)) = self.losses.front().copied()
            && at <= now
            && !self.polls
        {
            self.losses.pop_front();
            self.schedule_retransmission(range, discarded);
        }
        if let Discard::Timer(lifetime) = self.discard {
            for index in 0..self.sdus.len() {
                let sdu = &self.sdus[index];
                if sdu.joined + lifetime > now {
                    break;
                }
                if !sdu.is_discarded && sdu.unacknowledged > 0 {
                    self.discard_sdu(index, discarded);
                }
            }
        }
        self.remove_finished();
    }

    /// Returns the time at which there is data to send, if no SDU is added.
    pub(super) fn next_data_at(&self, now: Time) -> Time {
        if !self.retransmissions.is_empty() || !self.fresh.is_empty() {
            now
        } else if self.polls {
            Time::NEVER
        } else {
            self.losses.front().map_or(Time::NEVER, |(at, _)| *at)
        }
    }

    /// Handles a status report. The report does not cover PDUs that were retransmitted after the report was made.
    /// Appends the numbers of discarded SDUs to `discarded`.
    pub(super) fn on_status(&mut self, status: &Status, discarded: &mut Vec<u64>) {
        let is_covered = |at, pdus: Pdus| at <= status.made && pdus.start < status.until;
        for _ in 0..self.acknowledgements.len() {
            let Some((at, pdus)) = self.acknowledgements.pop_front() else { break };
            let rest = Pdus { start: pdus.start.max(status.until), ..pdus };
            if is_covered(at, pdus) {
                self.acknowledge(Pdus { end: pdus.end.min(status.until), ..pdus });
                if !rest.is_empty() {
                    self.acknowledgements.push_back((at, rest));
                }
            } else {
                self.acknowledgements.push_back((at, pdus))
            }
        }
        for _ in 0..self.losses.len() {
            let Some((at, range)) = self.losses.pop_front() else { break };
            let rest = Pdus { start: range.pdus.start.max(status.until), ..range.pdus };
            if is_covered(at, range.pdus) {
                let pdus = Pdus { end: range.pdus.end.min(status.until), ..range.pdus };
                self.schedule_retransmission(PduRange { pdus, ..range }, discarded);
                if !rest.is_empty() {
                    self.losses.push_back((at, PduRange { pdus: rest, ..range }));
                }
            } else {
                self.losses.push_back((at, range))
            }
        }
        self.remove_finished();
    }

    pub(super) fn has_outstanding(&self) -> bool {
        !self.losses.is_empty() || !self.acknowledgements.is_empty()
    }

    /// If the last outstanding PDU was lost, schedules its retransmission to carry a poll, and returns false. If the
    /// PDU had arrived, returns true, because only a poll has to be sent.
    pub(super) fn retransmit_last(&mut self, discarded: &mut Vec<u64>) -> bool {
        let arrived = self.acknowledgements.iter().map(|(_, pdus)| pdus.end).max().unwrap_or(0);
        let end = |losses: &VecDeque<(Time, PduRange)>, index: usize| losses[index].1.pdus.end;
        while self.retransmissions.is_empty()
            && let Some(index) = (0..self.losses.len()).max_by_key(|index| end(&self.losses, *index))
            && end(&self.losses, index) > arrived
        {
            let range = &mut self.losses[index].1;
            range.pdus.end -= 1;
            let last = PduRange { pdus: Pdus { start: range.pdus.end, end: range.pdus.end + 1 }, ..*range };
            if range.pdus.is_empty() {
                self.losses.remove(index);
            }
            self.schedule_retransmission(last, discarded);
        }
        self.retransmissions.is_empty() && self.has_outstanding()
    }

    /// Builds a status report at `made`, with room for `pairs` pairs in its list of missing PDUs. `highest` is the
    /// highest PDU received, plus one.
    pub(super) fn status(&mut self, made: Time, highest: u64, mut pairs: u64) -> Status {
        let mut missing = std::mem::take(&mut self.missing);
        let late = self.acknowledgements.iter().filter(|(at, _)| *at > made).map(|(_, pdus)| *pdus);
        let is_lost = self.losses.iter().map(|(_, range)| range.pdus);
        missing.extend(late.chain(is_lost).chain(self.retransmissions.iter().map(|range| range.pdus)));
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

    fn schedule_retransmission(&mut self, range: PduRange, discarded: &mut Vec<u64>) {
        let is_exhausted = matches!(self.discard, Discard::Retransmissions(max) if range.attempt >= max);
        let mut from = range.pdus.start;
        let mut index = self.find(from);
        while from < range.pdus.end
            && let Some(sdu) = self.sdus.get(index)
            && sdu.pdus.start < range.pdus.end
        {
            if sdu.is_discarded {
                // A PDU that the discarded SDU shares with the next SDU is still needed for the next SDU.
                let next = self.sdus.get(index + 1).map_or(sdu.pdus.end, |next| next.pdus.start);
                from = from.max(sdu.pdus.end.min(next));
            } else if is_exhausted {
                self.discard_sdu(index, discarded);
            } else {
                let pdus = Pdus { start: from.max(sdu.pdus.start), end: range.pdus.end.min(sdu.pdus.end) };
                if !pdus.is_empty() {
                    self.retransmissions.push_back(PduRange { pdus, attempt: range.attempt + 1 });
                    from = pdus.end;
                }
            }
            index += 1;
        }
    }

    fn discard_sdu(&mut self, index: usize, discarded: &mut Vec<u64>) {
        let before =
            index.checked_sub(1).and_then(|index| self.sdus.get(index)).filter(|sdu| !sdu.is_discarded);
        let after = self.sdus.get(index + 1).filter(|sdu| !sdu.is_discarded);
        let own = Pdus {
            start: before.map_or(0, |sdu| sdu.pdus.end).max(self.sdus[index].pdus.start),
            end: after.map_or(u64::MAX, |sdu| sdu.pdus.start).min(self.sdus[index].pdus.end),
        };
        discarded.push(self.base + index as u64);
        self.sdus[index].is_discarded = true;
        self.release(index);
        // Removes the SDU's PDUs from retransmission and from first transmission.
        for _ in 0..self.retransmissions.len() {
            let Some(range) = self.retransmissions.pop_front() else { break };
            let before = Pdus { end: range.pdus.end.min(own.start), ..range.pdus };
            let after = Pdus { start: range.pdus.start.max(own.end), ..range.pdus };
            for pdus in [before, after] {
                if !pdus.is_empty() {
                    self.retransmissions.push_back(PduRange { pdus, ..range });
                }
            }
        }
        if own.start <= self.fresh.start && self.fresh.start < own.end {
            self.fresh.start = own.end;
            self.advance_sent();
        }
    }

    fn advance_sent(&mut self) {
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

    fn remove_finished(&mut self) {
        while let Some(sdu) = self.sdus.front()
            && (sdu.is_discarded || sdu.unacknowledged == 0)
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
