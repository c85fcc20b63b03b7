//! Status reports of the receiver: time and contents (TS 38.322 §5.3.4, 36.322 §5.2.3).

use super::reassembly::Reassembly;
use crate::across::Status;
use crate::span::Span;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

#[derive(Debug)]
struct Report {
    made: Time,
    missing: Vec<Span>,
}

#[derive(Debug)]
pub(super) struct Statuses {
    prohibit: Duration,
    /// Earliest time of the next report (t-StatusProhibit).
    allowed: Time,
    due: Time,
    /// First and last poll that wait until all bytes before are known; equal if there is one.
    asked: Option<[u64; 2]>,
    /// Reports in flight, and lists for reuse.
    reports: Vec<Report>,
    spare: Vec<Vec<Span>>,
    /// Received reports, not handled yet.
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

    pub(super) fn deadline(&self) -> Time {
        self.due.min(self.come.front().map_or(Time::NEVER, |(at, _)| *at))
    }

    /// Handles a poll in a block that ends at byte `end`.
    pub(super) fn polled(&mut self, end: u64) {
        self.asked = Some(match self.asked {
            None => [end, end],
            Some([first, last]) => [first.min(end), last.max(end)],
        });
    }

    /// Answers polls up to `known`: all before has arrived or is lost to HARQ.
    pub(super) fn look(&mut self, now: Time, known: u64) {
        if let Some([first, last]) = self.asked
            && first <= known
        {
            self.asked = (last > known).then_some([last, last]);
            self.trigger(now);
        }
    }

    /// Schedules a status as soon as permitted.
    pub(super) fn trigger(&mut self, now: Time) {
        self.due = self.due.min(now.max(self.allowed));
    }

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

    pub(super) fn come(&mut self, at: Time, status: Status) {
        self.come.push_back((at, status));
    }

    /// The next report received by now, with its list. Call [`Statuses::forget`] afterwards.
    pub(super) fn hear(&mut self, now: Time) -> Option<(Status, Vec<Span>)> {
        self.come.front().filter(|(at, _)| *at <= now)?;
        let (_, status) = self.come.pop_front()?;
        let index = self.reports.iter().position(|report| report.made == status.made)?;
        Some((status, self.reports.swap_remove(index).missing))
    }

    pub(super) fn forget(&mut self, mut missing: Vec<Span>) {
        missing.clear();
        self.spare.push(missing);
    }

    /// Handles a report destroyed in transmission.
    pub(super) fn lost(&mut self, status: &Status) {
        if let Some(index) = self.reports.iter().position(|report| report.made == status.made) {
            let report = self.reports.swap_remove(index);
            self.forget(report.missing);
        }
    }
}
