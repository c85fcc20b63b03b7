//! A log of departures and copies of external packets (real traffic). The driver reads and removes the entries.

use crate::external::{Departure, ExternalCopy};
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_wire::{LossReason, Packet};

/// Departures and copies, in order of time.
#[derive(Default)]
pub(super) struct ExternalLog {
    departures: Vec<Departure>,
    copies: Vec<ExternalCopy>,
}

impl ExternalLog {
    /// Records that a packet has arrived at its host, or was lost on a pipe.
    #[cold]
    pub(super) fn record_departure(&mut self, packet: &Packet, at: Time, lost: Option<(PipeId, LossReason)>) {
        let Packet { number, forward, ecn, damaged, .. } = *packet;
        self.departures.push(Departure { number, forward, at, ecn, damaged, lost });
    }

    /// Records a copy that a link made of the packet with the number `original`.
    pub(super) fn record_copy(&mut self, copy: &Packet, original: u64) {
        let Packet { number, forward, .. } = *copy;
        self.copies.push(ExternalCopy { number, original, forward });
    }

    pub(super) fn take_departures(&mut self, into: &mut Vec<Departure>) {
        into.append(&mut self.departures);
    }

    pub(super) fn take_copies(&mut self, into: &mut Vec<ExternalCopy>) {
        into.append(&mut self.copies);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sending::empty_packet;
    use super::*;

    #[test]
    fn departures_are_taken_once_and_in_their_order() {
        let mut log = ExternalLog::default();
        let (first, second) =
            (Packet { number: 3, ..empty_packet() }, Packet { number: 4, ..empty_packet() });
        log.record_departure(&first, Time::from_nanos(5), None);
        log.record_departure(&second, Time::from_nanos(6), Some((PipeId(1), LossReason::QueueFull)));
        log.record_copy(&Packet { number: 9, ..empty_packet() }, 4);
        let (mut departures, mut copies) = (Vec::new(), Vec::new());
        log.take_departures(&mut departures);
        log.take_copies(&mut copies);
        assert_eq!(
            departures.iter().map(|one| (one.number, one.lost.is_some())).collect::<Vec<_>>(),
            [(3, false), (4, true)]
        );
        assert_eq!(copies.iter().map(|one| (one.number, one.original)).collect::<Vec<_>>(), [(9, 4)]);
        log.take_departures(&mut departures);
        log.take_copies(&mut copies);
        assert_eq!((departures.len(), copies.len()), (2, 1));
    }
}
