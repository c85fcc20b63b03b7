//! Tests of real packets: parsing reverses emission, invalid packets are rejected, and no input causes a panic.

use etherparse::TcpOptionReadError;
use lasthop_wire::accecn::{AccEcnCounters, CounterOrder};
use lasthop_wire::bytes::{
    Checksums, Content, EmitError, FlowAddresses, Header, HeaderPart, ParseError, Payload, emit, parse,
};
use lasthop_wire::{Body, Ecn, Flags, FlowId, Packet, Priority, SackBlocks, Segment, Seq, Timestamps};
use proptest::prelude::*;
use std::net::{IpAddr, SocketAddr};

proptest! {
    #[test]
    fn what_is_emitted_parses_back(header in headers(), segment in segments()) {
        let mut bytes = Vec::new();
        emit(&header, &Body::Tcp(segment), Payload::Pattern(segment.len), &mut bytes).unwrap();
        let parsed = parse(&bytes, Checksums::Verify).unwrap();
        prop_assert_eq!(parsed.content, Content::Tcp(segment));
        prop_assert_eq!(parsed.header, header);
        prop_assert_eq!(parsed.payload.len(), segment.len as usize);
    }

    #[test]
    fn datagrams_parse_back(header in headers(), number: u64, payload in prop::collection::vec(any::<u8>(), 0..1500)) {
        let mut bytes = Vec::new();
        emit(&header, &Body::Datagram { number }, Payload::Bytes(&payload), &mut bytes).unwrap();
        let parsed = parse(&bytes, Checksums::Verify).unwrap();
        prop_assert_eq!(parsed.content, Content::Datagram);
        prop_assert_eq!(parsed.header, header);
        prop_assert_eq!(parsed.payload, payload);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), verify: bool) {
        let _ = parse(&bytes, checksums(verify));
    }

    #[test]
    fn bytes_that_begin_like_a_packet_never_panic(
        header in headers(),
        segment in segments(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut: prop::sample::Index,
    ) {
        let mut bytes = Vec::new();
        emit(&header, &Body::Tcp(segment), Payload::Pattern(segment.len), &mut bytes).unwrap();
        for (place, value) in changes {
            let headers = bytes.len().min(100);
            bytes[place.index(headers)] = value;
        }
        if let Err(error) = parse(&bytes, Checksums::Ignore) {
            prop_assert!(!error.to_string().is_empty());
        }
        let _ = parse(&bytes[..cut.index(bytes.len())], Checksums::Ignore);
    }

    #[test]
    fn a_packet_cut_anywhere_is_refused(header in headers(), segment in segments(), cut: prop::sample::Index) {
        let mut bytes = Vec::new();
        emit(&header, &Body::Tcp(segment), Payload::Pattern(segment.len), &mut bytes).unwrap();
        prop_assert!(parse(&bytes[..cut.index(bytes.len())], Checksums::Ignore).is_err());
    }

    #[test]
    fn a_flipped_bit_is_always_noticed(segment in segments(), place: prop::sample::Index, bit in 0..8) {
        let mut bytes = Vec::new();
        emit(&v4(), &Body::Tcp(segment), Payload::Pattern(segment.len), &mut bytes).unwrap();
        let place = place.index(bytes.len());
        bytes[place] ^= 1u8 << bit;
        prop_assert!(parse(&bytes, Checksums::Verify).is_err());
    }

    #[test]
    fn the_header_is_what_independent_software_reads(header in headers(), segment in segments()) {
        let mut bytes = Vec::new();
        emit(&header, &Body::Tcp(segment), Payload::Pattern(segment.len), &mut bytes).unwrap();
        let read = etherparse::PacketHeaders::from_ip_slice(&bytes).unwrap();
        let tcp = read.transport.unwrap().tcp().unwrap();
        let is_wrong = |option: &Result<_, _>| match option {
            // etherparse does not support the AccECN options, kinds 172 and 174.
            Err(TcpOptionReadError::UnknownId(kind)) => !matches!(kind, 172 | 174),
            option => option.is_err(),
        };
        prop_assert_eq!(tcp.options_iterator().filter(is_wrong).count(), 0);
        let payload = read.payload.slice();
        let sum = match read.net.unwrap() {
            etherparse::NetHeaders::Ipv4(ip, _) => {
                prop_assert_eq!(ip.calc_header_checksum(), ip.header_checksum);
                tcp.calc_checksum_ipv4(&ip, payload).unwrap()
            }
            etherparse::NetHeaders::Ipv6(ip, _) => tcp.calc_checksum_ipv6(&ip, payload).unwrap(),
            other => panic!("{other:?}"),
        };
        prop_assert!(sum == tcp.checksum || (sum == 0 && tcp.checksum == 0xffff));
    }
}

