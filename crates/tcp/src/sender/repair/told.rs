//! Retransmission of segments reported lost, independent of the recovery.

use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;

/// Segments reported lost, by a receiver (damaged) or a node before the last hop.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// First bytes of the segments to retransmit.
    due: Vec<u64>,
    /// First bytes of the segments retransmitted: a recovery that finds the same loss skips these.
    sent: Vec<u64>,
}

/// Maximum of remembered reports. A source of more may be malicious; normal recovery finds these losses too.
const MOST: usize = 256;

impl Told {
    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    pub(super) fn add(&mut self, start: u64) {
        if self.due.len() < MOST && !self.due.contains(&start) {
            self.due.push(start);
        }
    }

    /// Next segment, marked lost; skips segments whose retransmission is in flight.
    pub(super) fn next(&mut self, board: &mut Scoreboard) -> Option<Range> {
        let una = board.una();
        self.sent.retain(|start| *start >= una);
        while let Some(start) = self.due.pop() {
            if let Some(range) = board.lose(start) {
                if self.sent.len() < MOST {
                    self.sent.push(start);
                }
                return Some(range);
            }
        }
        None
    }

    /// Whether [`Told::next`] returned the segment at `start`; true once for each time.
    pub(super) fn take_sent(&mut self, start: u64) -> bool {
        let place = self.sent.iter().position(|sent| *sent == start);
        place.is_some_and(|place| self.sent.swap_remove(place) == start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Time;

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::starting_at(1);
        for _ in 0..segments {
            board.sent_new(1000, Time::ZERO);
        }
        board
    }

    /// A second report of a segment has no effect; a segment that was never sent cannot be retransmitted.
    #[test]
    fn each_segment_goes_once_for_its_reports() {
        let (mut told, mut board) = (Told::default(), board(3));
        for start in [1001, 1001, 9001] {
            told.add(start);
        }
        assert_eq!(told.next(&mut board), Some(Range { start: 1001, end: 2001 }));
        assert_eq!(told.next(&mut board), None);
        assert!(told.is_empty());
        assert_eq!([told.take_sent(1001), told.take_sent(1001)], [true, false]);
    }

    #[test]
    fn acknowledged_segments_are_forgotten() {
        let (mut told, mut board) = (Told::default(), board(2));
        told.add(1);
        assert!(told.next(&mut board).is_some());
        board.acknowledge(1001);
        assert_eq!(told.next(&mut board), None);
        assert!(!told.take_sent(1));
    }

    #[test]
    fn reports_are_limited() {
        let mut told = Told::default();
        for start in 0..1000 {
            told.add(start);
        }
        assert_eq!(told.due.len(), MOST);
    }
}
