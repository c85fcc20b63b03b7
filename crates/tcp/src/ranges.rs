//! Ranges of absolute stream offsets, and ordered sets of ranges.

use std::collections::VecDeque;

/// Bytes `start..end` of a stream, in absolute offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Range {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset of the byte after the last byte.
    pub end: u64,
}

impl Range {
    /// Length in bytes.
    pub const fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether the range is empty.
    pub const fn is_empty(&self) -> bool {
        self.start >= self.end
    }
}

/// Disjoint, non-adjacent ranges in ascending order.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    ranges: VecDeque<Range>,
}

impl RangeSet {
    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Lowest range.
    pub fn first(&self) -> Option<Range> {
        self.ranges.front().copied()
    }

    /// Highest range.
    pub fn last(&self) -> Option<Range> {
        self.ranges.back().copied()
    }

    /// All ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.ranges.iter().copied()
    }

    /// Removes all ranges.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Range that contains `offset`, if any.
    pub fn containing(&self, offset: u64) -> Option<Range> {
        let range = self.ranges.get(self.index_behind(offset))?;
        (range.start <= offset).then_some(*range)
    }

    /// Returns whether `from` is in the set, and the end of the range or gap that contains `from`. The end is at most
    /// `limit`.
    pub fn run_at(&self, from: u64, limit: u64) -> (bool, u64) {
        match self.ranges.get(self.index_behind(from)) {
            Some(range) if range.start <= from => (true, range.end.min(limit)),
            Some(range) => (false, range.start.min(limit)),
            None => (false, limit),
        }
    }

    /// Adds `range`, and merges it with every range that overlaps or touches it. Returns the merged range.
    pub fn insert(&mut self, range: Range) -> Range {
        // The common cases come first: the set is empty, or `range` starts at or after the start of the last range.
        match self.ranges.back_mut() {
            None => {
                self.ranges.push_back(range);
                return range;
            }
            Some(last) if range.start > last.end => {
                self.ranges.push_back(range);
                return range;
            }
            Some(last) if range.start >= last.start => {
                last.end = last.end.max(range.end);
                return *last;
            }
            Some(_) => {}
        }
        let first = self.ranges.partition_point(|known| known.end < range.start);
        let behind = self.ranges.partition_point(|known| known.start <= range.end);
        if first == behind {
            self.ranges.insert(first, range);
            return range;
        }
        let merged = Range {
            start: range.start.min(self.ranges[first].start),
            end: range.end.max(self.ranges[behind - 1].end),
        };
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..behind);
        merged
    }

    /// Whether `range` neither overlaps nor touches any range of the set.
    pub fn is_apart(&self, range: Range) -> bool {
        match self.ranges.get(self.ranges.partition_point(|known| known.end < range.start)) {
            Some(next) => range.end < next.start,
            None => true,
        }
    }

    /// Removes all bytes below `offset`.
    pub fn remove_below(&mut self, offset: u64) {
        while let Some(range) = self.ranges.front_mut() {
            if range.end > offset {
                range.start = range.start.max(offset);
                break;
            }
            self.ranges.pop_front();
        }
    }

    /// Counts the ranges and adds up their lengths, from the highest range downwards. Returns the start of the range at
    /// which the count reaches `ranges` or the sum exceeds `bytes` bytes; `None` if neither happens.
    pub fn edge_above(&self, ranges: usize, bytes: u64) -> Option<u64> {
        let mut sum = 0;
        for (count, range) in self.ranges.iter().rev().take(ranges).enumerate() {
            sum += range.len();
            if count + 1 == ranges || sum > bytes {
                return Some(range.start);
            }
        }
        None
    }

    fn index_behind(&self, offset: u64) -> usize {
        match self.ranges.back() {
            Some(last) if last.start <= offset => {
                if last.end > offset {
                    self.ranges.len() - 1
                } else {
                    self.ranges.len()
                }
            }
            _ => self.ranges.partition_point(|range| range.end <= offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ranges: &[(u64, u64)]) -> RangeSet {
        let mut set = RangeSet::default();
        for (start, end) in ranges {
            set.insert(Range { start: *start, end: *end });
        }
        set
    }

    fn list(set: &RangeSet) -> Vec<(u64, u64)> {
        set.iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn ranges_merge_when_they_touch() {
        assert_eq!(list(&set(&[(10, 20), (30, 40), (20, 30)])), [(10, 40)]);
        assert_eq!(list(&set(&[(30, 40), (10, 20)])), [(10, 20), (30, 40)]);
        assert_eq!(list(&set(&[(10, 20), (30, 40), (50, 60), (15, 55)])), [(10, 60)]);
        assert_eq!(list(&set(&[(10, 20), (12, 14)])), [(10, 20)]);
    }

    #[test]
    fn runs_and_edges() {
        let set = set(&[(10, 20), (30, 40), (50, 60)]);
        assert_eq!(set.run_at(0, 100), (false, 10));
        assert_eq!(set.run_at(12, 15), (true, 15));
        assert_eq!(set.run_at(20, 100), (false, 30));
        assert_eq!(set.run_at(60, 100), (false, 100));
        assert_eq!(set.containing(35), Some(Range { start: 30, end: 40 }));
        assert_eq!(set.containing(45), None);
        assert_eq!(set.edge_above(3, 1000), Some(10));
        assert_eq!(set.edge_above(3, 15), Some(30));
        assert_eq!(set.edge_above(4, 1000), None);
    }

    #[test]
    fn what_is_acknowledged_leaves() {
        let mut set = set(&[(10, 20), (30, 40)]);
        set.remove_below(35);
        assert_eq!(list(&set), [(35, 40)]);
    }
}
