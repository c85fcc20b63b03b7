//! Sizes of what is written for each packet, and of what a connection keeps: a byte more costs time, so it is noticed here.
//!
//! Whoever needs more changes the number, and says in `docs/performance.md` what `make count` shows. What is written
//! for each packet is pinned exactly; the halves of a connection have a limit in cache lines of 64 bytes, since it is
//! the lines touched per packet that cost.

use crate::ring::Travelling;
use lasthop_net::Passage;
use lasthop_tcp::receiver::Receiver;
use lasthop_tcp::sender::{Ack, Outgoing, Sender};
use lasthop_tcp::{Arriving, Endpoint};
use lasthop_wire::{Packet, SackBlocks, Segment};

const LINE: usize = 64;

#[test]
fn what_is_written_for_each_packet_is_no_larger_than_it_has_to_be() {
    let sizes = [
        // Four blocks of two 32-bit numbers, inline because nothing may be allocated per packet, and their count.
        ("SackBlocks", size_of::<SackBlocks>(), 4 * 8 + 4),
        // Its blocks; numbers, length, flags and window of the header (16); timestamps, MSS, scale and permission, each
        // with whether it is there (20).
        ("Segment", size_of::<Segment>(), 36 + 16 + 20),
        // Its segment; number and when it joined its link (16), flow, charged bytes and route (12), hop and six flags (7),
        // rounded up to 8: seven words of 16 bytes, as many as without the second half of when it joined.
        ("Packet", size_of::<Packet>(), 72 + 40),
        // Its packet, when it is due (8), where it goes on (4), and two flags: two lines, the first with what is read of it.
        ("Travelling", size_of::<Travelling>(), 2 * LINE),
        // Returned in two registers: a tag with the reason, and a time.
        ("Passage", size_of::<Passage>(), 16),
        // One bit from the IP header, in a register.
        ("Arriving", size_of::<Arriving>(), 1),
        // On the stack for each ACK that is not as predicted: a line, and the tick of the timestamps' clock.
        ("Ack", size_of::<Ack<'_>>(), LINE + 8),
        // A range and what to say with it.
        ("Outgoing", size_of::<Outgoing>(), 16 + 8),
    ];
    for (name, is, expected) in sizes {
        assert_eq!(is, expected, "bytes of {name}");
    }
}

#[test]
fn a_connection_takes_few_cache_lines() {
    let limits = [
        // What every ACK touches comes first; then the parts that losses, idle times and closed windows need, and of rate
        // samples, pacing, how slow start ends and what a recovery changed (off by default) no more than where to find them.
        ("Sender", size_of::<Sender>(), 14),
        // Reassembly with its ranges, four mechanisms in boxes, and the estimate of the path.
        ("Receiver", size_of::<Receiver>(), 8),
        // Both, the log with its counters (3), and the states of handshake, timers and challenges (5). Each begins at a line
        // with what every packet touches, at the price of what is left of the last line of each.
        ("Endpoint", size_of::<Endpoint>(), 30),
    ];
    for (name, is, most) in limits {
        assert!(is <= most * LINE, "{name}: {is} bytes, more than {most} lines");
    }
}
