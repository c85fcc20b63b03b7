//! Tests of ICMP errors that another library has written, and of malformed ICMP messages.

use etherparse::icmpv4::{DestUnreachableHeader, ParameterProblemHeader, TimeExceededCode};
use etherparse::{Icmpv4Type, Icmpv6Type, PacketBuilder};
use lasthop_wire::Seq;
use lasthop_wire::bytes::{
    Checksums, FlowAddresses, HeaderPart, IcmpError, ParseError, Problem, parse_icmp_error,
};
use proptest::prelude::*;
use std::net::IpAddr;

const US: [u8; 4] = [10, 0, 0, 1];
const PEER: [u8; 4] = [10, 0, 0, 2];
const ROUTER: [u8; 4] = [10, 0, 0, 9];
const US6: [u8; 16] = [0xfd; 16];
const PEER6: [u8; 16] = [0xfe; 16];
const SEQ: u32 = 0xfedc_ba98;

/// Returns an IPv4 packet from `US` to `PEER` with a TCP segment of 1000 bytes.
fn ours() -> Vec<u8> {
    let mut bytes = Vec::new();
    PacketBuilder::ipv4(US, PEER, 64).tcp(4000, 80, SEQ, 8000).write(&mut bytes, &[0; 1000]).unwrap();
    bytes
}

fn ours6() -> Vec<u8> {
    let mut bytes = Vec::new();
    PacketBuilder::ipv6(US6, PEER6, 64).tcp(4000, 80, SEQ, 8000).write(&mut bytes, &[0; 1000]).unwrap();
    bytes
}

fn v4(message: Icmpv4Type, quoted: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    PacketBuilder::ipv4(ROUTER, US, 64).icmpv4(message).write(&mut bytes, quoted).unwrap();
    bytes
}

fn v6(message: Icmpv6Type, quoted: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    PacketBuilder::ipv6(PEER6, US6, 64).icmpv6(message).write(&mut bytes, quoted).unwrap();
    bytes
}

fn raw4(kind: u8, code: u8) -> Vec<u8> {
    v4(Icmpv4Type::Unknown { type_u8: kind, code_u8: code, bytes5to8: [0; 4] }, &ours()[..28])
}

fn raw6(kind: u8, code: u8) -> Vec<u8> {
    v6(Icmpv6Type::Unknown { type_u8: kind, code_u8: code, bytes5to8: [0; 4] }, &ours6()[..48])
}

fn read(bytes: &[u8]) -> Result<IcmpError, ParseError> {
    parse_icmp_error(bytes, Checksums::Verify)
}

/// An ICMP error quotes at least eight bytes after the IP header (RFC 792).
#[test]
fn the_quoted_segment_is_found() {
    let unreachable = Icmpv4Type::DestinationUnreachable(DestUnreachableHeader::Host);
    let expected = IcmpError {
        to: IpAddr::from(US),
        ends: FlowAddresses { source: (US, 4000).into(), destination: (PEER, 80).into() },
        seq: Seq(SEQ),
        problem: Problem::NoHost,
    };
    for quoted in [28, 40, 1040] {
        assert_eq!(read(&v4(unreachable.clone(), &ours()[..quoted])), Ok(expected));
    }
    let expected = IcmpError {
        to: IpAddr::from(US6),
        ends: FlowAddresses { source: (US6, 4000).into(), destination: (PEER6, 80).into() },
        problem: Problem::NoRoute,
        ..expected
    };
    for quoted in [48, 1060] {
        let bytes = v6(
            Icmpv6Type::DestinationUnreachable(etherparse::icmpv6::DestUnreachableCode::NoRoute),
            &ours6()[..quoted],
        );
        assert_eq!(read(&bytes), Ok(expected));
    }
}

/// Soft errors are "unreachable" with code 0, 1 or 5, "time exceeded" and "parameter problem" (RFC 9293 §3.9.2.2).
/// "Unreachable" with code 2 or 3 is hard. Code 4 reports an MTU.
#[test]
fn types_and_codes_of_version_4() {
    use Problem::*;
    for (kind, code, problem, hard) in [
        (3, 0, NoRoute, false),
        (3, 1, NoHost, false),
        (3, 2, NoProtocol, true),
        (3, 3, NoPort, true),
        (3, 5, NoHost, false),
        (3, 6, NetworkRefused, true),
        (3, 7, HostRefused, true),
        (3, 8, HostRefused, true),
        (3, 9, NetworkRefused, true),
        (3, 10, HostRefused, true),
        (3, 11, NoRoute, false),
        (3, 12, NoHost, false),
        (3, 13, HostRefused, true),
        (4, 0, SourceQuench, false),
        (11, 0, TimeExceeded, false),
        (11, 1, TimeExceeded, false),
        (12, 0, Parameter, false),
    ] {
        let read = read(&raw4(kind, code)).map(|notice| (notice.problem, notice.problem.is_hard()));
        assert_eq!(read, Ok((problem, hard)), "type {kind}, code {code}");
    }
    for (kind, code) in [(0, 0), (3, 16), (5, 1), (8, 0), (42, 7)] {
        assert_eq!(read(&raw4(kind, code)), Err(ParseError::NoIcmpError { at: 20, kind, code }));
    }
}