/// Compares the bytes of a SYN with a SYN of a mainstream stack that tcpdump printed.
#[test]
fn a_syn_byte_for_byte() {
    let syn = Segment {
        seq: Seq(0x01020304),
        flags: Flags::SYN,
        window: 64240,
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 1000, echo: 0 }),
        ..Segment::default()
    };
    let mut bytes = Vec::new();
    emit(&Header { ecn: Ecn::Ect0, ..v4() }, &Body::Tcp(syn), Payload::Pattern(0), &mut bytes).unwrap();
    let (ip, tcp) = bytes.split_at(20);
    assert_eq!(ip, [0x45, 2, 0, 60, 0, 7, 0x40, 0, 64, 6, 0x26, 0xb1, 10, 0, 0, 1, 10, 0, 0, 2]);
    assert_eq!(tcp[..16], [0x9c, 0x40, 0, 80, 1, 2, 3, 4, 0, 0, 0, 0, 0xa0, 0x02, 0xfa, 0xf0]);
    assert_eq!(tcp[18..], [0, 0, 2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 3, 0xe8, 0, 0, 0, 0, 1, 3, 3, 7]);
    assert_eq!(ones_complement_sum(ip), 0xffff);
    let pseudo = [10, 0, 0, 1, 10, 0, 0, 2, 0, 6, 0, 40];
    assert_eq!(ones_complement_sum(&[&pseudo[..], tcp].concat()), 0xffff);
}

#[test]
fn a_packet_of_the_other_direction_swaps_the_ends() {
    let ends = FlowAddresses { source: v4().source, destination: v4().destination };
    let packet = Packet {
        flow: FlowId(0),
        wire_bytes: 40,
        forward: false,
        number: 0,
        route: 0,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::Ce,
        priority: Priority::LOW,
        hop: 0,
        enqueued_at: lasthop_base::Time::ZERO,
        body: Body::Datagram { number: 0 },
    };
    let back = Header::of(&packet, &ends);
    assert_eq!((back.source, back.destination, back.ecn), (ends.destination, ends.source, Ecn::Ce));
    let forth = Header::of(&Packet { forward: true, ..packet }, &ends);
    assert_eq!((forth.source, forth.destination), (ends.source, ends.destination));
    assert_eq!((forth.dscp, forth.priority()), (1, Priority::LOW));
    for dscp in 0..64 {
        let header = Header::of(&Packet { priority: Priority::of_dscp(dscp), ..packet }, &ends);
        assert_eq!((header.dscp, header.priority().dscp()), (dscp, dscp));
    }
}

#[test]
fn low_priority_is_the_code_point_of_lower_effort() {
    // The DSCP of lower effort is 000001 (RFC 8622). Without ECN, the TOS octet (or traffic class) is therefore 4.
    let mut bytes = Vec::new();
    let body = Body::Datagram { number: 0 };
    emit(&Header { dscp: Header::LOWER_EFFORT, ..v4() }, &body, Payload::Pattern(1), &mut bytes).unwrap();
    assert_eq!(bytes[1], 4);
    emit(&Header { dscp: Header::LOWER_EFFORT, ..v6() }, &body, Payload::Pattern(1), &mut bytes).unwrap();
    assert_eq!(bytes[..2], [0x60, 0x40]);
    emit(&v4(), &body, Payload::Pattern(1), &mut bytes).unwrap();
    assert_eq!(bytes[1], 0);
}

#[test]
fn what_is_sent_again_has_the_same_bytes() {
    let payload = |seq, len| {
        let mut bytes = Vec::new();
        let segment = Segment { seq: Seq(seq), len, flags: Flags::ACK, ..Segment::default() };
        emit(&v4(), &Body::Tcp(segment), Payload::Pattern(len), &mut bytes).unwrap();
        bytes.split_off(40)
    };
    assert_eq!(payload(1000, 1460)[460..], payload(1460, 1000));
}

#[test]
fn what_cannot_be_written_is_refused() {
    let segment = Segment { len: 100, flags: Flags::ACK, ..Segment::default() };
    let refused =
        |header: Header, segment, payload| emit(&header, &Body::Tcp(segment), payload, &mut Vec::new());
    let mixed = Header { destination: "[::1]:80".parse().unwrap(), ..v4() };
    assert_eq!(refused(mixed, segment, Payload::Pattern(100)), Err(EmitError::MixedFamilies));
    assert_eq!(
        refused(v4(), segment, Payload::Bytes(b"short")),
        Err(EmitError::PayloadLength { segment: 100, payload: 5 })
    );
    let long = Segment { len: 65_496, ..segment };
    assert_eq!(
        refused(v4(), long, Payload::Pattern(65_496)),
        Err(EmitError::PacketTooLong { bytes: 65_536 })
    );
    assert_eq!(
        emit(&v4(), &Body::Datagram { number: 0 }, Payload::Pattern(u32::MAX), &mut Vec::new()),
        Err(EmitError::PacketTooLong { bytes: u32::MAX as usize + 8 })
    );
    let mute = Segment { len: 0, flags: Flags::SYN, mss: Some(0), ..segment };
    assert_eq!(refused(v4(), mute, Payload::Pattern(0)), Err(EmitError::MssZero));
}

