//! Segments that go again because somebody reported them lost, whatever the recovery thinks.

use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;

/// Segments reported lost: a receiver got them damaged, or a node before the last hop knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// First bytes of those that are to go.
    due: Vec<u64>,
    /// First bytes of those that went: a recovery which finds the same loss need not send it a second time.
    sent: Vec<u64>,
}

/// Most that are remembered: whoever reports more may be lying, and the usual means find them too.
const MOST: usize = 256;

impl Told {
    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// The segment that begins there is to go again.
    pub(super) fn add(&mut self, start: u64) {
        if self.due.len() < MOST && !self.due.contains(&start) {
            self.due.push(start);
        }
    }

    /// The next one that goes, marked lost by this; passes over those of which a repeat is under way.
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

    /// Whether the segment that begins there went by [`Told::next`]; true once for each time it did.
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

    /// A second report of the same segment asks for nothing more; a segment that nobody has sent cannot go again.
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
