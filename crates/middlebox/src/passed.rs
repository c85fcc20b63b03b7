//! Record of unacknowledged data that passed: recorded data was lost behind the middlebox, other data before.

use crate::acks::{Acks, Kind};
use crate::numbers::{distance, end_of, is_before};
use lasthop_wire::{Flags, Segment, Seq};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct Passed {
    pub(crate) acks: Acks,
    /// Disjoint ranges beyond the last ACK, ascending.
    runs: VecDeque<(Seq, Seq)>,
}

impl Passed {
    /// Records a data segment, in at most `most` ranges.
    pub(crate) fn pass_data(&mut self, segment: &Segment, most: usize) {
        if segment.flags.has(Flags::SYN | Flags::RST) {
            self.runs.clear();
        }
        self.acks.pass_data(segment);
        let Some(last) = self.acks.last() else { return };
        let (start, end) = (segment.seq, end_of(segment));
        if segment.sequence_space() > 0 && is_before(last, end) {
            self.add(start, end, most);
        }
    }

    pub(crate) fn acknowledge(&mut self, segment: &Segment) -> Kind {
        let kind = self.acks.take(segment);
        if let Kind::New(_) = kind {
            self.forget_below(segment.ack);
        }
        kind
    }

    /// Whether this byte passed and was then unacknowledged.
    pub(crate) fn has(&self, number: Seq) -> bool {
        self.runs.iter().any(|(start, end)| !is_before(number, *start) && is_before(number, *end))
    }

    fn forget_below(&mut self, number: Seq) {
        while let Some((start, end)) = self.runs.front_mut() {
            if is_before(number, *end) {
                if is_before(*start, number) {
                    *start = number;
                }
                break;
            }
            self.runs.pop_front();
        }
    }

    /// Searches from the end: nearly all segments extend the last range.
    fn add(&mut self, start: Seq, end: Seq, most: usize) {
        let behind = self.runs.iter().rev().take_while(|(first, _)| distance(*first, start) < 0).count();
        let mut place = self.runs.len() - behind;
        let touches_before = place > 0 && !is_before(self.runs[place - 1].1, start);
        if touches_before {
            place -= 1;
            let known = &mut self.runs[place];
            if is_before(known.1, end) {
                known.1 = end;
            }
        } else if self.runs.len() < most {
            self.runs.insert(place, (start, end));
        } else {
            return;
        }
        while let Some(&(next, next_end)) = self.runs.get(place + 1)
            && !is_before(self.runs[place].1, next)
        {
            if is_before(self.runs[place].1, next_end) {
                self.runs[place].1 = next_end;
            }
            self.runs.remove(place + 1);
        }
    }

    /// Removes a range that the next queue dropped.
    pub(crate) fn remove(&mut self, start: Seq, end: Seq) {
        let Some(place) =
            self.runs.iter().rposition(|(first, last)| !is_before(start, *first) && !is_before(*last, end))
        else {
            return;
        };
        let (first, last) = self.runs[place];
        self.runs.remove(place);
        if is_before(end, last) {
            self.runs.insert(place, (end, last));
        }
        if is_before(first, start) {
            self.runs.insert(place, (first, start));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(passed: &Passed) -> Vec<(u32, u32)> {
        passed.runs.iter().map(|(start, end)| (start.0, end.0)).collect()
    }

    #[test]
    fn stretches_meet_part_and_are_forgotten() {
        let mut passed = Passed::default();
        let base = u32::MAX - 99;
        let at = |offset: u32| Seq(base.wrapping_add(offset));
        for (start, end) in [(0, 50), (100, 150), (200, 250), (50, 100), (300, 350)] {
            passed.add(at(start), at(end), 4);
        }
        assert_eq!(runs(&passed), [(at(0).0, at(150).0), (at(200).0, at(250).0), (at(300).0, at(350).0)]);
        assert!(passed.has(at(149)) && !passed.has(at(150)) && passed.has(at(320)));
        passed.remove(at(100), at(120));
        assert_eq!(runs(&passed)[..2], [(at(0).0, at(100).0), (at(120).0, at(150).0)]);
        passed.add(at(500), at(550), 4);
        assert!(!passed.has(at(500)), "a fifth range is not recorded");
        passed.forget_below(at(210));
        assert_eq!(runs(&passed), [(at(210).0, at(250).0), (at(300).0, at(350).0)]);
    }
}
