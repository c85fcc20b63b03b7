//! Departures and copies of external packets, until the driver takes them.

use crate::external::{Copied, Left};
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_wire::{LossReason, Packet};

/// Departures and copies, in order of time.
#[derive(Default)]
pub(super) struct Passing {
    left: Vec<Left>,
    copies: Vec<Copied>,
}

impl Passing {
    /// Notes that a packet has arrived at its host, or was lost on a pipe.
    #[cold]
    pub(super) fn note_left(&mut self, packet: &Packet, at: Time, lost: Option<(PipeId, LossReason)>) {
        let Packet { number, forward, ecn, damaged, .. } = *packet;
        self.left.push(Left { number, forward, at, ecn, damaged, lost });
    }

    /// Notes a link's copy of packet number `of`.
    pub(super) fn note_copy(&mut self, copy: &Packet, of: u64) {
        let Packet { number, forward, .. } = *copy;
        self.copies.push(Copied { number, of, forward });
    }

    pub(super) fn take_left(&mut self, into: &mut Vec<Left>) {
        into.append(&mut self.left);
    }

    pub(super) fn take_copies(&mut self, into: &mut Vec<Copied>) {
        into.append(&mut self.copies);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sending::blank;
    use super::*;

    #[test]
    fn news_is_taken_once_and_in_its_order() {
        let mut passing = Passing::default();
        let (first, second) = (Packet { number: 3, ..blank() }, Packet { number: 4, ..blank() });
        passing.note_left(&first, Time::from_nanos(5), None);
        passing.note_left(&second, Time::from_nanos(6), Some((PipeId(1), LossReason::QueueFull)));
        passing.note_copy(&Packet { number: 9, ..blank() }, 4);
        let (mut left, mut copies) = (Vec::new(), Vec::new());
        passing.take_left(&mut left);
        passing.take_copies(&mut copies);
        assert_eq!(
            left.iter().map(|one| (one.number, one.lost.is_some())).collect::<Vec<_>>(),
            [(3, false), (4, true)]
        );
        assert_eq!(copies.iter().map(|one| (one.number, one.of)).collect::<Vec<_>>(), [(9, 4)]);
        passing.take_left(&mut left);
        passing.take_copies(&mut copies);
        assert_eq!((left.len(), copies.len()), (2, 1));
    }
}
