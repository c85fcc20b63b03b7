//! Record of the unacknowledged data that the middlebox forwarded. If the receiver misses data, the record shows where
//! the loss happened. Recorded data was lost after the middlebox; data that is not recorded was lost before the
//! middlebox.

use crate::acks::{AckKind, Acks};
use crate::sequence::{distance, end_of, is_before};
use lasthop_wire::{Flags, Segment, Seq};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct ForwardedData {
    pub(crate) acks: Acks,
    /// Disjoint ranges above the last ACK, in ascending order.
    ranges: VecDeque<(Seq, Seq)>,
}

impl ForwardedData {
    /// Records a data segment, in at most `max_ranges` ranges.
    pub(crate) fn on_data(&mut self, segment: &Segment, max_ranges: usize) {
        if segment.flags.has(Flags::SYN | Flags::RST) {
            self.ranges.clear();
        }
        self.acks.on_data(segment);
        let Some(last) = self.acks.last() else { return };
        let (start, end) = (segment.seq, end_of(segment));
        if segment.sequence_space() > 0 && is_before(last, end) {
            self.add(start, end, max_ranges);
        }
    }

    pub(crate) fn on_ack(&mut self, segment: &Segment) -> AckKind {
        let kind = self.acks.classify(segment);
        if let AckKind::New(_) = kind {
            self.remove_below(segment.ack);
        }
        kind
    }

    /// Whether the byte `number` was forwarded and is not acknowledged yet.
    pub(crate) fn contains(&self, number: Seq) -> bool {
        self.ranges.iter().any(|(start, end)| !is_before(number, *start) && is_before(number, *end))
    }

    fn remove_below(&mut self, number: Seq) {
        while let Some((start, end)) = self.ranges.front_mut() {
            if is_before(number, *end) {
                if is_before(*start, number) {
                    *start = number;
                }
                break;
            }
            self.ranges.pop_front();
        }
    }

    /// Adds a range. The search runs from the end, because nearly all segments extend the last range.
    fn add(&mut self, start: Seq, end: Seq, max_ranges: usize) {
        let behind = self.ranges.iter().rev().take_while(|(first, _)| distance(*first, start) < 0).count();
        let mut index = self.ranges.len() - behind;
        let touches_before = index > 0 && !is_before(self.ranges[index - 1].1, start);
        if touches_before {
            index -= 1;
            let known = &mut self.ranges[index];
            if is_before(known.1, end) {
                known.1 = end;
            }
        } else if self.ranges.len() < max_ranges {
            self.ranges.insert(index, (start, end));
        } else {
            return;
        }
        while let Some(&(next, next_end)) = self.ranges.get(index + 1)
            && !is_before(self.ranges[index].1, next)
        {
            if is_before(self.ranges[index].1, next_end) {
                self.ranges[index].1 = next_end;
            }
            self.ranges.remove(index + 1);
        }
    }

    /// Removes a range of bytes that the queue of the next link dropped.
    pub(crate) fn remove(&mut self, start: Seq, end: Seq) {
        let Some(index) =
            self.ranges.iter().rposition(|(first, last)| !is_before(start, *first) && !is_before(*last, end))
        else {
            return;
        };
        let (first, last) = self.ranges[index];
        self.ranges.remove(index);
        if is_before(end, last) {
            self.ranges.insert(index, (end, last));
        }
        if is_before(first, start) {
            self.ranges.insert(index, (first, start));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(forwarded: &ForwardedData) -> Vec<(u32, u32)> {
        forwarded.ranges.iter().map(|(start, end)| (start.0, end.0)).collect()
    }

    #[test]
    fn stretches_meet_part_and_are_forgotten() {
        let mut forwarded = ForwardedData::default();
        let base = u32::MAX - 99;
        let at = |offset: u32| Seq(base.wrapping_add(offset));
        for (start, end) in [(0, 50), (100, 150), (200, 250), (50, 100), (300, 350)] {
            forwarded.add(at(start), at(end), 4);
        }
        assert_eq!(
            ranges(&forwarded),
            [(at(0).0, at(150).0), (at(200).0, at(250).0), (at(300).0, at(350).0)]
        );
        assert!(forwarded.contains(at(149)) && !forwarded.contains(at(150)) && forwarded.contains(at(320)));
        forwarded.remove(at(100), at(120));
        assert_eq!(ranges(&forwarded)[..2], [(at(0).0, at(100).0), (at(120).0, at(150).0)]);
        forwarded.add(at(500), at(550), 4);
        assert!(!forwarded.contains(at(500)), "a fifth range must not be recorded");
        forwarded.remove_below(at(210));
        assert_eq!(ranges(&forwarded), [(at(210).0, at(250).0), (at(300).0, at(350).0)]);
    }
}
