//! What of the stream is missing, and for how long HARQ may still bring it: t-Reassembly (TS 38.322 §5.2.2.2, §5.2.3.2;
//! LTE's t-Reordering, TS 36.322 §5.1.2.2, §5.1.3.2).
//!
//! One timer. It begins with a hole; when it is over, what was missing before the highest byte of that time is missing for
//! good as far as HARQ goes, and it begins anew if there are later holes.

use crate::span::Span;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

/// The receiving side of RLC.
#[derive(Debug)]
pub(super) struct Reassembly {
    timer: Duration,
    /// Missing bytes before `highest`, in order.
    holes: VecDeque<Span>,
    /// One past the highest byte that has come.
    highest: u64,
    /// Holes before this are for RLC to repeat.
    floor: u64,
    /// Those before this will be when the timer is over.
    trigger: u64,
    deadline: Time,
}

impl Reassembly {
    pub(super) fn new(timer: Duration) -> Reassembly {
        Reassembly { timer, holes: VecDeque::new(), highest: 0, floor: 0, trigger: 0, deadline: Time::NEVER }
    }

    /// When the timer is over.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Bytes come, or will never: what of them was missing goes to `new`.
    pub(super) fn take(&mut self, now: Time, bytes: Span, new: &mut Vec<Span>) {
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

    /// The first byte that is missing.
    fn first(&self) -> u64 {
        self.holes.front().map_or(self.highest, |hole| hole.start)
    }

    /// All before this has come or is known not to come by HARQ.
    pub(super) fn known(&self) -> u64 {
        let index = self.holes.partition_point(|hole| hole.end <= self.floor);
        self.holes.get(index).map_or(self.highest, |hole| hole.start.max(self.floor))
    }

    /// What is for RLC to repeat.
    pub(super) fn missing(&self) -> impl Iterator<Item = Span> {
        let known = self.known();
        let before = self.holes.iter().take_while(move |hole| hole.start < known);
        before.map(move |hole| Span { end: hole.end.min(known), ..*hole })
    }

    /// The timer is over; whether later holes have begun it anew is seen from the deadline.
    pub(super) fn expire(&mut self) {
        let now = self.deadline;
        self.floor = self.floor.max(self.trigger);
        self.deadline = Time::NEVER;
        if self.known() < self.highest {
            self.start(now);
        }
    }

    /// In unacknowledged mode, after the timer: the first hole that is given up.
    pub(super) fn give_up(&mut self) -> Option<Span> {
        let hole = self.holes.front_mut().filter(|hole| hole.start < self.floor)?;
        let gone = Span { end: hole.end.min(self.floor), ..*hole };
        hole.start = gone.end;
        if hole.is_empty() {
            self.holes.pop_front();
        }
        Some(gone)
    }
}
