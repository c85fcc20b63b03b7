//! Classifies ACKs, for middleboxes that suppress or change ACKs.
//!
//! The rules follow the snoop agents of ns-2, Click and a Linux module. A duplicate is a pure ACK that arrives while
//! data is outstanding. Its acknowledgement number, window and ECN echo equal those of the last ACK, and it has no
//! D-SACK. An ACK of data that the middlebox has not seen is not classified further. The first ACK that the middlebox
//! sees of a connection only sets the state.

use crate::sequence::{distance, end_of, is_before};
use lasthop_wire::{Flags, Segment, Seq};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AckKind {
    /// Acknowledges new data. The value is the acknowledgement number of the previous ACK.
    New(Seq),
    /// A duplicate ACK: reports out-of-order data and nothing else.
    Duplicate,
    Old,
    /// An ACK of another kind: a window update, the first ACK, or an ACK of data that the middlebox has not seen.
    Other,
}

/// ACK state of one flow, for the data of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    last: Option<Seq>,
    /// Window and ECE flag of the last ACK that was not a duplicate.
    advertised: (u16, bool),
    highest: Option<Seq>,
}

impl Acks {
    pub(crate) fn last(&self) -> Option<Seq> {
        self.last
    }

    /// Returns the window field (not scaled) of the last ACK that was not a duplicate.
    pub(crate) fn window(&self) -> u16 {
        self.advertised.0
    }

    pub(crate) fn highest(&self) -> Option<Seq> {
        self.highest
    }

    pub(crate) fn has_outstanding(&self) -> bool {
        match (self.last, self.highest) {
            (Some(last), Some(highest)) => is_before(last, highest),
            _ => false,
        }
    }

    /// Records a data segment. A SYN resets the state.
    pub(crate) fn on_data(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            *self = Acks::default();
        }
        let end = end_of(segment);
        if segment.sequence_space() > 0 && self.highest.is_none_or(|highest| is_before(highest, end)) {
            self.highest = Some(end);
        }
    }

    /// Classifies a segment with the ACK flag, and updates the state.
    pub(crate) fn classify(&mut self, segment: &Segment) -> AckKind {
        let advertised = (segment.window, segment.flags.has(Flags::ECE));
        if self.highest.is_some_and(|highest| is_before(highest, segment.ack)) {
            return AckKind::Other;
        }
        let Some(last) = self.last else {
            (self.last, self.advertised) = (Some(segment.ack), advertised);
            return AckKind::Other;
        };
        match distance(last, segment.ack) {
            1.. => {
                (self.last, self.advertised) = (Some(segment.ack), advertised);
                AckKind::New(last)
            }
            0 if advertised == self.advertised
                && segment.is_pure_ack()
                && self.has_outstanding()
                && !reports_duplicate(segment) =>
            {
                AckKind::Duplicate
            }
            0 => {
                self.advertised = advertised;
                AckKind::Other
            }
            _ => AckKind::Old,
        }
    }
}

/// Whether the first SACK block reports a duplicate segment (D-SACK, RFC 2883 §4).
pub(crate) fn reports_duplicate(segment: &Segment) -> bool {
    let inside =
        |inner: (Seq, Seq), outer: (Seq, Seq)| !is_before(inner.0, outer.0) && !is_before(outer.1, inner.1);
    match segment.sack.as_slice() {
        [first, ..] if !is_before(segment.ack, first.1) => true,
        [first, second, ..] => inside(*first, *second),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u32) -> Segment {
        Segment { ack: Seq(number), flags: Flags::ACK, window: 100, ..Segment::default() }
    }

    fn opened() -> Acks {
        let mut acks = Acks::default();
        acks.on_data(&Segment {
            seq: Seq(u32::MAX - 499),
            len: 3000,
            flags: Flags::ACK,
            ..Segment::default()
        });
        assert_eq!(acks.classify(&ack(u32::MAX - 499)), AckKind::Other, "the first ACK");
        acks
    }

    #[test]
    fn new_duplicate_and_old_across_the_end_of_the_numbers() {
        let mut acks = opened();
        assert_eq!(acks.classify(&ack(500)), AckKind::New(Seq(u32::MAX - 499)));
        assert_eq!(acks.classify(&ack(500)), AckKind::Duplicate);
        assert_eq!(acks.classify(&ack(u32::MAX)), AckKind::Old);
        assert_eq!(acks.classify(&ack(2500)), AckKind::New(Seq(500)));
        assert_eq!(acks.classify(&ack(2500)), AckKind::Other, "no data is outstanding");
    }

    #[test]
    fn what_tells_something_else_is_no_duplicate() {
        let mut acks = opened();
        acks.classify(&ack(500));
        assert_eq!(acks.classify(&Segment { window: 99, ..ack(500) }), AckKind::Other);
        assert_eq!(
            acks.classify(&Segment { window: 99, flags: Flags::ACK | Flags::ECE, ..ack(500) }),
            AckKind::Other
        );
        assert_eq!(acks.classify(&Segment { window: 99, len: 1, ..ack(500) }), AckKind::Other);
        assert_eq!(
            acks.classify(&ack(9000)),
            AckKind::Other,
            "an ACK of data that the middlebox has not seen"
        );
        assert_eq!(acks.last(), Some(Seq(500)));
    }
}
