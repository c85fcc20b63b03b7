//! Reassembly of data that arrives in order or out of order, and SACK blocks for this data.

use crate::ranges::{Range, RangeSet};
use lasthop_wire::SackBlocks;

/// Receive sequence space, in absolute offsets.
#[derive(Debug)]
#[repr(C)]
pub struct Reassembly {
    next: u64,
    beyond: RangeSet,
    /// Offset of one byte in each recently received range after a hole, the most recent first (RFC 2018 §4). Unused
    /// entries are [`NO_BYTE`].
    recent: [u64; SackBlocks::CAPACITY],
    limit: usize,
}

/// Value of an unused entry of `Reassembly::recent`.
const NO_BYTE: u64 = u64::MAX;

/// Effect of an arriving segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Insertion {
    /// Bytes by which the arrival advances the cumulative ACK.
    pub advanced: u64,
    /// Gap that the arrival opened, if any.
    pub opened: Option<Range>,
    /// Whether data after a hole existed before the arrival.
    pub had_holes: bool,
    /// Whether any byte of the segment was new.
    pub fresh: bool,
    /// First range of duplicate bytes in the segment (RFC 2883 §4).
    pub duplicate: Option<Range>,
}

impl Reassembly {
    /// Returns an empty sequence space. `next`: offset of the next byte expected.
    pub fn starting_at(next: u64) -> Reassembly {
        Reassembly {
            next,
            beyond: RangeSet::default(),
            limit: usize::MAX,
            recent: [NO_BYTE; SackBlocks::CAPACITY],
        }
    }

    /// Limits the number of ranges after holes to `limit`. Data that would exceed the limit is dropped, so the sender
    /// must retransmit the data.
    pub fn with_limit(self, limit: usize) -> Reassembly {
        Reassembly { limit, ..self }
    }

    /// Offset of the next byte expected.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Offset after the highest byte received.
    pub fn highest(&self) -> u64 {
        self.beyond.last().map_or(self.next, |range| range.end)
    }

    /// Whether data is held after a hole.
    pub fn has_holes(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// Ranges of data after holes.
    pub fn beyond(&self) -> &RangeSet {
        &self.beyond
    }

    /// Adds the next `bytes` bytes in order. The caller ensures that no holes exist.
    #[inline]
    pub fn advance(&mut self, bytes: u64) {
        self.next += bytes;
    }

    /// Adds the bytes of a segment.
    pub fn insert(&mut self, range: Range) -> Insertion {
        let mut change = Insertion { had_holes: self.has_holes(), ..Insertion::default() };
        if range.start < self.next {
            change.duplicate = Some(Range { start: range.start, end: range.end.min(self.next) });
        }
        if range.end <= self.next {
            return change;
        }
        if range.start <= self.next {
            change.fresh = true;
            let before = self.next;
            self.next = range.end;
            if change.had_holes {
                change.duplicate = change.duplicate.or_else(|| self.first_known(range));
                self.beyond.remove_below(self.next);
                if let Some(first) = self.beyond.first().filter(|first| first.start <= self.next) {
                    self.next = self.next.max(first.end);
                    self.beyond.remove_below(self.next);
                }
            }
            change.advanced = self.next - before;
            return change;
        }
        let highest = self.highest();
        if range.start < highest {
            change.duplicate = self.first_known(range);
        }
        if self.beyond.len() >= self.limit && self.beyond.is_apart(range) {
            return change;
        }
        change.opened = (range.start > highest).then_some(Range { start: highest, end: range.start });
        change.fresh = change.duplicate != Some(range);
        self.beyond.insert(range);
        self.remember(range.start);
        change
    }

    /// Returns at most `most` ranges for SACK blocks: first the recently received ranges, then the other ranges in
    /// descending order (RFC 2018 §4).
    pub fn sack_ranges(&self, most: usize) -> impl Iterator<Item = Range> + '_ {
        let recent = self.recent().filter_map(|byte| self.beyond.containing(byte));
        let others = self.beyond.iter().rev().filter(|range| !self.is_recent(range));
        recent.chain(others).take(most)
    }

    /// First part of `range` that is already held after a hole.
    fn first_known(&self, range: Range) -> Option<Range> {
        let (known, end) = self.beyond.run_at(range.start, range.end);
        if known {
            return Some(Range { start: range.start, end });
        }
        let (known, to) = self.beyond.run_at(end, range.end);
        (known && end < to).then_some(Range { start: end, end: to })
    }

    fn recent(&self) -> impl Iterator<Item = u64> + '_ {
        self.recent.iter().copied().take_while(|byte| *byte != NO_BYTE)
    }

    fn is_recent(&self, range: &Range) -> bool {
        self.recent().any(|byte| range.start <= byte && byte < range.end)
    }

    /// Puts `byte` first in the list of recent ranges. Removes entries that are already acknowledged or in the same
    /// range as `byte`.
    fn remember(&mut self, byte: u64) {
        let Some(newest) = self.beyond.containing(byte) else { return };
        let mut list = [NO_BYTE; SackBlocks::CAPACITY];
        list[0] = byte;
        let mut filled = 1;
        for old in self.recent() {
            let inside_newest = newest.start <= old && old < newest.end;
            if filled < list.len() && !inside_newest && old >= self.next {
                list[filled] = old;
                filled += 1;
            }
        }
        self.recent = list;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> Range {
        Range { start, end }
    }

    fn blocks(reassembly: &Reassembly) -> Vec<(u64, u64)> {
        reassembly.sack_ranges(4).map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn rfc2018_section_7_case_2() {
        // The first of eight segments of 500 bytes is lost. Each ACK reports one block, which grows with each segment.
        let mut received = Reassembly::starting_at(5000);
        for (n, end) in [6000, 6500, 7000, 7500, 8000, 8500, 9000].into_iter().enumerate() {
            let change = received.insert(range(end - 500, end));
            assert_eq!(change.opened, (n == 0).then_some(range(5000, 5500)));
            assert_eq!((received.next(), blocks(&received)), (5000, vec![(5500, end)]));
        }
    }

    #[test]
    fn rfc2018_section_7_case_3() {
        // The 2nd, 4th, 6th and 8th segments are lost. Later the 4th segment arrives, then the 2nd.
        let mut received = Reassembly::starting_at(5000);
        let arrive = |received: &mut Reassembly, start| {
            received.insert(range(start, start + 500));
            (received.next(), blocks(received))
        };
        assert_eq!(arrive(&mut received, 5000), (5500, vec![]));
        assert_eq!(arrive(&mut received, 6000), (5500, vec![(6000, 6500)]));
        assert_eq!(arrive(&mut received, 7000), (5500, vec![(7000, 7500), (6000, 6500)]));
        assert_eq!(arrive(&mut received, 8000), (5500, vec![(8000, 8500), (7000, 7500), (6000, 6500)]));
        assert_eq!(arrive(&mut received, 6500), (5500, vec![(6000, 7500), (8000, 8500)]));
        assert_eq!(arrive(&mut received, 5500), (7500, vec![(8000, 8500)]));
    }
}
