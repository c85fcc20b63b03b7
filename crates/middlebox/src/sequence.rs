//! Comparison of 32-bit sequence numbers, for code without access to the connection's initial sequence numbers.

use lasthop_wire::{Segment, Seq};

/// Whether `one` precedes `other` modulo 2^32 (RFC 9293 §3.4).
pub(crate) fn is_before(one: Seq, other: Seq) -> bool {
    distance(other, one) < 0
}

/// Signed distance from `from` to `to`, modulo 2^32.
pub(crate) fn distance(from: Seq, to: Seq) -> i32 {
    to.0.wrapping_sub(from.0) as i32
}

/// Returns the sequence number that follows the segment's last byte, SYN or FIN.
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
