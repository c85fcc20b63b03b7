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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MS, at};

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    /// A poll at byte 100 is answered as soon as all bytes before 100 have arrived or count as lost. Each of two polls
    /// has a report of its own.
    #[test]
    fn polls_are_answered_when_their_position_is_known() {
        let mut reports = StatusReports::new(Duration::ZERO);
        reports.answer_polls(at(1), 1000);
        assert_eq!(reports.deadline(), Time::NEVER, "without a poll, no report is due");
        reports.on_poll(100);
        reports.answer_polls(at(2), 99);
        assert_eq!(reports.deadline(), Time::NEVER);
        reports.on_poll(200);
        reports.on_poll(150);
        reports.answer_polls(at(3), 100);
        assert_eq!(reports.deadline(), at(3));
        let reassembly = Reassembly::new(MS);
        assert!(reports.build_due(at(2), &reassembly).is_none());
        assert_eq!(reports.build_due(at(3), &reassembly), Some(Status { made: at(3), until: 0 }));
        assert_eq!(reports.deadline(), Time::NEVER);
        reports.answer_polls(at(4), 199);
        assert_eq!(reports.deadline(), Time::NEVER, "the last poll's position is 200");
        reports.answer_polls(at(5), 200);
        assert_eq!(reports.deadline(), at(5));
        assert!(reports.build_due(at(5), &reassembly).is_some());
        reports.answer_polls(at(6), 300);
        assert_eq!(reports.deadline(), Time::NEVER, "both polls are answered");
    }

    /// t-StatusProhibit of 20 ms delays the next report (TS 38.322 §5.3.4). The earliest request counts.
    #[test]
    fn reports_keep_their_distance() {
        let mut reports = StatusReports::new(MS * 20);
        reports.schedule(at(10));
        reports.schedule(at(12));
        assert_eq!(reports.deadline(), at(10));
        assert!(reports.build_due(at(10), &Reassembly::new(MS)).is_some());
        reports.schedule(at(15));
        assert_eq!(reports.deadline(), at(30));
        assert!(reports.build_due(at(29), &Reassembly::new(MS)).is_none());
        assert!(reports.build_due(at(30), &Reassembly::new(MS)).is_some());
        reports.schedule(at(60));
        assert_eq!(reports.deadline(), at(60));
    }

    /// A report lists the bytes that were missing when the report was made. A lost report is never handled.
    #[test]
    fn reports_arrive_with_their_lists() {
        let mut reassembly = Reassembly::new(MS);
        reassembly.on_bytes(at(0), span(10, 20), &mut Vec::new());
        reassembly.on_timeout();
        let mut reports = StatusReports::new(Duration::ZERO);
        let mut made = |now| {
            reports.schedule(now);
            reports.build_due(now, &reassembly).expect("a report")
        };
        let (first, second) = (made(at(5)), made(at(6)));
        assert_eq!(second, Status { made: at(6), until: 20 });
        reports.on_lost(&first);
        reports.on_arrival(at(9), second);
        reports.on_arrival(at(10), first);
        assert_eq!(reports.deadline(), at(9));
        assert_eq!(reports.next_received(at(8)), None);
        assert_eq!(reports.next_received(at(9)), Some((second, vec![span(0, 10)])));
        assert_eq!(reports.next_received(at(9)), None);
        assert_eq!(reports.next_received(at(10)), None, "the first report was lost");
        reports.recycle(vec![span(0, 10)]);
        reports.schedule(at(20));
        let third = reports.build_due(at(20), &Reassembly::new(MS)).expect("a report");
        reports.on_arrival(at(21), third);
        assert_eq!(reports.next_received(at(21)), Some((third, Vec::new())), "a reused list is empty");
    }
}
