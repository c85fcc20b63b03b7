//! The scoreboard (RFC 6675 §3): state of the data that is sent and not yet acknowledged.
//!
//! The scoreboard is a ring of records, one per segment, contiguous from `una` to `nxt`. Running sums hold the SACKed,
//! lost and retransmitted bytes, and each record is visited a bounded number of times. The cost of an ACK therefore
//! depends neither on cwnd nor on the number of holes.

mod arrived;
mod lost;
mod next;
mod times;

pub use arrived::Acked;
pub use times::Newest;

use crate::ranges::{Range, RangeSet};
use lasthop_base::Time;
use std::collections::VecDeque;
use times::Times;

/// The sender's record of its outstanding data. Positions are byte offsets in the stream that never wrap.
///
/// The fields that the fast path uses come last, so that the CPU cache holds them together with the next fields of
/// [`Sender`](super::Sender).
#[derive(Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    /// Index of the first record that has not yet been examined for loss.
    lost_to: u64,
    /// Index of the first record that may need a retransmission.
    retransmit_from: u64,
    /// Index of the first record that NextSeg rule 3 (RFC 6675 §4) may still choose.
    rule3_from: u64,
    /// Total number of bytes ever marked lost. Bytes that are lost repeatedly count each time.
    lost_total: u64,
    copy_bytes: u64,
    lost_bytes: u64,
    sacked_bytes: u64,
    sacked: RangeSet,
    records: VecDeque<SegmentRecord>,
    largest_acked: u64,
    times: Option<Box<Times>>,
    /// Number of records removed at the front. This is the absolute index of the current front record.
    popped: u64,
    una: u64,
    nxt: u64,
}

#[derive(Clone, Copy, Debug)]
struct SegmentRecord {
    end: u64,
    sent_at: Time,
    marks: u8,
}

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// Mark of a segment whose retransmitted copy is in flight: retransmitted since it was last marked lost.
const COPY_IN_FLIGHT: u8 = 4;
/// Mark of a segment that was ever retransmitted (for Karn's algorithm).
const EVER_RETRANSMITTED: u8 = 8;

impl Scoreboard {
    /// Returns an empty scoreboard. The first byte sent has the offset `offset`.
    pub fn starting_at(offset: u64) -> Scoreboard {
        Scoreboard { una: offset, nxt: offset, ..Scoreboard::default() }
    }

    /// Offset of the first byte not yet acknowledged (SND.UNA).
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Offset of the next new byte to send (SND.NXT).
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Bytes sent and not cumulatively acknowledged (RFC 5681's FlightSize).
    pub fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// Largest number of bytes that one ACK acknowledged. This is an upper bound of the largest segment that is known
    /// to have crossed the path.
    pub fn largest_acked(&self) -> u64 {
        self.largest_acked
    }

    /// Estimate of the bytes in flight (RFC 6675 §4, SetPipe), in constant time.
    pub fn pipe(&self) -> u64 {
        self.outstanding() + self.copy_bytes - self.sacked_bytes - self.lost_bytes
    }

    /// Bytes that are outstanding but not in flight: marked lost or SACKed, with no retransmitted copy in flight.
    pub fn left_network(&self) -> u64 {
        self.outstanding().saturating_sub(self.pipe())
    }

    /// Bytes above `una` that SACK has reported.
    pub fn sacked(&self) -> u64 {
        self.sacked_bytes
    }

    /// Bytes marked lost and not SACKed.
    pub fn lost(&self) -> u64 {
        self.lost_bytes
    }

    /// Total number of bytes ever marked lost. Bytes that are lost repeatedly count each time.
    pub fn lost_total(&self) -> u64 {
        self.lost_total
    }

    /// Whether no outstanding data is SACKed, marked lost or retransmitted.
    #[inline]
    pub fn permits_fast_path(&self) -> bool {
        self.sacked_bytes == 0 && self.lost_bytes == 0 && self.copy_bytes == 0
    }

    /// Offset after the highest byte reported by SACK.
    pub fn highest_sacked(&self) -> Option<u64> {
        self.sacked.last().map(|range| range.end)
    }

    /// Whether the byte at `offset`, which must have been sent, was acknowledged or SACKed.
    pub fn has_arrived(&self, offset: u64) -> bool {
        offset < self.una || self.sacked.run_at(offset, offset + 1).0
    }

    /// Records that a new segment of `len` bytes is sent.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn record_new(&mut self, len: u64, now: Time) {
        self.nxt += len;
        self.records.push_back(SegmentRecord { end: self.nxt, sent_at: now, marks: 0 });
    }

