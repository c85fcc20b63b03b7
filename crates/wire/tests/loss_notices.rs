//! Tests of loss notifications in real packets: loss hints in reserved bits, the damage option, and notices of nodes.

use lasthop_wire::bytes::{Checksums, Content, FlowAddresses, Header, Payload, emit, parse};
use lasthop_wire::{
    Body, Ecn, Flags, FlowId, LossHint, NodeNotice, Packet, Priority, Segment, Seq, Timestamps,
};
use std::net::SocketAddr;

fn bytes_of(body: Body) -> Vec<u8> {
    let packet = Packet {
        number: 0,
        flow: FlowId(0),
        wire_bytes: 40,
        forward: false,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        route: 0,
        hop: 0,
        enqueued_at: lasthop_base::Time::ZERO,
        body,
    };
    let source: SocketAddr = "10.0.0.1:40000".parse().expect("an address");
    let destination: SocketAddr = "10.0.0.2:40000".parse().expect("an address");
    let mut bytes = Vec::new();
    emit(
        &Header::of(&packet, &FlowAddresses { source, destination }),
        &body,
        Payload::Pattern(0),
        &mut bytes,
    )
    .expect("a packet");
    bytes
}

#[test]
fn a_hint_takes_a_reserved_bit_and_comes_back() {
    for (hint, bit) in [(LossHint::None, 0), (LossHint::Wireless, 0x02), (LossHint::Congestion, 0x04)] {
        let segment = Segment { flags: Flags::ACK.with_hint(hint), window: 7, ..Segment::default() };
        let bytes = bytes_of(Body::Tcp(segment));
        // The bits of the hints are between the data offset and the AE bit (RFC 9293 §3.1).
        assert_eq!(bytes[20 + 12] & 0x0e, bit, "{hint:?}");
        let parsed = parse(&bytes, Checksums::Verify).expect("a packet");
        assert_eq!(parsed.content, Content::Tcp(segment));
        assert_eq!(segment.flags.hint(), hint);
    }
    assert_eq!(Flags(0x600).hint(), LossHint::Congestion, "if both bits are set, the hint is congestion");
}

#[test]
fn a_damaged_segment_is_named_beside_two_blocks_and_timestamps() {
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let mut segment = Segment { flags: Flags::ACK, timestamps, ..Segment::default() };
    for block in 0..3 {
        segment.sack.push(Seq(1000 * block), Seq(1000 * block + 500));
    }
    segment.set_damaged(Seq(u32::MAX));
    assert_eq!((segment.damaged(), segment.sack.len(), segment.accecn()), (Some(Seq(u32::MAX)), 2, None));
    // The options fill the header: timestamps 12 bytes, two SACK blocks 20, the damage option 8.
    assert_eq!(segment.option_bytes(), 40);
    let bytes = bytes_of(Body::Tcp(segment));
    assert_eq!(bytes.len(), 20 + 20 + 40);
    assert_eq!(parse(&bytes, Checksums::Verify).expect("a packet").content, Content::Tcp(segment));
}

/// A notice has 40 bytes: 20 for IPv4, 8 for the ICMP header, and 12 for ports, sequence number and length. The ICMP
/// checksum covers only the ICMP message (RFC 792).
#[test]
fn a_notice_is_an_icmp_message_for_experiments() {
    let notices = [(NodeNotice::BadState, 0), (NodeNotice::LastHop { seq: Seq(0x0102_0304), len: 1000 }, 1)];
    for (notice, code) in notices {
        let bytes = bytes_of(Body::Notice(notice));
        assert_eq!(bytes.len(), NodeNotice::WIRE_BYTES as usize);
        assert_eq!((bytes[9], bytes[20], bytes[21]), (1, 253, code));
        let sum: u32 =
            bytes[20..].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
        if code == 1 {
            assert_eq!(bytes[32..36], [1, 2, 3, 4]);
        }
    }
}
