//! Sequence numbers as a box meets them: on the wire, without a beginning to count from.

use lasthop_wire::{Segment, Seq};

/// Whether `one` lies before `other` on the circle of 2^32 numbers (RFC 9293 §3.4).
pub(crate) fn is_before(one: Seq, other: Seq) -> bool {
    distance(other, one) < 0
}

/// How far `to` lies behind `from`; negative if it lies before it.
pub(crate) fn distance(from: Seq, to: Seq) -> i32 {
    to.0.wrapping_sub(from.0) as i32
}

/// The number behind a segment's last byte, or its SYN or FIN.
pub(crate) fn end_of(segment: &Segment) -> Seq {
    Seq(segment.seq.0.wrapping_add(segment.sequence_space()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_circle_is_closed() {
        assert!(is_before(Seq(u32::MAX), Seq(3)) && !is_before(Seq(3), Seq(u32::MAX)));
        assert!(!is_before(Seq(7), Seq(7)));
        let segment = Segment { seq: Seq(u32::MAX - 1), len: 5, ..Segment::default() };
        assert_eq!(end_of(&segment), Seq(3));
    }
}