    /// Records a retransmission of the segment that begins at offset `start`.
    pub fn record_retransmission(&mut self, start: u64, now: Time) {
        let index = self.index_of(start);
        let len = self.len_of(index);
        let record = &mut self.records[index];
        record.sent_at = now;
        record.marks |= EVER_RETRANSMITTED;
        // A SACKed segment does not count as in flight, even if it is retransmitted. Only reneging causes such a
        // retransmission (RFC 2018 §8).
        if record.marks & (COPY_IN_FLIGHT | SACKED) == 0 {
            record.marks |= COPY_IN_FLIGHT;
            self.copy_bytes += len;
        }
        if let Some(times) = &mut self.times {
            times.record_retransmission(self.popped + index as u64, now);
        }
    }

    /// Records a rescue retransmission, which does not count in `pipe` (RFC 6675 §4, NextSeg rule 4).
    pub fn record_rescue(&mut self, start: u64, now: Time) {
        let index = self.index_of(start);
        let record = &mut self.records[index];
        record.sent_at = now;
        record.marks |= EVER_RETRANSMITTED;
    }

    /// Range of the outstanding segment that begins at `start`.
    pub fn segment_at(&self, start: u64) -> Option<Range> {
        if !(self.una..self.nxt).contains(&start) {
            return None;
        }
        let range = self.range_at(self.index_of(start));
        (range.start == start).then_some(range)
    }

    /// Splits segments longer than `longest` bytes, because the path MTU has shrunk. The parts keep the segment's marks
    /// and are retransmitted separately.
    pub fn split_segments(&mut self, longest: u64) {
        if let Some(times) = &mut self.times {
            times.forget_copies();
        }
        let whole = std::mem::take(&mut self.records);
        let places = [self.lost_to, self.retransmit_from, self.rule3_from];
        let mut moved = places;
        let mut start = self.una;
        for (number, record) in (self.popped..).zip(whole) {
            let before = self.records.len();
            while record.end - start > longest {
                start += longest;
                self.records.push_back(SegmentRecord { end: start, ..record });
            }
            let added = (self.records.len() - before) as u64;
            for (place, moved) in places.iter().zip(&mut moved) {
                *moved += if number < *place { added } else { 0 };
            }
            self.records.push_back(record);
            start = record.end;
        }
        [self.lost_to, self.retransmit_from, self.rule3_from] = moved;
    }

    /// Whether any segment in the range `start..end` was sent only once and is neither acknowledged nor SACKed yet.
    /// Visits the segments of the range.
    pub fn has_original(&self, start: u64, end: u64) -> bool {
        if start < self.una || start >= end {
            return false;
        }
        self.records
            .range(self.index_of(start)..)
            .take_while(|record| record.end <= end)
            .any(|record| record.marks & (SACKED | EVER_RETRANSMITTED) == 0)
    }

    /// Time of the last transmission of the first unacknowledged segment.
    pub fn first_sent_at(&self) -> Option<Time> {
        self.records.front().map(|record| record.sent_at)
    }

    /// The first unacknowledged segment.
    pub fn first(&self) -> Option<Range> {
        self.records.front().map(|record| Range { start: self.una, end: record.end })
    }

    /// Whether the first unacknowledged segment is marked lost and not SACKed.
    pub fn first_is_lost(&self) -> bool {
        self.records.front().is_some_and(|record| record.marks & (LOST | SACKED) == LOST)
    }

    /// Whether a retransmitted copy of the first unacknowledged segment is in flight.
    pub fn first_is_retransmitted(&self) -> bool {
        self.records.front().is_some_and(|record| record.marks & COPY_IN_FLIGHT != 0)
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

    /// Each outstanding segment costs one record of 24 bytes: end, sending time, and marks padded to 8 bytes. A larger
    /// record would slow down large windows.
    #[test]
    fn a_record_is_three_words() {
        assert_eq!(size_of::<SegmentRecord>(), 3 * 8);
    }
}
