//! The answer to a segment that belongs to no connection.

use lasthop_wire::{Flags, Segment, Seq};

/// The reset that RFC 9293 §3.10.7.1 asks for; none for a reset.
pub(crate) fn answer(segment: &Segment) -> Option<Segment> {
    if segment.flags.has(Flags::RST) {
        return None;
    }
    let reset = if segment.flags.has(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        Segment {
            seq: Seq(0),
            ack: segment.seq.at(u64::from(segment.sequence_space())),
            flags: Flags::RST | Flags::ACK,
            ..Segment::default()
        }
    };
    Some(reset)
}