/// Soft errors are "unreachable" with code 0, 2 or 3, "time exceeded", and "parameter problem" with code 0 or 2 (types
/// and codes: RFC 4443). A parameter problem with code 1 (unknown next header) is hard.
#[test]
fn types_and_codes_of_version_6() {
    use Problem::*;
    for (kind, code, problem, hard) in [
        (1, 0, NoRoute, false),
        (1, 1, HostRefused, true),
        (1, 2, NoHost, false),
        (1, 3, NoHost, false),
        (1, 4, NoPort, true),
        (1, 5, HostRefused, true),
        (1, 6, HostRefused, true),
        (3, 0, TimeExceeded, false),
        (3, 1, TimeExceeded, false),
        (4, 0, Parameter, false),
        (4, 1, NoProtocol, true),
        (4, 2, Parameter, false),
    ] {
        let read = read(&raw6(kind, code)).map(|notice| (notice.problem, notice.problem.is_hard()));
        assert_eq!(read, Ok((problem, hard)), "type {kind}, code {code}");
    }
    for (kind, code) in [(1, 9), (128, 0), (135, 0)] {
        assert_eq!(read(&raw6(kind, code)), Err(ParseError::NoIcmpError { at: 40, kind, code }));
    }
}

/// The router reports the MTU (RFC 1191 §4, RFC 4443 §3.2), or the parser estimates the MTU (RFC 1191 §7.1).
#[test]
fn the_mtu_of_the_next_link() {
    let problem_of = |next_hop_mtu| {
        let needed = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu };
        read(&v4(Icmpv4Type::DestinationUnreachable(needed), &ours()[..28])).unwrap().problem
    };
    assert_eq!(problem_of(600), Problem::TooLong { mtu: 600 });
    assert_eq!(
        problem_of(0),
        Problem::TooLong { mtu: 1006 },
        "a packet of 1040 bytes was too long; 1006 is the next lower usual MTU"
    );
    let bytes = v6(Icmpv6Type::PacketTooBig { mtu: 1280 }, &ours6()[..100]);
    assert_eq!(read(&bytes).unwrap().problem, Problem::TooLong { mtu: 1280 });
}

#[test]
fn what_is_not_about_a_segment_is_named() {
    let time = || Icmpv4Type::TimeExceeded(TimeExceededCode::TtlExceededInTransit);
    let mut udp = Vec::new();
    PacketBuilder::ipv4(US, PEER, 64).udp(1, 2).write(&mut udp, &[0; 20]).unwrap();
    assert_eq!(read(&v4(time(), &udp)), Err(ParseError::Protocol { number: 17 }));
    assert_eq!(read(&ours()), Err(ParseError::Protocol { number: 6 }));
    // Only the first fragment of a packet has a TCP header.
    let mut fragment = ours()[..28].to_vec();
    fragment[7] = 100;
    assert_eq!(read(&v4(time(), &fragment)), Err(ParseError::Fragment { offset: 800 }));
    let cut = |needed, present| ParseError::Truncated { part: HeaderPart::Quoted, at: 28, needed, present };
    assert_eq!(read(&v4(time(), &ours()[..19])), Err(cut(20, 19)));
    assert_eq!(read(&v4(time(), &ours()[..27])), Err(cut(28, 27)));
    let problem = Icmpv4Type::ParameterProblem(ParameterProblemHeader::PointerIndicatesError(1));
    let mut flipped = v4(problem, &ours()[..28]);
    flipped[30] ^= 1;
    assert!(matches!(read(&flipped), Err(ParseError::Checksum { part: HeaderPart::Icmp, at: 22, .. })));
    assert!(parse_icmp_error(&flipped, Checksums::Ignore).is_ok());
    let mut flipped = raw6(3, 0);
    flipped[60] ^= 1;
    assert!(matches!(read(&flipped), Err(ParseError::Checksum { part: HeaderPart::Icmp, at: 42, .. })));
    // ICMPv6 (protocol 58) in an IPv4 packet is rejected.
    let mut wrong = raw4(3, 3);
    wrong[9] = 58;
    assert_eq!(parse_icmp_error(&wrong, Checksums::Ignore), Err(ParseError::Protocol { number: 58 }));
    assert_eq!(
        ParseError::NoIcmpError { at: 20, kind: 8, code: 0 }.to_string(),
        "ICMP at byte 20 is not a known error: type 8, code 0"
    );
    assert_eq!(
        cut(28, 27).to_string(),
        "the packet quoted by ICMP at byte 28 is truncated: 28 bytes needed, 27 present"
    );
}

proptest! {
    /// ICMP errors with random changes and a random length are parsed, or rejected with an error message.
    #[test]
    fn nothing_that_arrives_makes_it_panic(
        is_v4 in any::<bool>(),
        kind in any::<u8>(),
        code in any::<u8>(),
        changes in prop::collection::vec((0..120usize, any::<u8>()), 0..8),
        len in 0..130usize,
    ) {
        let mut bytes = if is_v4 { raw4(kind, code) } else { raw6(kind, code) };
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(len);
        let lenient = parse_icmp_error(&bytes, Checksums::Ignore);
        if let Err(error) = lenient {
            prop_assert!(!error.to_string().is_empty());
            prop_assert!(parse_icmp_error(&bytes, Checksums::Verify).is_err());
        }
        if let Ok(IcmpError { to, ends, problem, .. }) = lenient {
            prop_assert_eq!(to.is_ipv4(), is_v4);
            prop_assert_eq!(ends.source.is_ipv4(), ends.destination.is_ipv4());
            prop_assert!(!is_v4 || problem != (Problem::TooLong { mtu: 0 }), "the MTU is 0");
        }
    }

    #[test]
    fn nor_do_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_icmp_error(&bytes, Checksums::Ignore);
    }

    /// The checksum detects every single flipped bit of the ICMP message (RFC 1071).
    #[test]
    fn a_flipped_bit_is_noticed(bit in 0..36 * 8usize) {
        let mut bytes = raw4(3, 1);
        bytes[20 + bit / 8] ^= 1 << (bit % 8);
        prop_assert!(read(&bytes).is_err());
    }
}
