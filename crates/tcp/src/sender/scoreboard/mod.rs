//! The scoreboard (RFC 6675 §3): data sent and not yet acknowledged, with running sums.
//!
//! The scoreboard is a ring of records, one per segment, contiguous from `una` to `nxt`. The sums are updated with each
//! change, and each record is visited a bounded number of times. The cost of an ACK therefore depends neither on the
//! window nor on the number of holes.

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

/// The sender's record of its outstanding data, in absolute stream offsets (bytes).
///
/// The fields of the fast path come last, next to the fields that follow in [`Sender`](super::Sender).
#[derive(Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    /// Index below which all records were examined for loss.
    lost_to: u64,
    /// Index below which no record needs a retransmission.
    retransmit_from: u64,
    /// Index from which NextSeg rule 3 (RFC 6675) searches.
    rule3_from: u64,
    /// Total number of bytes marked as lost. Bytes that are lost repeatedly count each time.
    lost_total: u64,
    copy_bytes: u64,
    lost_bytes: u64,
    sacked_bytes: u64,
    sacked: RangeSet,
    records: VecDeque<SegmentRecord>,
    largest_acked: u64,
    times: Option<Box<Times>>,
    /// Number of records removed at the front: the absolute index of the front record.
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
/// Mark of a segment that was retransmitted after it was last found lost, so that a copy is in flight.
const COPY_IN_FLIGHT: u8 = 4;
/// Mark of a segment that was retransmitted at any time (for Karn's rule).
const EVER_RETRANSMITTED: u8 = 8;

impl Scoreboard {
    /// Returns an empty scoreboard; the next byte is at `offset`.
    pub fn starting_at(offset: u64) -> Scoreboard {
        Scoreboard { una: offset, nxt: offset, ..Scoreboard::default() }
    }

    /// First byte not yet acknowledged.
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

    /// Largest number of bytes that one ACK acknowledged: an upper bound of the largest segment that the path is known
    /// to carry.
    pub fn largest_acked(&self) -> u64 {
        self.largest_acked
    }

    /// Estimate of the bytes in flight (RFC 6675 §4, SetPipe), in constant time.
    pub fn pipe(&self) -> u64 {
        self.outstanding() + self.copy_bytes - self.sacked_bytes - self.lost_bytes
    }

    /// Bytes that are not acknowledged but have left the network: marked as lost or reported by SACK, and not
    /// retransmitted.
    pub fn left_network(&self) -> u64 {
        self.outstanding().saturating_sub(self.pipe())
    }

    /// Bytes above `una` that SACK has reported.
    pub fn sacked(&self) -> u64 {
        self.sacked_bytes
    }

    /// Bytes marked as lost and not reported by SACK.
    pub fn lost(&self) -> u64 {
        self.lost_bytes
    }

    /// Total number of bytes found lost. Bytes that are lost repeatedly count each time.
    pub fn lost_total(&self) -> u64 {
        self.lost_total
    }

    /// Whether no outstanding data is reported, lost or retransmitted.
    #[inline]
    pub fn permits_fast_path(&self) -> bool {
        self.sacked_bytes == 0 && self.lost_bytes == 0 && self.copy_bytes == 0
    }

    /// Offset after the highest byte reported by SACK.
    pub fn highest_sacked(&self) -> Option<u64> {
        self.sacked.last().map(|range| range.end)
    }

    /// Whether this byte, which was sent, was acknowledged or reported by SACK.
    pub fn has_arrived(&self, offset: u64) -> bool {
        offset < self.una || self.sacked.run_at(offset, offset + 1).0
    }

    /// Records `len` bytes of new data.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn record_new(&mut self, len: u64, now: Time) {
        self.nxt += len;
        self.records.push_back(SegmentRecord { end: self.nxt, sent_at: now, marks: 0 });
    }

    /// Records a retransmission of the segment at `start`.
    pub fn record_retransmission(&mut self, start: u64, now: Time) {
        let index = self.index_of(start);
        let len = self.len_of(index);
        let record = &mut self.records[index];
        record.sent_at = now;
        record.marks |= EVER_RETRANSMITTED;
        // Reported data is not in flight, even if it is retransmitted, which happens only after reneging (RFC 2018 §8).
        if record.marks & (COPY_IN_FLIGHT | SACKED) == 0 {
            record.marks |= COPY_IN_FLIGHT;
            self.copy_bytes += len;
        }
        if let Some(times) = &mut self.times {
            times.record_retransmission(self.popped + index as u64, now);
        }
    }

    /// Records a retransmission that does not count in pipe (RFC 6675 §4, NextSeg rule 4).
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

    /// Splits segments longer than `longest` bytes into parts with the same marks. The parts are retransmitted
    /// separately.
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

    /// Whether a segment that was sent only once, and is neither acknowledged nor reported, ends in this range. Visits
    /// the segments of the range.
    pub fn has_original(&self, start: u64, end: u64) -> bool {
        if start < self.una || start >= end {
            return false;
        }
        self.records
            .range(self.index_of(start)..)
            .take_while(|record| record.end <= end)
            .any(|record| record.marks & (SACKED | EVER_RETRANSMITTED) == 0)
    }

    /// Last sending time of the first unacknowledged segment.
    pub fn first_sent_at(&self) -> Option<Time> {
        self.records.front().map(|record| record.sent_at)
    }

    /// The first unacknowledged segment.
    pub fn first(&self) -> Option<Range> {
        self.records.front().map(|record| Range { start: self.una, end: record.end })
    }

    /// Whether the first unacknowledged segment is marked as lost, and SACK has not reported it since.
    pub fn first_is_lost(&self) -> bool {
        self.records.front().is_some_and(|record| record.marks & (LOST | SACKED) == LOST)
    }

    /// Whether the first unacknowledged segment was retransmitted since it was last found lost.
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

    /// Each outstanding segment has one record of its end, sending time and marks, rounded up to 8 bytes.
    #[test]
    fn a_record_is_three_words() {
        assert_eq!(size_of::<SegmentRecord>(), 3 * 8);
    }
}
