//! ICMP errors about TCP segments (RFC 792, RFC 4443). A router or the remote host sends these errors.

use super::checksum;
use super::error::{HeaderPart, ParseError};
use super::header::FlowAddresses;
use super::parse::{Checksums, IpPacket, ip, truncated};
use crate::seq::Seq;
use etherparse::icmpv4::DestUnreachableHeader as Unreachable4;
use etherparse::icmpv6::{DestUnreachableCode as Unreachable6, ParameterProblemCode};
use etherparse::{
    Icmpv4Slice, Icmpv4Type, Icmpv6Slice, Icmpv6Type, IpNumber, Ipv4HeaderSlice, Ipv6Header, Ipv6HeaderSlice,
};
use std::net::{IpAddr, SocketAddr};

/// An ICMP error. ICMP errors are easily forged. Therefore accept an error only if [`IcmpError::seq`] belongs to a
/// segment in flight (RFC 5927 §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IcmpError {
    /// Destination address of the ICMP packet.
    pub to: IpAddr,
    /// Addresses and ports of the quoted segment. `source` is the host that sent the segment.
    pub ends: FlowAddresses,
    /// Sequence number of the quoted segment.
    pub seq: Seq,
    /// Problem that the error reports.
    pub problem: Problem,
}

/// Problem that the ICMP type and code report. A problem is hard if retransmissions are useless, and soft otherwise.
/// RFC 9293 §3.9.2.2 defines which problems are hard or soft. Problems that the RFC does not list are classified as in
/// Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// A router currently has no route to the network. Soft.
    NoRoute,
    /// The host is currently unreachable. Soft.
    NoHost,
    /// The network is unknown or prohibited. Hard.
    NetworkRefused,
    /// The host is unknown or prohibited. Hard.
    HostRefused,
    /// The host does not support TCP. Hard.
    NoProtocol,
    /// The port is closed. Hard.
    NoPort,
    /// The packet exceeded the MTU of the next link (RFC 1191, RFC 8201).
    TooLong {
        /// MTU of the next link, bytes. If an IPv4 router does not report an MTU, `mtu` is the largest usual MTU below
        /// the length of the quoted packet (RFC 1191 §7.1).
        mtu: u32,
    },
    /// The packet's time to live, or the reassembly timeout, expired. Soft.
    TimeExceeded,
    /// A header field is invalid. Soft.
    Parameter,
    /// Source quench, which is obsolete (RFC 6633).
    SourceQuench,
}

impl Problem {
    /// Whether the problem is hard, so that retransmissions are useless.
    pub const fn is_hard(self) -> bool {
        matches!(self, Problem::NetworkRefused | Problem::HostRefused | Problem::NoProtocol | Problem::NoPort)
    }
}

/// Usual path MTUs in bytes, for errors of routers that do not report an MTU (RFC 1191 §7.1).
const USUAL_MTUS: [u32; 10] = [32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296, SMALLEST_MTU];
/// Minimum MTU of IPv4 links, bytes (RFC 791).
const SMALLEST_MTU: u32 = 68;

/// Parses an ICMP error about a TCP segment. Ignores bytes after the end of the IP packet.
///
/// Reads the quoted IP header and the next eight bytes. Checksums of the quoted packet are not verified, since the
/// quoted packet may be truncated.
///
/// # Errors
/// [`ParseError`] if the bytes are not an ICMP error about a TCP segment.
pub fn parse_icmp_error(bytes: &[u8], checksums: Checksums) -> Result<IcmpError, ParseError> {
    let ip = ip(bytes, checksums)?;
    let is_v4 = ip.source.is_ipv4();
    match ip.protocol {
        IpNumber::ICMP if is_v4 => v4(&ip, checksums),
        IpNumber::IPV6_ICMP if !is_v4 => v6(&ip, checksums),
        IpNumber(number) => Err(ParseError::Protocol { number }),
    }
}