#[test]
fn every_kind_of_malformed_header_is_named() {
    let mut good = Vec::new();
    let segment = Segment { len: 10, flags: Flags::ACK, ..Segment::default() };
    emit(&v4(), &Body::Tcp(segment), Payload::Pattern(10), &mut good).unwrap();
    let with = |changes: &[(usize, u8)]| {
        let mut bytes = good.clone();
        changes.iter().for_each(|(place, value)| bytes[*place] = *value);
        parse(&bytes, Checksums::Ignore).unwrap_err()
    };
    assert_eq!(parse(&[], Checksums::Ignore).unwrap_err(), ParseError::Empty);
    assert_eq!(with(&[(0, 0x55)]), ParseError::Version { version: 5 });
    assert_eq!(with(&[(0, 0x44)]), ParseError::HeaderLength { part: HeaderPart::Ipv4, at: 0, words: 4 });
    assert_eq!(
        with(&[(3, 19)]),
        ParseError::TotalLength { part: HeaderPart::Ipv4, at: 0, length: 19, header: 20 }
    );
    assert_eq!(
        with(&[(3, 51)]),
        ParseError::Truncated { part: HeaderPart::Ipv4, at: 0, needed: 51, present: 50 }
    );
    assert_eq!(with(&[(6, 0x20)]), ParseError::Fragment { offset: 0 });
    assert_eq!(with(&[(7, 2)]), ParseError::Fragment { offset: 16 });
    assert_eq!(with(&[(9, 1)]), ParseError::Protocol { number: 1 });
    assert_eq!(with(&[(32, 0x40)]), ParseError::HeaderLength { part: HeaderPart::Tcp, at: 20, words: 4 });
    assert_eq!(
        with(&[(32, 0xf0)]),
        ParseError::Truncated { part: HeaderPart::Tcp, at: 20, needed: 60, present: 30 }
    );
    assert_eq!(
        with(&[(9, 17), (25, 7)]),
        ParseError::TotalLength { part: HeaderPart::Udp, at: 20, length: 7, header: 8 }
    );
    assert_eq!(
        with(&[(9, 17), (25, 31)]),
        ParseError::Truncated { part: HeaderPart::Udp, at: 20, needed: 31, present: 30 }
    );
}

#[test]
fn checksums_are_looked_at_when_asked_for() {
    let mut bytes = Vec::new();
    let segment = Segment { len: 1, flags: Flags::ACK, ..Segment::default() };
    emit(&v4(), &Body::Tcp(segment), Payload::Bytes(b"x"), &mut bytes).unwrap();
    bytes[40] = b'y';
    let error = parse(&bytes, Checksums::Verify).unwrap_err();
    assert!(matches!(error, ParseError::Checksum { part: HeaderPart::Tcp, at: 36, .. }), "{error}");
    assert_eq!(parse(&bytes, Checksums::Ignore).unwrap().payload, b"y");
    bytes[8] = 1;
    let error = parse(&bytes, Checksums::Verify).unwrap_err();
    assert!(matches!(error, ParseError::Checksum { part: HeaderPart::Ipv4, at: 10, .. }), "{error}");
}

#[test]
fn datagrams_may_do_without_a_checksum_over_ipv4_only() {
    let without = |header: &Header, checksum_at: usize| {
        let mut bytes = Vec::new();
        emit(header, &Body::Datagram { number: 0 }, Payload::Bytes(b"x"), &mut bytes).unwrap();
        bytes[checksum_at..checksum_at + 2].fill(0);
        parse(&bytes, Checksums::Verify).map(|parsed| parsed.content)
    };
    assert_eq!(without(&v4(), 26), Ok(Content::Datagram));
    assert_eq!(without(&v6(), 46), Err(ParseError::Checksum { part: HeaderPart::Udp, at: 46, found: 0 }));
}

#[test]
fn bytes_behind_the_packet_and_header_options_are_skipped() {
    let mut bytes = Vec::new();
    let segment = Segment { len: 1, flags: Flags::ACK, ..Segment::default() };
    emit(&v4(), &Body::Tcp(segment), Payload::Bytes(b"x"), &mut bytes).unwrap();
    bytes[0] = 0x46;
    bytes[3] += 4;
    bytes.splice(20..20, [1, 1, 1, 0]);
    bytes.extend_from_slice(&[0; 5]);
    let parsed = parse(&bytes, Checksums::Ignore).unwrap();
    assert_eq!((parsed.content, parsed.payload), (Content::Tcp(segment), &b"x"[..]));
}

