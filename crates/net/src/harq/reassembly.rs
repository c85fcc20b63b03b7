//! Missing bytes of the stream, and the timer t-Reassembly. While the timer runs, RLC waits for HARQ to deliver the
//! missing bytes (TS 38.322 §5.2.2.2, §5.2.3.2). LTE calls the timer t-Reordering (TS 36.322 §5.1.2.2, §5.1.3.2).
//!
//! The timer starts when a hole (a range of missing bytes) appears. The highest byte received at that time is the
//! trigger. When the timer expires, all missing bytes below the trigger count as lost by HARQ. The timer restarts if
//! later bytes are missing.

use crate::span::Span;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Reassembly {
    timer: Duration,
    holes: VecDeque<Span>,
    /// Highest byte received, plus one.
    highest: u64,
    /// Missing bytes below this position count as lost by HARQ, so RLC has to retransmit them.
    harq_lost_end: u64,
    /// Value that `harq_lost_end` will have after the timer has expired.
    trigger: u64,
    deadline: Time,
}

impl Reassembly {
    pub(super) fn new(timer: Duration) -> Reassembly {
        Reassembly {
            timer,
            holes: VecDeque::new(),
            highest: 0,
            harq_lost_end: 0,
            trigger: 0,
            deadline: Time::NEVER,
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Handles bytes that arrive or are given up. Appends to `new` the parts of `bytes` that were missing until now.
    pub(super) fn on_bytes(&mut self, now: Time, bytes: Span, new: &mut Vec<Span>) {
        self.fill(Span { end: bytes.end.min(self.highest).max(bytes.start), ..bytes }, new);
        if bytes.end > self.highest {
            if bytes.start > self.highest {
                self.holes.push_back(Span { start: self.highest, end: bytes.start });
            }
            new.push(Span { start: bytes.start.max(self.highest), end: bytes.end });
            self.highest = bytes.end;
        }
        if self.first() >= self.trigger {
            self.deadline = Time::NEVER;
        }
        if self.deadline == Time::NEVER && !self.holes.is_empty() {
            self.start(now);
        }
    }

    fn fill(&mut self, bytes: Span, new: &mut Vec<Span>) {
        if bytes.is_empty() || self.holes.is_empty() {
            return;
        }
        let mut index = self.holes.partition_point(|hole| hole.end <= bytes.start);
        while let Some(hole) = self.holes.get_mut(index)
            && hole.start < bytes.end
        {
            let found = hole.common(bytes);
            let rest = Span { start: found.end, end: hole.end };
            new.push(found);
            hole.end = found.start;
            match (hole.is_empty(), rest.is_empty()) {
                (true, true) => drop(self.holes.remove(index)),
                (true, false) => *hole = rest,
                (false, true) => index += 1,
                (false, false) => self.holes.insert(index + 1, rest),
            }
            if !rest.is_empty() {
                return;
            }
        }
    }

    fn start(&mut self, now: Time) {
        self.trigger = self.highest;
        self.deadline = now + self.timer;
    }

    fn first(&self) -> u64 {
        self.holes.front().map_or(self.highest, |hole| hole.start)
    }

    /// Returns the first byte that has not arrived and that does not count as lost by HARQ.
    pub(super) fn known(&self) -> u64 {
        let index = self.holes.partition_point(|hole| hole.end <= self.harq_lost_end);
        self.holes.get(index).map_or(self.highest, |hole| hole.start.max(self.harq_lost_end))
    }

    pub(super) fn missing(&self) -> impl Iterator<Item = Span> {
        let known = self.known();
        let before = self.holes.iter().take_while(move |hole| hole.start < known);
        before.map(move |hole| Span { end: hole.end.min(known), ..*hole })
    }

    /// Handles the timer's expiry. Restarts the timer if later bytes are missing.
    pub(super) fn on_timeout(&mut self) {
        let now = self.deadline;
        self.harq_lost_end = self.harq_lost_end.max(self.trigger);
        self.deadline = Time::NEVER;
        if self.known() < self.highest {
            self.start(now);
        }
    }

    /// In unacknowledged mode, gives up the first range of missing bytes that HARQ lost, and returns the range.
    pub(super) fn abandon_next(&mut self) -> Option<Span> {
        let hole = self.holes.front_mut().filter(|hole| hole.start < self.harq_lost_end)?;
        let gone = Span { end: hole.end.min(self.harq_lost_end), ..*hole };
        hole.start = gone.end;
        if hole.is_empty() {
            self.holes.pop_front();
        }
        Some(gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MS, at};

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    fn arrive(one: &mut Reassembly, now: u64, start: u64, end: u64) -> Vec<Span> {
        let mut new = Vec::new();
        one.on_bytes(at(now), span(start, end), &mut new);
        new
    }

    fn missing(one: &Reassembly) -> Vec<Span> {
        one.missing().collect()
    }

    /// Bytes are new once. Overlapping arrivals have only their missing parts as new bytes.
    #[test]
    fn holes_are_filled_piece_by_piece() {
        let mut one = Reassembly::new(MS * 10);
        assert_eq!(arrive(&mut one, 0, 0, 10), [span(0, 10)]);
        assert_eq!(arrive(&mut one, 0, 30, 40), [span(30, 40)]);
        assert_eq!(arrive(&mut one, 0, 50, 60), [span(50, 60)]);
        assert_eq!(one.holes, [span(10, 30), span(40, 50)]);
        assert_eq!(arrive(&mut one, 0, 15, 20), [span(15, 20)], "the middle of a hole");
        assert_eq!(one.holes, [span(10, 15), span(20, 30), span(40, 50)]);
        assert_eq!(arrive(&mut one, 0, 10, 12), [span(10, 12)], "the start of a hole");
        assert_eq!(arrive(&mut one, 0, 28, 30), [span(28, 30)], "the end of a hole");
        assert_eq!(one.holes, [span(12, 15), span(20, 28), span(40, 50)]);
        assert_eq!(arrive(&mut one, 0, 30, 40), [], "a duplicate");
        assert_eq!(arrive(&mut one, 0, 14, 45), [span(14, 15), span(20, 28), span(40, 45)]);
        assert_eq!(one.holes, [span(12, 14), span(45, 50)]);
        assert_eq!(arrive(&mut one, 0, 40, 70), [span(45, 50), span(60, 70)]);
        assert_eq!(one.holes, [span(12, 14)]);
        assert_eq!(arrive(&mut one, 0, 12, 14), [span(12, 14)]);
        assert_eq!(arrive(&mut one, 0, 70, 75), [span(70, 75)]);
        assert!(one.holes.is_empty() && one.known() == 75);
    }

    /// TS 38.322 §5.2.3.2.3: t-Reassembly starts with the first hole, with the highest byte as its trigger. The timer
    /// stops if all bytes below the trigger have arrived, and restarts at once if later bytes are missing.
    #[test]
    fn the_timer_follows_its_trigger() {
        let mut one = Reassembly::new(MS * 10);
        arrive(&mut one, 1, 0, 10);
        assert_eq!(one.deadline(), Time::NEVER, "no byte is missing");
        arrive(&mut one, 2, 20, 30);
        assert_eq!(one.deadline(), at(12));
        arrive(&mut one, 5, 40, 50);
        assert_eq!(one.deadline(), at(12), "a later hole does not restart the timer");
        arrive(&mut one, 6, 10, 20);
        assert_eq!(one.deadline(), at(16), "the timer restarts for the second hole");
        arrive(&mut one, 7, 30, 40);
        assert_eq!(one.deadline(), Time::NEVER);
    }

    /// At the expiry, bytes missing below the trigger count as lost, and bytes missing above the trigger do not.
    #[test]
    fn bytes_missing_at_the_expiry_are_lost() {
        let mut one = Reassembly::new(MS * 10);
        arrive(&mut one, 0, 10, 20);
        arrive(&mut one, 5, 30, 40);
        assert_eq!((one.known(), missing(&one)), (0, vec![]));
        one.on_timeout();
        assert_eq!((one.known(), missing(&one)), (20, vec![span(0, 10)]));
        assert_eq!(one.deadline(), at(20), "bytes 20 to 30 are missing, too");
        one.on_timeout();
        assert_eq!((one.known(), missing(&one)), (40, vec![span(0, 10), span(20, 30)]));
        assert_eq!(one.deadline(), Time::NEVER);
        arrive(&mut one, 30, 2, 4);
        assert_eq!(missing(&one), [span(0, 2), span(4, 10), span(20, 30)]);
    }

    /// In unacknowledged mode, each lost range is given up once, in order, and only below the trigger.
    #[test]
    fn lost_ranges_are_abandoned_in_order() {
        let mut one = Reassembly::new(MS * 10);
        arrive(&mut one, 0, 10, 20);
        arrive(&mut one, 0, 30, 40);
        assert_eq!(one.abandon_next(), None);
        one.on_timeout();
        arrive(&mut one, 11, 50, 60);
        assert_eq!(one.abandon_next(), Some(span(0, 10)));
        assert_eq!(one.abandon_next(), None, "the timer started before byte 30 arrived");
        one.on_timeout();
        assert_eq!(one.abandon_next(), Some(span(20, 30)));
        assert_eq!(one.abandon_next(), None);
        // A hole that ends above the trigger is given up only below the trigger.
        one.harq_lost_end = 45;
        assert_eq!(one.abandon_next(), Some(span(40, 45)));
        assert_eq!((one.abandon_next(), one.holes.front()), (None, Some(&span(45, 50))));
    }
}
