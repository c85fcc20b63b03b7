//! Status of the receiving side: when it is made, and what it says (TS 38.322 §5.3.4, 36.322 §5.2.3).

use super::reassembly::Reassembly;
use crate::across::Status;
use crate::span::Span;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

/// What a status lists.
#[derive(Debug)]
struct Report {
    made: Time,
    missing: Vec<Span>,
}

/// Answering of one direction, and what has come of answers.
#[derive(Debug)]
pub(super) struct Statuses {
    prohibit: Duration,
    /// None is made before.
    allowed: Time,
    /// When one is to be made.
    due: Time,
    /// Ends of the first and of the last poll that wait until all before them is known; equal if there is one.
    asked: Option<[u64; 2]>,
    /// Under way, and lists to be used again.
    reports: Vec<Report>,
    spare: Vec<Vec<Span>>,
    /// Come, and not heard yet.
    come: VecDeque<(Time, Status)>,
}

impl Statuses {
    pub(super) fn new(prohibit: Duration) -> Statuses {
        Statuses {
            prohibit,
            allowed: Time::ZERO,
            due: Time::NEVER,
            asked: None,
            reports: Vec::new(),
            spare: Vec::new(),
            come: VecDeque::new(),
        }
    }

    /// When one is to be made or heard.
    pub(super) fn deadline(&self) -> Time {
        self.due.min(self.come.front().map_or(Time::NEVER, |(at, _)| *at))
    }

    /// A block with a poll has come whose last byte is before `end`.
    pub(super) fn polled(&mut self, end: u64) {
        self.asked = Some(match self.asked {
            None => [end, end],
            Some([first, last]) => [first.min(end), last.max(end)],
        });
    }

    /// All before `known` has come or is missing for good: polls up to there are answered, after HARQ's reordering.
    pub(super) fn look(&mut self, now: Time, known: u64) {
        if let Some([first, last]) = self.asked
            && first <= known
        {
            self.asked = (last > known).then_some([last, last]);
            self.trigger(now);
        }
    }

    /// A status is to be made as soon as it is allowed.
    pub(super) fn trigger(&mut self, now: Time) {
        self.due = self.due.min(now.max(self.allowed));
    }

    /// Makes one if it is to be.
    pub(super) fn make(&mut self, now: Time, reassembly: &Reassembly) -> Option<Status> {
        if self.due > now {
            return None;
        }
        self.due = Time::NEVER;
        self.allowed = now + self.prohibit;
        let mut missing = self.spare.pop().unwrap_or_default();
        missing.extend(reassembly.missing());
        self.reports.push(Report { made: now, missing });
        Some(Status { made: now, until: reassembly.known() })
    }

    /// One is there, to be heard now.
    pub(super) fn come(&mut self, at: Time, status: Status) {
        self.come.push_back((at, status));
    }

    /// The next one that is heard by now, with what it lists; [`Statuses::forget`] follows.
    pub(super) fn hear(&mut self, now: Time) -> Option<(Status, Vec<Span>)> {
        self.come.front().filter(|(at, _)| *at <= now)?;
        let (_, status) = self.come.pop_front()?;
        let index = self.reports.iter().position(|report| report.made == status.made)?;
        Some((status, self.reports.swap_remove(index).missing))
    }

    /// A list is done with.
    pub(super) fn forget(&mut self, mut missing: Vec<Span>) {
        missing.clear();
        self.spare.push(missing);
    }

    /// One was destroyed on its way.
    pub(super) fn lost(&mut self, status: &Status) {
        if let Some(index) = self.reports.iter().position(|report| report.made == status.made) {
            let report = self.reports.swap_remove(index);
            self.forget(report.missing);
        }
    }
}
