//! Marking of segments as lost because of SACK, timeouts and loss reports. The file `times.rs` detects losses by time
//! (RACK).

use super::{COPY_IN_FLIGHT, LOST, SACKED, Scoreboard};
use crate::ranges::Range;

impl Scoreboard {
    /// Marks segments as lost that are not SACKed and for which IsLost is true (RFC 6675 §4). IsLost requires three
    /// discontiguous SACKed ranges above the segment, or SACKed bytes of more than two segments. Over the whole
    /// connection, each segment is visited once. `segment`: payload of a full segment, bytes.
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
            self.retransmit_from = self.retransmit_from.min(self.popped);
            self.lost_to = self.lost_to.max(self.popped + 1);
        }
    }

    /// Marks the first unacknowledged segment as lost, and returns its range.
    pub fn first_marked_lost(&mut self) -> Option<Range> {
        self.mark_first_lost();
        self.first()
    }

    /// Marks the segment at offset `start` as lost and returns its range. Returns `None` if the segment is not
    /// outstanding, is SACKed, or has a retransmitted copy in flight.
    pub fn mark_lost_at(&mut self, start: u64) -> Option<Range> {
        if !(self.una..self.nxt).contains(&start) {
            return None;
        }
        let index = self.index_of(start);
        if self.start_of(index) != start || self.records[index].marks & (SACKED | COPY_IN_FLIGHT) != 0 {
            return None;
        }
        self.mark_lost(index);
        Some(self.range_at(index))
    }

    /// Marks all outstanding data that is not SACKed as lost and not yet retransmitted. Used for go-back-N, such as
    /// after a timeout.
    ///
    /// If the first outstanding segment is SACKed, the receiver has reneged. All SACK marks are then removed (RFC 2018
    /// §8).
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
        self.copy_bytes = 0;
        for record in &mut self.records {
            let is_known = record.marks & (LOST | COPY_IN_FLIGHT | SACKED) == LOST;
            record.marks &= !(COPY_IN_FLIGHT | LOST);
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
        self.retransmit_from = self.popped;
        self.rule3_from = self.popped;
        self.lost_to = self.popped + self.records.len() as u64;
    }

    /// Removes all SACK marks. Each segment returns to its state before the SACK report: lost, retransmitted or
    /// neither. Visits all segments.
    pub fn forget_reports(&mut self) {
        if self.sacked.is_empty() {
            return;
        }
        self.sacked.clear();
        self.sacked_bytes = 0;
        let mut start = self.una;
        for record in &mut self.records {
            let len = record.end - start;
            start = record.end;
            if record.marks & SACKED == 0 {
                continue;
            }
            record.marks &= !SACKED;
            if record.marks & LOST != 0 {
                self.lost_bytes += len;
            }
            if record.marks & COPY_IN_FLIGHT != 0 {
                self.copy_bytes += len;
            }
        }
        (self.retransmit_from, self.rule3_from) = (self.popped, self.popped);
    }

    /// Removes the marks of all losses and of retransmitted copies in flight, after a spurious timeout or recovery.
    pub fn forget_losses(&mut self) {
        self.records.iter_mut().for_each(|record| record.marks &= !(COPY_IN_FLIGHT | LOST));
        (self.lost_bytes, self.copy_bytes) = (0, 0);
        (self.lost_to, self.retransmit_from, self.rule3_from) = (self.popped, self.popped, self.popped);
    }

    pub(super) fn mark_lost(&mut self, index: usize) {
        let len = self.len_of(index);
        let record = &mut self.records[index];
        if record.marks & (SACKED | LOST) == 0 {
            record.marks |= LOST;
            self.lost_bytes += len;
            self.lost_total += len;
            self.note_loss(index);
        }
    }

    pub(super) fn note_loss(&mut self, index: usize) {
        let range = self.range_at(index);
        if let Some(times) = &mut self.times {
            times.note_loss(range);
        }
    }
}
