//! Tests of the sizes of types that are written for each packet or belong to a connection. Larger types cost time.
//!
//! If you need more bytes, change the number here and record the results of `make count` in
//! `docs/development/performance/journal.md`. The sizes of a connection's types are in cache lines of 64 bytes, because
//! the number of cache lines used per packet determines the cost.

use crate::ring::InFlight;
use lasthop_net::Passage;
use lasthop_tcp::receiver::Receiver;
use lasthop_tcp::sender::{Ack, Outgoing, Sender};
use lasthop_tcp::{Arriving, Endpoint};
use lasthop_wire::{Packet, SackBlocks, Segment};

const LINE: usize = 64;

#[test]
fn what_is_written_for_each_packet_is_no_larger_than_it_has_to_be() {
    let sizes = [
        // Four blocks of two 32-bit numbers, and their count. The blocks are inline, so that a packet needs no
        // allocation.
        ("SackBlocks", size_of::<SackBlocks>(), 4 * 8 + 4),
        // SACK blocks (36); header fields (16); optional timestamps, MSS, window scale and SACK permission (20).
        ("Segment", size_of::<Segment>(), 36 + 16 + 20),
        // Segment (72), packet number and time of enqueuing (16), flow, bytes and route (12), hop and six flags (7),
        // and padding to a multiple of 16.
        ("Packet", size_of::<Packet>(), 72 + 40),
        // Packet (112), due time (8), next pipe (4), two flags (2). The first of two cache lines holds all that an
        // endpoint usually reads.
        ("InFlight", size_of::<InFlight>(), 2 * LINE),
        // A tag with the loss reason, and a time. The tag and the time are returned in registers.
        ("Passage", size_of::<Passage>(), 16),
        // The ECN field of the IP header, passed in a register.
        ("Arriving", size_of::<Arriving>(), 1),
        // A cache line, and the tick of the timestamp clock. An `Ack` is created on the stack for each ACK that does
        // not take the fast path.
        ("Ack", size_of::<Ack<'_>>(), LINE + 8),
        ("Outgoing", size_of::<Outgoing>(), 16 + 8),
    ];
    for (name, is, expected) in sizes {
        assert_eq!(is, expected, "size of {name}, bytes");
    }
}

#[test]
fn a_connection_takes_few_cache_lines() {
    let limits = [
        // Sender: the fields that every ACK uses come first. Rate samples, pacing, slow start exits and undo are boxed.
        ("Sender", size_of::<Sender>(), 14),
        // Receiver: reassembly with its ranges, four boxed mechanisms, and the path estimate.
        ("Receiver", size_of::<Receiver>(), 8),
        // In cache lines: sender and receiver (22), event log (3), and handshake, timers and challenge ACKs (5). Each
        // part is aligned to a cache line.
        ("Endpoint", size_of::<Endpoint>(), 30),
    ];
    for (name, is, most) in limits {
        assert!(is <= most * LINE, "{name}: {is} bytes, more than {most} lines");
    }
}