fn v4(ip: &IpPacket<'_>, checksums: Checksums) -> Result<IcmpError, ParseError> {
    let icmp = Icmpv4Slice::from_slice(ip.payload)
        .map_err(|error| truncated(HeaderPart::Icmp, ip.at, error.required_len, ip.payload))?;
    if checksums == Checksums::Verify && checksum::plain(ip.payload) != 0 {
        return Err(ParseError::Checksum { part: HeaderPart::Icmp, at: ip.at + 2, found: icmp.checksum() });
    }
    let problem = match icmp.icmp_type() {
        Icmpv4Type::DestinationUnreachable(why) => match why {
            Unreachable4::Network | Unreachable4::TosNetwork => Problem::NoRoute,
            Unreachable4::Host | Unreachable4::TosHost | Unreachable4::SourceRouteFailed => Problem::NoHost,
            Unreachable4::NetworkUnknown | Unreachable4::NetworkProhibited => Problem::NetworkRefused,
            Unreachable4::HostUnknown
            | Unreachable4::Isolated
            | Unreachable4::HostProhibited
            | Unreachable4::FilterProhibited
            | Unreachable4::HostPrecedenceViolation
            | Unreachable4::PrecedenceCutoff => Problem::HostRefused,
            Unreachable4::Protocol => Problem::NoProtocol,
            Unreachable4::Port => Problem::NoPort,
            Unreachable4::FragmentationNeeded { next_hop_mtu } => {
                Problem::TooLong { mtu: u32::from(next_hop_mtu) }
            }
        },
        Icmpv4Type::TimeExceeded(_) => Problem::TimeExceeded,
        Icmpv4Type::ParameterProblem(_) => Problem::Parameter,
        Icmpv4Type::Unknown { type_u8: SOURCE_QUENCH, .. } => Problem::SourceQuench,
        _ => return Err(no_error(ip, icmp.type_u8(), icmp.code_u8())),
    };
    let at = ip.at + icmp.header_len();
    let quote = icmp.payload();
    let header = Ipv4HeaderSlice::from_slice(quote).map_err(|_| cut(at, 20, quote))?;
    let offset = usize::from(header.fragments_offset().value()) * 8;
    if offset > 0 {
        return Err(ParseError::Fragment { offset });
    }
    let problem = match problem {
        Problem::TooLong { mtu: 0 } => {
            let lower = USUAL_MTUS.into_iter().find(|mtu| *mtu < u32::from(header.total_len()));
            Problem::TooLong { mtu: lower.unwrap_or(SMALLEST_MTU) }
        }
        other => other,
    };
    let quoted = Quoted {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        protocol: header.protocol(),
        header: header.slice().len(),
    };
    quoted.error(ip, at, quote, problem)
}

/// ICMP type of source quench. etherparse has no constant for this type.
const SOURCE_QUENCH: u8 = 4;

fn v6(ip: &IpPacket<'_>, checksums: Checksums) -> Result<IcmpError, ParseError> {
    let icmp = Icmpv6Slice::from_slice(ip.payload)
        .map_err(|error| truncated(HeaderPart::Icmp, ip.at, error.required_len, ip.payload))?;
    if checksums == Checksums::Verify {
        ip.verify(ip.payload, HeaderPart::Icmp, 2, icmp.checksum())?;
    }
    let problem = match icmp.icmp_type() {
        Icmpv6Type::DestinationUnreachable(why) => match why {
            Unreachable6::NoRoute => Problem::NoRoute,
            Unreachable6::Address | Unreachable6::BeyondScope => Problem::NoHost,
            Unreachable6::Prohibited
            | Unreachable6::SourceAddressFailedPolicy
            | Unreachable6::RejectRoute => Problem::HostRefused,
            Unreachable6::Port => Problem::NoPort,
        },
        Icmpv6Type::PacketTooBig { mtu } => Problem::TooLong { mtu },
        Icmpv6Type::TimeExceeded(_) => Problem::TimeExceeded,
        Icmpv6Type::ParameterProblem(what) => match what.code {
            // This code is the equivalent of "protocol unreachable" in IPv4 (RFC 5461 §2).
            ParameterProblemCode::UnrecognizedNextHeader => Problem::NoProtocol,
            _ => Problem::Parameter,
        },
        _ => return Err(no_error(ip, icmp.type_u8(), icmp.code_u8())),
    };
    let at = ip.at + icmp.header_len();
    let quote = icmp.payload();
    let header = Ipv6HeaderSlice::from_slice(quote).map_err(|_| cut(at, Ipv6Header::LEN, quote))?;
    let quoted = Quoted {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        protocol: header.next_header(),
        header: Ipv6Header::LEN,
    };
    quoted.error(ip, at, quote, problem)
}

fn no_error(ip: &IpPacket<'_>, kind: u8, code: u8) -> ParseError {
    ParseError::NoIcmpError { at: ip.at, kind, code }
}

fn cut(at: usize, needed: usize, quote: &[u8]) -> ParseError {
    truncated(HeaderPart::Quoted, at, needed, quote)
}

struct Quoted {
    source: IpAddr,
    destination: IpAddr,
    protocol: IpNumber,
    header: usize,
}

/// Length of the part of the TCP header that every ICMP error quotes, bytes: ports and sequence number.
const TCP_START: usize = 8;

impl Quoted {
    fn error(
        &self,
        ip: &IpPacket<'_>,
        at: usize,
        quote: &[u8],
        problem: Problem,
    ) -> Result<IcmpError, ParseError> {
        if self.protocol != IpNumber::TCP {
            return Err(ParseError::Protocol { number: self.protocol.0 });
        }
        let needed = self.header + TCP_START;
        let tcp = quote.get(self.header..needed).ok_or_else(|| cut(at, needed, quote))?;
        let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
        Ok(IcmpError {
            to: ip.destination,
            ends: FlowAddresses {
                source: SocketAddr::new(self.source, port(0)),
                destination: SocketAddr::new(self.destination, port(2)),
            },
            seq: Seq(u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]])),
            problem,
        })
    }
}
