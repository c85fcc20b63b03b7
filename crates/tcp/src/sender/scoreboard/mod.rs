//! The scoreboard (RFC 6675 §3): what was sent and is not yet acknowledged, with running sums.
//!
//! A ring of records, one per segment, contiguous from `una` to `nxt`. Every sum
//! that a recovery asks for (outstanding, SACKed, lost, retransmitted) is kept as it
//! changes, and each record is visited a bounded number of times in its life: the
//! cost of an ACK depends neither on the window nor on the number of holes.

mod times;

pub use times::Newest;

use crate::ranges::{Range, RangeSet};
use lasthop_base::Time;
use std::collections::VecDeque;
use times::Times;

/// The sender's view of its outstanding data, in absolute stream offsets (bytes).
///
/// What is asked of it while nothing is lost comes last, beside what comes behind it in [`Sender`](super::Sender).
#[derive(Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    /// Records before this one have been examined for loss.
    lost_to: u64,
    /// Records before this one need no retransmission.
    again_from: u64,
    /// Where rule 3 of RFC 6675's NextSeg goes on looking.
    rule3_from: u64,
    /// All bytes that were ever marked lost, those marked again counted again.
    lost_total: u64,
    again_bytes: u64,
    lost_bytes: u64,
    sacked_bytes: u64,
    sacked: RangeSet,
    records: VecDeque<Record>,
    /// The most bytes that one acknowledgement has covered.
    largest_acked: u64,
    /// `None`: nobody asks.
    times: Option<Box<Times>>,
    /// Index that the front record would have had no record ever been popped.
    popped: u64,
    una: u64,
    nxt: u64,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    end: u64,
    sent_at: Time,
    marks: u8,
}

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// Sent again since it was last found lost: its copy is in flight.
const AGAIN: u8 = 4;
/// Sent more than once in its life (Karn).
const EVER_AGAIN: u8 = 8;

/// What a cumulative acknowledgement covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// Bytes by which `una` advanced.
    pub bytes: u64,
    /// Records (segments) now wholly acknowledged, those not counted that SACK had already reported.
    pub segments: u32,
    /// Of these bytes, those that SACK had not already reported.
    pub delivered: u64,
    /// When the newest segment was sent, unless SACK had reported it before, or one of them was sent twice: the
    /// others may have waited for that one in the receiver's buffer (Karn, RFC 6298 §3).
    pub sent_at: Option<Time>,
}

impl Scoreboard {
    /// An empty board whose next byte is at `offset`.
    pub fn starting_at(offset: u64) -> Scoreboard {
        Scoreboard { una: offset, nxt: offset, ..Scoreboard::default() }
    }

    /// First byte not cumulatively acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// First byte never sent.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Bytes sent and not cumulatively acknowledged (RFC 5681's FlightSize).
    pub fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// The most bytes that one acknowledgement has covered: the path has taken no larger segment, as far as one knows.
    pub fn largest_acked(&self) -> u64 {
        self.largest_acked
    }

    /// Bytes believed to be in the network: RFC 6675 §4, SetPipe; O(1).
    pub fn pipe(&self) -> u64 {
        self.outstanding() + self.again_bytes - self.sacked_bytes - self.lost_bytes
    }

    /// Bytes that have left the network without being acknowledged: marked lost (or reported) and not sent again.
    pub fn gone(&self) -> u64 {
        self.outstanding().saturating_sub(self.pipe())
    }

    /// Bytes reported by SACK above `una`.
    pub fn sacked(&self) -> u64 {
        self.sacked_bytes
    }

    /// Bytes marked lost and not reported by SACK.
    pub fn lost(&self) -> u64 {
        self.lost_bytes
    }

    /// Bytes found lost so far, those found lost again counted again: a running sum.
    pub fn lost_total(&self) -> u64 {
        self.lost_total
    }

    /// The byte behind the highest one reported by SACK, if any is.
    pub fn highest_sacked(&self) -> Option<u64> {
        self.sacked.last().map(|range| range.end)
    }

    /// Whether this byte, sent before, was acknowledged or reported by SACK.
    pub fn has_arrived(&self, offset: u64) -> bool {
        offset < self.una || self.sacked.run_at(offset, offset + 1).0
    }