fn checksums(verify: bool) -> Checksums {
    if verify { Checksums::Verify } else { Checksums::Ignore }
}

fn v4() -> Header {
    Header {
        source: "10.0.0.1:40000".parse().unwrap(),
        destination: "10.0.0.2:80".parse().unwrap(),
        ecn: Ecn::NotEct,
        dscp: 0,
        id: 7,
        ttl: Header::TTL,
    }
}

fn v6() -> Header {
    Header {
        source: "[2001:db8::1]:40000".parse().unwrap(),
        destination: "[2001:db8::2]:80".parse().unwrap(),
        id: 0,
        ..v4()
    }
}

/// Returns the one's complement sum, computed word by word as in RFC 1071 §4.1.
fn ones_complement_sum(bytes: &[u8]) -> u32 {
    let sum: u32 =
        bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0))).sum();
    (sum & 0xffff) + (sum >> 16)
}

fn headers() -> impl Strategy<Value = Header> {
    let v4 = (any::<[u8; 4]>(), any::<[u8; 4]>()).prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b)));
    let v6 = (any::<[u8; 16]>(), any::<[u8; 16]>()).prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b)));
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    let fields = (ecn, 0..64u8);
    (prop_oneof![v4, v6], any::<(u16, u16, u16, u8)>(), fields).prop_map(|(addresses, numbers, fields)| {
        let (ecn, dscp) = fields;
        let ((from, to), (from_port, to_port, id, ttl)) = (addresses, numbers);
        Header {
            source: SocketAddr::new(from, from_port),
            destination: SocketAddr::new(to, to_port),
            ecn,
            dscp,
            id: if from.is_ipv4() { id } else { 0 },
            ttl,
        }
    })
}

fn segments() -> impl Strategy<Value = Segment> {
    let numbers = (any::<u32>(), any::<u32>(), 0..3000u32, 0..0x200u16, any::<u16>());
    let of_a_syn = (prop::option::of(1..=u16::MAX), prop::option::of(0..=14u8), any::<bool>());
    let blocks = prop::collection::vec(any::<(u32, u32)>(), 0..=4);
    let counters = prop::option::of((any::<bool>(), 0..=3u8, any::<[u64; 3]>()));
    (numbers, of_a_syn, prop::option::of(any::<(u32, u32)>()), blocks, counters).prop_map(
        |(numbers, of_a_syn, stamps, blocks, counters)| {
            let (seq, ack, len, flags, window) = numbers;
            let syn = Flags(flags).has(Flags::SYN);
            let (mss, window_scale, sack_permitted) = if syn { of_a_syn } else { Default::default() };
            let room = match (syn, stamps) {
                (true, _) => 2,
                (false, Some(_)) => 3,
                (false, None) => 4,
            };
            let mut sack = SackBlocks::default();
            blocks.iter().take(room).for_each(|(left, right)| sack.push(Seq(*left), Seq(*right)));
            let mut segment = Segment {
                seq: Seq(seq),
                ack: Seq(ack),
                len,
                flags: Flags(flags),
                window,
                mss,
                window_scale,
                sack_permitted,
                timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                sack,
            };
            if let Some((ect1_first, fields, [ect0, ce, ect1])) = counters {
                let order = if ect1_first { CounterOrder::Ect1First } else { CounterOrder::Ect0First };
                let counters = AccEcnCounters::new(order, fields, ect0, ce, ect1);
                // A generated SYN has SACK blocks or an AccECN option, but not both.
                let fits = segment.option_bytes() + counters.padded_bytes() <= 40;
                if fits && (!syn || segment.sack.is_empty()) {
                    segment.set_accecn(counters);
                }
            }
            segment
        },
    )
}

#[test]
fn a_tcp_checksum_of_zero_is_sent_as_zero() {
    // A zero checksum is replaced by 0xffff in UDP only (RFC 1624 §3). Among 65,536 sequence numbers, at least one
    // yields a checksum of zero.
    let header = v4();
    let found = (0..=u32::from(u16::MAX)).any(|seq| {
        let segment = Segment { seq: Seq(seq), flags: Flags::ACK, ..Segment::default() };
        let mut out = Vec::new();
        emit(&header, &Body::Tcp(segment), Payload::Pattern(0), &mut out).expect("a valid segment");
        assert_ne!(out[36..38], [0xff, 0xff]);
        out[36..38] == [0, 0]
    });
    assert!(found);
}
