//! Times and contents of the receiver's status reports (TS 38.322 §5.3.4, 36.322 §5.2.3).

use super::reassembly::Reassembly;
use crate::peer_message::Status;
use crate::span::Span;
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;

#[derive(Debug)]
struct Report {
    made: Time,
    missing: Vec<Span>,
}

#[derive(Debug)]
pub(super) struct StatusReports {
    prohibit: Duration,
    /// Earliest time at which t-StatusProhibit permits the next report.
    allowed: Time,
    due: Time,
    /// Stream positions, in bytes, of the first and the last unanswered poll. A poll is answered when all bytes before
    /// its position have arrived or count as lost by HARQ.
    pending_polls: Option<[u64; 2]>,
    /// Reports in flight.
    reports: Vec<Report>,
    /// Empty lists, which are reused for lists of missing bytes.
    spare: Vec<Vec<Span>>,
    /// Received reports that are not handled yet, with their arrival times.
    received: VecDeque<(Time, Status)>,
}

impl StatusReports {
    pub(super) fn new(prohibit: Duration) -> StatusReports {
        StatusReports {
            prohibit,
            allowed: Time::ZERO,
            due: Time::NEVER,
            pending_polls: None,
            reports: Vec::new(),
            spare: Vec::new(),
            received: VecDeque::new(),
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.due.min(self.received.front().map_or(Time::NEVER, |(at, _)| *at))
    }

    /// Handles a poll in a block whose data ends at byte `end`.
    pub(super) fn on_poll(&mut self, end: u64) {
        self.pending_polls = Some(match self.pending_polls {
            None => [end, end],
            Some([first, last]) => [first.min(end), last.max(end)],
        });
    }

    /// Schedules a report if a poll's position is at most `known`. All bytes before `known` have arrived or count as
    /// lost by HARQ.
    pub(super) fn answer_polls(&mut self, now: Time, known: u64) {
        if let Some([first, last]) = self.pending_polls
            && first <= known
        {
            self.pending_polls = (last > known).then_some([last, last]);
            self.schedule(now);
        }
    }

    /// Schedules a status report for the earliest time that t-StatusProhibit permits.
    pub(super) fn schedule(&mut self, now: Time) {
        self.due = self.due.min(now.max(self.allowed));
    }

    pub(super) fn build_due(&mut self, now: Time, reassembly: &Reassembly) -> Option<Status> {
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

    pub(super) fn on_arrival(&mut self, at: Time, status: Status) {
        self.received.push_back((at, status));
    }

    /// Takes the next report received by `now`, with its list of missing bytes. Call [`StatusReports::recycle`]
    /// afterwards.
    pub(super) fn next_received(&mut self, now: Time) -> Option<(Status, Vec<Span>)> {
        self.received.front().filter(|(at, _)| *at <= now)?;
        let (_, status) = self.received.pop_front()?;
        let index = self.reports.iter().position(|report| report.made == status.made)?;
        Some((status, self.reports.swap_remove(index).missing))
    }

    pub(super) fn recycle(&mut self, mut missing: Vec<Span>) {
        missing.clear();
        self.spare.push(missing);
    }

    /// Handles a report that was destroyed in transmission.
    pub(super) fn on_lost(&mut self, status: &Status) {
        if let Some(index) = self.reports.iter().position(|report| report.made == status.made) {
            let report = self.reports.swap_remove(index);
            self.recycle(report.missing);
        }
    }
}
