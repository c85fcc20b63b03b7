//! Choice of the next retransmission (RFC 6675 §4, NextSeg).

use super::{COPY_IN_FLIGHT, LOST, SACKED, Scoreboard};
use crate::ranges::Range;

impl Scoreboard {
    /// Returns the first lost segment that needs a retransmission (RFC 6675 §4, NextSeg rule 1; Linux's
    /// `tcp_xmit_retransmit_queue`). The lost transmission may be the original or a retransmitted copy. The amortised
    /// cost is O(1), and O(log n) for copies.
    pub fn next_lost(&mut self) -> Option<Range> {
        let original = self.next_lost_original();
        let copy = if self.times.is_some() { self.next_lost_copy() } else { None };
        let index = original.unwrap_or(u64::MAX).min(copy.unwrap_or(u64::MAX));
        (index != u64::MAX).then(|| self.range_at((index - self.popped) as usize))
    }

    fn next_lost_original(&mut self) -> Option<u64> {
        let mut index = self.retransmit_from.max(self.popped);
        let found = loop {
            match self.records.get((index - self.popped) as usize) {
                _ if index >= self.lost_to => break None,
                None => break None,
                Some(record) if record.marks & (LOST | COPY_IN_FLIGHT | SACKED) == LOST => break Some(index),
                Some(_) => index += 1,
            }
        };
        self.retransmit_from = index;
        found
    }

    /// Returns the next segment below the highest SACKed byte that is not SACKed and has no retransmitted copy in
    /// flight (RFC 6675 §4, NextSeg rule 3).
    pub fn next_doubtful(&mut self) -> Option<Range> {
        let highest = self.highest_sacked()?;
        let mut index = self.rule3_from.max(self.retransmit_from).max(self.popped);
        let found = loop {
            match self.records.get((index - self.popped) as usize) {
                Some(record) if record.end <= highest => {
                    if record.marks & (COPY_IN_FLIGHT | SACKED) == 0 {
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

    /// Returns the last outstanding segment, unless it is SACKed or retransmitted (RFC 6675 §4, NextSeg rule 4).
    pub fn last_doubtful(&self) -> Option<Range> {
        let index = self.records.len().checked_sub(1)?;
        (self.records[index].marks & (SACKED | COPY_IN_FLIGHT) == 0).then(|| self.range_at(index))
    }
}
