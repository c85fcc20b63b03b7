//! Retransmission of segments reported lost, independent of duplicate ACKs and SACK.

use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;

/// Segments reported lost by the receiver (damaged segments) or by a node before the last hop.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedLosses {
    /// Offsets of the first bytes of the segments to retransmit.
    due: Vec<u64>,
    /// Offsets of the first bytes of the segments already retransmitted. Recovery does not retransmit these segments
    /// again when it detects the same loss.
    sent: Vec<u64>,
}

/// Largest number of stored reports, to limit the memory that malicious nodes can occupy. Recovery detects further
/// losses as usual.
const MAX_REPORTS: usize = 256;

impl ReportedLosses {
    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    pub(super) fn add(&mut self, start: u64) {
        if self.due.len() < MAX_REPORTS && !self.due.contains(&start) {
            self.due.push(start);
        }
    }

    /// Marks the next segment to retransmit as lost and returns it. Skips segments whose retransmission is in flight.
    pub(super) fn next(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        let una = scoreboard.una();
        self.sent.retain(|start| *start >= una);
        while let Some(start) = self.due.pop() {
            if let Some(range) = scoreboard.mark_lost_at(start) {
                if self.sent.len() < MAX_REPORTS {
                    self.sent.push(start);
                }
                return Some(range);
            }
        }
        None
    }

    /// Whether [`ReportedLosses::next`] has returned the segment at `start` before. Returns true only once.
    pub(super) fn take_retransmitted(&mut self, start: u64) -> bool {
        let place = self.sent.iter().position(|sent| *sent == start);
        place.is_some_and(|place| self.sent.swap_remove(place) == start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Time;

    fn scoreboard(segments: u64) -> Scoreboard {
        let mut scoreboard = Scoreboard::starting_at(1);
        for _ in 0..segments {
            scoreboard.record_new(1000, Time::ZERO);
        }
        scoreboard
    }

    /// A second report of a segment has no effect. A segment that was never sent cannot be retransmitted.
    #[test]
    fn each_segment_goes_once_for_its_reports() {
        let (mut reported, mut scoreboard) = (ReportedLosses::default(), scoreboard(3));
        for start in [1001, 1001, 9001] {
            reported.add(start);
        }
        assert_eq!(reported.next(&mut scoreboard), Some(Range { start: 1001, end: 2001 }));
        assert_eq!(reported.next(&mut scoreboard), None);
        assert!(reported.is_empty());
        assert_eq!([reported.take_retransmitted(1001), reported.take_retransmitted(1001)], [true, false]);
    }

    #[test]
    fn acknowledged_segments_are_forgotten() {
        let (mut reported, mut scoreboard) = (ReportedLosses::default(), scoreboard(2));
        reported.add(1);
        assert!(reported.next(&mut scoreboard).is_some());
        scoreboard.acknowledge(1001);
        assert_eq!(reported.next(&mut scoreboard), None);
        assert!(!reported.take_retransmitted(1));
    }

    #[test]
    fn reports_are_limited() {
        let mut reported = ReportedLosses::default();
        for start in 0..1000 {
            reported.add(start);
        }
        assert_eq!(reported.due.len(), MAX_REPORTS);
    }
}
