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

    /// Removes the last SDU if no PDU of the SDU was sent and the SDU's number is at least `from`. Returns the time at
    /// which the SDU was added, and whether the queue had dropped the SDU. Call [`RlcTransmitter::end_of_kept`] after
    /// the last call.
    pub(super) fn pop_unsent(&mut self, from: u64) -> Option<(Time, bool)> {
        let last = (self.base + self.sdus.len() as u64).checked_sub(1)?;
        let sdu = self.sdus.back()?;
        let is_unsent = sdu.pdus.start >= self.fresh.start && last >= self.sending.max(from);
        if !is_unsent || sdu.is_discarded != sdu.pdus.is_empty() {
            return None;
        }
        self.release(self.sdus.len() - 1);
        self.sdus.pop_back().map(|sdu| (sdu.joined, sdu.is_discarded))
    }

    /// Forgets the PDUs of removed SDUs. Returns the end of the PDUs of the remaining SDUs.
    pub(super) fn end_of_kept(&mut self) -> u64 {
        self.fresh.end = self.sdus.back().map_or(0, |sdu| sdu.pdus.end).max(self.fresh.start);
        self.fresh.end
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MS, at};

    fn pdus(start: u64, end: u64) -> Pdus {
        Pdus { start, end }
    }

    fn range(start: u64, end: u64, attempt: u32) -> PduRange {
        PduRange { pdus: pdus(start, end), attempt }
    }

    /// A sender with SDUs of these PDUs. Each SDU has 100 bytes and enters at the time of its index, ms.
    fn sender(discard: Discard, holds_sent: bool, polls: bool, sdus: &[(u64, u64)]) -> RlcTransmitter {
        let mut one = RlcTransmitter::new(discard, holds_sent, polls);
        for (number, (start, end)) in sdus.iter().enumerate() {
            let mut counters = RlcCounters::default();
            one.push(at(number as u64), 100, pdus(*start, *end), &mut counters);
        }
        one
    }

    fn fill(one: &mut RlcTransmitter, room: u64) -> (Vec<PduRange>, bool) {
        let mut block = Vec::new();
        let is_last = one.fill(room, false, &mut block);
        (block, is_last)
    }

    /// A block has retransmissions first, and then new PDUs. A block is the last if the block empties one of the two
    /// buffers.
    #[test]
    fn retransmissions_precede_new_pdus() {
        let mut one = sender(Discard::Never, true, false, &[(0, 4), (4, 8)]);
        assert_eq!((one.ready(), one.fresh()), (8, 0));
        assert_eq!(fill(&mut one, 5), (vec![range(0, 5, 0)], false));
        one.retransmissions.push_back(range(0, 2, 1));
        one.retransmissions.push_back(range(3, 4, 2));
        assert_eq!(one.ready(), 6);
        assert_eq!(fill(&mut one, 1), (vec![range(0, 1, 1)], false));
        assert_eq!(fill(&mut one, 3), (vec![range(1, 2, 1), range(3, 4, 2), range(5, 6, 0)], true));
        assert_eq!(fill(&mut one, 9), (vec![range(6, 8, 0)], true));
        assert_eq!(fill(&mut one, 9), (vec![], false), "an empty block is not the last");
        let mut waits = sender(Discard::Never, true, false, &[(0, 4)]);
        assert!(!waits.fill(9, true, &mut Vec::new()), "packets wait to enter the buffer");
    }

    /// The buffer holds an SDU until all of its PDUs are acknowledged, or until its last PDU is sent.
    #[test]
    fn sdus_leave_the_buffer() {
        let mut counters = RlcCounters::default();
        for (holds_sent, held_after_sending) in [(true, (2, 150)), (false, (1, 50))] {
            let mut one = RlcTransmitter::new(Discard::Never, holds_sent, false);
            one.push(at(0), 100, pdus(0, 3), &mut counters);
            one.push(at(0), 50, pdus(3, 5), &mut counters);
            one.push(at(0), 70, pdus(5, 5), &mut counters);
            assert_eq!((one.held(), counters.largest_sending), ((2, 150), 2), "the third SDU never enters");
            fill(&mut one, 3);
            assert_eq!(one.held(), held_after_sending);
            one.report(at(10), range(0, 2, 0), false);
            one.report(at(20), range(2, 3, 0), false);
            one.apply_reports(at(19));
            assert_eq!((one.held(), one.sdus.len()), (held_after_sending, 3));
            one.apply_reports(at(20));
            assert_eq!((one.held(), one.sdus.len()), ((1, 50), 2));
            fill(&mut one, 9);
            one.report(at(30), range(3, 5, 0), false);
            one.apply_reports(at(30));
            assert_eq!((one.held(), one.sdus.len(), one.base), ((0, 0), 0, 3));
        }
    }

    /// Lost PDUs are retransmitted when their loss is reported. A range over two SDUs is split.
    #[test]
    fn lost_pdus_are_retransmitted() {
        let mut one = sender(Discard::Never, true, false, &[(0, 4), (4, 8)]);
        fill(&mut one, 8);
        assert_eq!(one.next_data_at(at(5)), Time::NEVER);
        assert!(!one.has_outstanding());
        one.report(at(20), range(2, 6, 0), true);
        assert_eq!((one.next_data_at(at(5)), one.has_outstanding()), (at(20), true));
        let mut discarded = Vec::new();
        one.retransmit_lost(at(19), &mut discarded);
        assert!(one.retransmissions.is_empty());
        one.retransmit_lost(at(20), &mut discarded);
        assert_eq!(one.retransmissions, [range(2, 4, 1), range(4, 6, 1)]);
        assert_eq!((one.next_data_at(at(21)), discarded), (at(21), vec![]));
    }

    /// With at most two retransmissions, the third loss of a PDU discards its SDU, with all PDUs of this SDU that wait.
    #[test]
    fn an_sdu_is_discarded_after_too_many_retransmissions() {
        let mut one = sender(Discard::Retransmissions(2), true, false, &[(0, 4), (4, 8), (8, 12)]);
        fill(&mut one, 6);
        let mut discarded = Vec::new();
        one.retransmissions.extend([range(1, 2, 1), range(4, 5, 1)]);
        one.report(at(10), range(5, 6, 1), true);
        one.report(at(11), range(5, 6, 2), true);
        one.retransmit_lost(at(10), &mut discarded);
        assert_eq!((discarded.clone(), one.retransmissions.back()), (vec![], Some(&range(5, 6, 2))));
        one.retransmit_lost(at(11), &mut discarded);
        assert_eq!(discarded, [1]);
        assert_eq!(one.retransmissions, [range(1, 2, 1)]);
        assert_eq!((one.fresh(), one.held()), (8, (2, 200)), "PDUs 6 and 7 are not sent");
    }

    /// SDUs live for 50 ms. At 51 ms, SDUs 0 and 1 are discarded, but SDU 1 is acknowledged.
    #[test]
    fn an_sdu_is_discarded_at_the_end_of_its_lifetime() {
        let mut one = sender(Discard::Timer(MS * 50), true, false, &[(0, 4), (4, 8), (8, 12)]);
        fill(&mut one, 8);
        one.report(at(10), range(4, 8, 0), false);
        one.apply_reports(at(10));
        let mut discarded = Vec::new();
        one.retransmit_lost(at(49), &mut discarded);
        assert_eq!(discarded, []);
        one.retransmit_lost(at(50), &mut discarded);
        assert_eq!(discarded, [0]);
        one.retransmit_lost(at(51), &mut discarded);
        assert_eq!(discarded, [0]);
        one.retransmit_lost(at(52), &mut discarded);
        assert_eq!((discarded, one.fresh(), one.held()), (vec![0, 2], 12, (0, 0)));
        assert!(one.sdus.is_empty());
    }

    /// SDUs 0 and 1 share PDU 3. After the discard of SDU 0, PDU 3 is still needed for SDU 1.
    #[test]
    fn a_shared_pdu_outlives_a_discarded_sdu() {
        let mut one = sender(Discard::Retransmissions(0), true, false, &[(0, 4), (3, 7), (6, 9)]);
        fill(&mut one, 9);
        one.retransmissions.push_back(range(2, 4, 1));
        let mut discarded = Vec::new();
        one.discard_sdu(0, &mut discarded);
        assert_eq!((discarded.clone(), one.retransmissions.clone()), (vec![0], [range(3, 4, 1)].into()));
        one.retransmissions.clear();
        one.discard = Discard::Never;
        one.report(at(10), range(1, 4, 0), true);
        one.retransmit_lost(at(10), &mut discarded);
        assert_eq!(one.retransmissions, [range(3, 4, 1)]);
        // SDU 0 is removed. SDU 2 still needs PDU 6, which SDU 2 shares with SDU 1.
        one.retransmissions.push_back(range(4, 8, 1));
        one.discard_sdu(0, &mut discarded);
        assert_eq!((discarded, one.retransmissions), (vec![0, 1], [range(6, 8, 1)].into()));
    }

    /// A status report made at 30 ms on PDUs below 6 covers what arrived or was lost by 30 ms. The rest waits for the
    /// next report.
    #[test]
    fn a_status_report_covers_its_pdus() {
        let mut one = sender(Discard::Never, true, true, &[(0, 4), (4, 8), (8, 12)]);
        fill(&mut one, 12);
        one.report(at(20), range(0, 3, 0), false);
        one.report(at(20), range(3, 8, 0), true);
        one.report(at(20), range(8, 10, 0), false);
        one.report(at(31), range(1, 2, 1), true);
        one.apply_reports(at(100));
        let mut discarded = Vec::new();
        one.retransmit_lost(at(100), &mut discarded);
        assert!(one.retransmissions.is_empty(), "with polls, only a report triggers retransmissions");
        assert_eq!(one.next_data_at(at(100)), Time::NEVER);
        one.on_status(&Status { made: at(30), until: 6 }, &mut discarded);
        assert_eq!(one.retransmissions, [range(3, 4, 1), range(4, 6, 1)]);
        assert_eq!(one.losses, [(at(20), range(6, 8, 0)), (at(31), range(1, 2, 1))]);
        assert_eq!(one.acknowledgements, [(at(20), pdus(8, 10))]);
        one.on_status(&Status { made: at(31), until: 9 }, &mut discarded);
        assert_eq!(one.acknowledgements, [(at(20), pdus(9, 10))]);
        assert_eq!(one.retransmissions.back(), Some(&range(1, 2, 2)));
        assert!(one.losses.is_empty() && one.has_outstanding());
        assert_eq!(one.sdus[2].unacknowledged, 3);
    }

    /// A report lists the missing PDUs up to the highest received PDU (10, plus one). One pair covers 16 PDUs. With too
    /// few pairs, the report ends at the first PDU that does not fit.
    #[test]
    fn a_status_report_ends_where_its_list_ends() {
        let mut one = sender(Discard::Never, true, true, &[(0, 100)]);
        fill(&mut one, 100);
        one.report(at(20), range(0, 2, 0), true);
        one.report(at(40), range(3, 4, 0), false);
        one.retransmissions.push_back(range(20, 52, 1));
        let mut until = |made, highest, pairs| one.status(at(made), highest, pairs).until;
        // PDUs 0 and 1 take one pair, PDU 3 (in flight at 30 ms) one pair, and PDUs 20 to 51 two pairs.
        assert_eq!(until(30, 60, 4), 60);
        assert_eq!([until(30, 60, 3), until(30, 60, 2), until(30, 60, 1), until(30, 60, 0)], [36, 20, 3, 0]);
        assert_eq!(until(40, 60, 3), 60, "at 40 ms, PDU 3 has arrived");
        assert_eq!([until(30, 20, 2), until(30, 3, 1), until(30, 11, 9)], [20, 3, 11]);
        assert_eq!(one.status(at(30), 60, 4).made, at(30));
    }

    /// The last PDU carries the poll. If PDU 9 was lost, PDU 9 is retransmitted; if PDU 9 arrived, only a poll is sent.
    #[test]
    fn the_last_outstanding_pdu_carries_a_poll() {
        let mut one = sender(Discard::Never, true, true, &[(0, 10)]);
        fill(&mut one, 10);
        let mut discarded = Vec::new();
        assert!(!one.retransmit_last(&mut discarded), "no PDU is outstanding");
        one.report(at(20), range(0, 4, 0), false);
        one.report(at(20), range(4, 8, 0), true);
        one.report(at(20), range(9, 10, 0), true);
        assert!(!one.retransmit_last(&mut discarded));
        assert_eq!(one.retransmissions, [range(9, 10, 1)]);
        assert_eq!(one.losses, [(at(20), range(4, 8, 0))]);
        one.retransmissions.clear();
        assert!(!one.retransmit_last(&mut discarded));
        assert_eq!(
            (one.retransmissions.pop_front(), one.losses.front()),
            (Some(range(7, 8, 1)), Some(&(at(20), range(4, 7, 0))))
        );
        one.report(at(21), range(7, 8, 1), false);
        assert!(one.retransmit_last(&mut discarded), "PDU 7 has arrived, and the losses are before it");
        assert!(one.retransmissions.is_empty());
    }

    /// PDUs belong to the SDU that ends after them.
    #[test]
    fn sdus_are_found_by_their_pdus() {
        let one = sender(Discard::Never, true, false, &[(0, 4), (4, 4), (4, 8)]);
        assert_eq!([0, 3, 4, 7, 8].map(|pdu| one.find(pdu)), [0, 0, 2, 2, 3]);
    }
}