    /// New data of `len` bytes goes out.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn sent_new(&mut self, len: u64, now: Time) {
        self.nxt += len;
        self.records.push_back(Record { end: self.nxt, sent_at: now, marks: 0 });
    }

    /// The segment that begins at `start` goes out again.
    pub fn sent_again(&mut self, start: u64, now: Time) {
        let index = self.index_of(start);
        let len = self.len_of(index);
        let record = &mut self.records[index];
        record.sent_at = now;
        record.marks |= EVER_AGAIN;
        // What SACK reported is not in flight, whatever goes out (only after a receiver has reneged, RFC 2018 §8).
        if record.marks & (AGAIN | SACKED) == 0 {
            record.marks |= AGAIN;
            self.again_bytes += len;
        }
        if let Some(times) = &mut self.times {
            times.sent_again(self.popped + index as u64, now);
        }
    }

    /// The segment that begins at `start` goes out again without being counted in the pipe (RFC 6675 §4, NextSeg rule 4).
    pub fn sent_rescue(&mut self, start: u64, now: Time) {
        let index = self.index_of(start);
        let record = &mut self.records[index];
        record.sent_at = now;
        record.marks |= EVER_AGAIN;
    }

    /// A cumulative acknowledgement up to `ack`, which must lie in `una..=nxt`.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) -> Acked {
        let bytes = ack - self.una;
        match self.acknowledge_first(ack) {
            Some(sent_at) => Acked { bytes, segments: 1, delivered: bytes, sent_at: Some(sent_at) },
            None => self.acknowledge_any(ack),
        }
    }

    /// The same if it covers exactly the first segment, of which there is nothing to say, and nothing is reported by SACK:
    /// when that segment was sent. `None`: nothing has happened.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn acknowledge_first(&mut self, ack: u64) -> Option<Time> {
        let Record { end, sent_at, marks } = *self.records.front()?;
        if end != ack || marks != 0 || !self.sacked.is_empty() || self.times.is_some() {
            return None;
        }
        self.largest_acked = self.largest_acked.max(ack - self.una);
        self.records.pop_front();
        self.popped += 1;
        self.una = ack;
        Some(sent_at)
    }

    #[cold]
    fn acknowledge_any(&mut self, ack: u64) -> Acked {
        let mut acked = Acked { bytes: ack - self.una, ..Acked::default() };
        self.largest_acked = self.largest_acked.max(acked.bytes);
        let mut start = self.una;
        let mut seen = 0;
        while let Some(record) = self.records.front() {
            let Record { end, sent_at, marks } = *record;
            let covered = end.min(ack) - start;
            self.forget(covered, marks);
            if marks & SACKED == 0 {
                acked.delivered += covered;
            }
            if end > ack {
                break;
            }
            if marks & SACKED == 0 {
                acked.segments += 1;
                if let Some(times) = &mut self.times {
                    times.see(Record { end, sent_at, marks });
                }
            }
            seen |= marks & EVER_AGAIN;
            acked.sent_at = ((marks & SACKED) | seen == 0).then_some(sent_at);
            self.records.pop_front();
            self.popped += 1;
            start = end;
            if start == ack {
                break;
            }
        }
        self.una = ack;
        if !self.sacked.is_empty() {
            self.sacked.remove_below(ack);
        }
        acked
    }

    /// A SACK block. Returns the bytes that it reports for the first time.
    ///
    /// Blocks outside `una..nxt` or reversed are ignored (RFC 2018 §5, RFC 2883: D-SACK below `una`).
    pub fn sack(&mut self, block: Range) -> u64 {
        if block.start >= block.end || block.start < self.una || block.end > self.nxt {
            return 0;
        }
        let mut fresh = 0;
        let mut from = block.start;
        while from < block.end {
            let (covered, to) = self.sacked.run_at(from, block.end);
            if !covered {
                fresh += self.mark_sacked(Range { start: from, end: to });
            }
            from = to;
        }
        fresh
    }

    /// Marks the records wholly inside a stretch that no block covered yet; a part of a record stays unreported.
    fn mark_sacked(&mut self, stretch: Range) -> u64 {
        let mut index = self.index_of(stretch.start);
        let mut begin = self.start_of(index);
        if begin < stretch.start {
            begin = self.records[index].end;
            index += 1;
        }
        let first = begin;
        while let Some(record) = self.records.get_mut(index) {
            if record.end > stretch.end {
                break;
            }
            let (len, marks) = (record.end - begin, record.marks);
            if let Some(times) = &mut self.times {
                times.see(*record);
                times.report(*record);
            }
            record.marks |= SACKED;
            begin = record.end;
            index += 1;
            self.sacked_bytes += len;
            if marks & LOST != 0 {
                self.lost_bytes -= len;
            }
            if marks & AGAIN != 0 {
                self.again_bytes -= len;
            }
        }
        if begin > first {
            self.sacked.insert(Range { start: first, end: begin });
        }
        begin - first
    }

    /// Marks as lost every unreported segment below three discontiguous SACKed sequences, or below more than
    /// two segments' worth of SACKed bytes (RFC 6675 §4, IsLost with DupThresh = 3). Each segment is visited once.
    pub fn mark_lost_by_sack(&mut self, segment: u64) {
        let Some(edge) = self.sacked.edge_above(3, 2 * segment) else { return };
        let mut index = self.lost_to.max(self.popped);
        while let Some(record) = self.records.get((index - self.popped) as usize) {
            if record.end > edge {
                break;
            }
            self.mark_lost((index - self.popped) as usize);
            index += 1;
        }
        self.lost_to = index;
    }

    /// Marks the first unacknowledged segment as lost.
    pub fn mark_first_lost(&mut self) {
        if !self.records.is_empty() {
            self.mark_lost(0);
            self.again_from = self.again_from.min(self.popped);
            self.lost_to = self.lost_to.max(self.popped + 1);
        }
    }

    /// Marks the segment that begins at `start` as lost, if it is outstanding, was not reported and was not sent again since it
    /// was last found lost; and says which it is.
    pub fn lose(&mut self, start: u64) -> Option<Range> {
        if !(self.una..self.nxt).contains(&start) {
            return None;
        }
        let index = self.index_of(start);
        if self.start_of(index) != start || self.records[index].marks & (SACKED | AGAIN) != 0 {
            return None;
        }
        self.mark_lost(index);
        Some(self.range_at(index))
    }

    /// The outstanding segment that begins at `start`.
    pub fn segment_at(&self, start: u64) -> Option<Range> {
        if !(self.una..self.nxt).contains(&start) {
            return None;
        }
        let range = self.range_at(self.index_of(start));
        (range.start == start).then_some(range)
    }

    /// Marks the first unacknowledged segment as lost, and says which it is.
    pub fn lose_first(&mut self) -> Option<Range> {
        self.mark_first_lost();
        self.first()
    }

    /// Marks everything unreported as lost and not yet sent again (after a timeout).
    ///
    /// If the first segment was reported by SACK, the receiver has reneged: all reports are forgotten (RFC 2018 §8).
    pub fn mark_all_lost(&mut self) {
        if self.records.front().is_some_and(|record| record.marks & SACKED != 0) {
            self.sacked.clear();
            self.sacked_bytes = 0;
            self.records.iter_mut().for_each(|record| record.marks &= !SACKED);
        }
        if let Some(times) = &mut self.times {
            times.forget_copies();
        }
        let mut start = self.una;
        self.lost_bytes = 0;
        self.again_bytes = 0;
        for record in &mut self.records {
            let is_known = record.marks & (LOST | AGAIN | SACKED) == LOST;
            record.marks &= !(AGAIN | LOST);
            if record.marks & SACKED == 0 {
                record.marks |= LOST;
                self.lost_bytes += record.end - start;
                self.lost_total += if is_known { 0 } else { record.end - start };
                if let Some(times) = self.times.as_mut().filter(|_| !is_known) {
                    times.note_loss(Range { start, end: record.end });
                }
            }
            start = record.end;
        }
        self.again_from = self.popped;
        self.rule3_from = self.popped;
        self.lost_to = self.popped + self.records.len() as u64;
    }

    /// Cuts what is longer than `longest` bytes into pieces that can go out again one by one, each with the marks of the
    /// whole.
    pub fn cut(&mut self, longest: u64) {
        if let Some(times) = &mut self.times {
            times.forget_copies();
        }
        let whole = std::mem::take(&mut self.records);
        let places = [self.lost_to, self.again_from, self.rule3_from];
        let mut moved = places;
        let mut start = self.una;
        for (number, record) in (self.popped..).zip(whole) {
            let before = self.records.len();
            while record.end - start > longest {
                start += longest;
                self.records.push_back(Record { end: start, ..record });
            }
            let added = (self.records.len() - before) as u64;
            for (place, moved) in places.iter().zip(&mut moved) {
                *moved += if number < *place { added } else { 0 };
            }
            self.records.push_back(record);
            start = record.end;
        }
        [self.lost_to, self.again_from, self.rule3_from] = moved;
    }

    /// Nothing is lost or was sent again after all (after a spurious timeout).
    pub fn forget_losses(&mut self) {
        self.records.iter_mut().for_each(|record| record.marks &= !(AGAIN | LOST));
        (self.lost_bytes, self.again_bytes) = (0, 0);
        (self.lost_to, self.again_from, self.rule3_from) = (self.popped, self.popped, self.popped);
    }

    /// Whether a segment that was sent once and is neither acknowledged nor reported ends between these offsets. It looks at
    /// each segment between them.
    pub fn has_original(&self, start: u64, end: u64) -> bool {
        if start < self.una || start >= end {
            return false;
        }
        self.records
            .range(self.index_of(start)..)
            .take_while(|record| record.end <= end)
            .any(|record| record.marks & (SACKED | EVER_AGAIN) == 0)
    }

    /// When the first unacknowledged segment went out last.
    pub fn first_sent_at(&self) -> Option<Time> {
        self.records.front().map(|record| record.sent_at)
    }

    /// The first unacknowledged segment.
    pub fn first(&self) -> Option<Range> {
        self.records.front().map(|record| Range { start: self.una, end: record.end })
    }

    /// Whether the first unacknowledged segment is marked lost (and not reported since).
    pub fn first_is_lost(&self) -> bool {
        self.records.front().is_some_and(|record| record.marks & (LOST | SACKED) == LOST)
    }

    /// Whether the first unacknowledged segment was sent again since it was last found lost.
    pub fn first_is_sent_again(&self) -> bool {
        self.records.front().is_some_and(|record| record.marks & AGAIN != 0)
    }

    /// The next segment that is lost and not yet sent again (RFC 6675 §4, NextSeg rule 1). Amortised O(1).
    pub fn next_lost(&mut self) -> Option<Range> {
        if let Some(range) = self.next_lost_again() {
            return Some(range);
        }
        let mut index = self.again_from.max(self.popped);
        let found = loop {
            match self.records.get((index - self.popped) as usize) {
                _ if index >= self.lost_to => break None,
                None => break None,
                Some(record) if record.marks & (LOST | AGAIN | SACKED) == LOST => break Some(index),
                Some(_) => index += 1,
            }
        };
        self.again_from = index;
        found.map(|index| self.range_at((index - self.popped) as usize))
    }

    /// The next segment below the highest SACK that is neither reported, nor lost, nor sent again (NextSeg rule 3).
    pub fn next_doubtful(&mut self) -> Option<Range> {
        let highest = self.highest_sacked()?;
        let mut index = self.rule3_from.max(self.again_from).max(self.popped);
        let found = loop {
            match self.records.get((index - self.popped) as usize) {
                Some(record) if record.end <= highest => {
                    if record.marks & (AGAIN | SACKED) == 0 {
                        break Some(index);
                    }
                    index += 1;
                }
                _ => break None,
            }
        };
        self.rule3_from = index;
        found.map(|index| self.range_at((index - self.popped) as usize))
    }

    /// The last outstanding segment, if SACK has not reported it and it was not sent again (NextSeg rule 4).
    pub fn last_doubtful(&self) -> Option<Range> {
        let index = self.records.len().checked_sub(1)?;
        (self.records[index].marks & (SACKED | AGAIN) == 0).then(|| self.range_at(index))
    }

    fn mark_lost(&mut self, index: usize) {
        let len = self.len_of(index);
        let record = &mut self.records[index];
        if record.marks & (SACKED | LOST) == 0 {
            record.marks |= LOST;
            self.lost_bytes += len;
            self.lost_total += len;
            self.note_loss(index);
        }
    }

    fn note_loss(&mut self, index: usize) {
        let range = self.range_at(index);
        if let Some(times) = &mut self.times {
            times.note_loss(range);
        }
    }

    fn forget(&mut self, bytes: u64, marks: u8) {
        if marks & (SACKED | LOST | AGAIN) == 0 {
            return;
        }
        if marks & SACKED != 0 {
            self.sacked_bytes -= bytes;
            return;
        }
        if marks & LOST != 0 {
            self.lost_bytes -= bytes;
        }
        if marks & AGAIN != 0 {
            self.again_bytes -= bytes;
        }
    }

    fn index_of(&self, offset: u64) -> usize {
        if offset == self.una {
            return 0;
        }
        self.records.partition_point(|record| record.end <= offset)
    }

    fn start_of(&self, index: usize) -> u64 {
        match index {
            0 => self.una,
            index => self.records[index - 1].end,
        }
    }

    fn len_of(&self, index: usize) -> u64 {
        self.records[index].end - self.start_of(index)
    }

    fn range_at(&self, index: usize) -> Range {
        Range { start: self.start_of(index), end: self.records[index].end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One for each segment outstanding, and every ACK touches some: the end, when it was sent, the marks, rounded up to 8.
    /// Where it begins is where the one before it ends.
    #[test]
    fn a_record_is_three_words() {
        assert_eq!(size_of::<Record>(), 3 * 8);
    }
}
