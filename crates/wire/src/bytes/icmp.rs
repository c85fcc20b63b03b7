//! ICMP errors about TCP segments (RFC 792, RFC 4443): what a router, or the host at the end, says of a packet that it
//! did not pass on.

use super::checksum;
use super::error::{ParseError, Part};
use super::header::Ends;
use super::parse::{Checksums, Ip, ip, truncated};
use crate::seq::Seq;
use etherparse::icmpv4::DestUnreachableHeader as Unreachable4;
use etherparse::icmpv6::{DestUnreachableCode as Unreachable6, ParameterProblemCode};
use etherparse::{
    Icmpv4Slice, Icmpv4Type, Icmpv6Slice, Icmpv6Type, IpNumber, Ipv4HeaderSlice, Ipv6Header, Ipv6HeaderSlice,
};
use std::net::{IpAddr, SocketAddr};

/// What an ICMP error says. Anybody can send one: it is believed only if [`IcmpError::seq`] is of a segment that is on its
/// way (RFC 5927 §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IcmpError {
    /// Whom it was sent to.
    pub to: IpAddr,
    /// The ends of the segment that it is about: the source sent it.
    pub ends: Ends,
    /// The segment's sequence number.
    pub seq: Seq,
    /// What became of the segment.
    pub problem: Problem,
}

/// What became of a packet, by type and code. RFC 9293 §3.9.2.2 says which of them are hard; of those that it does not
/// name, Linux's choice is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// No route to the network, at the moment. Soft.
    NoRoute,
    /// The host cannot be reached, at the moment. Soft.
    NoHost,
    /// Packets for this network are not let through, or nobody knows it. Hard.
    NetworkRefused,
    /// Packets for this host are not let through, or nobody knows it. Hard.
    HostRefused,
    /// The host has no TCP. Hard.
    NoProtocol,
    /// Nobody has that port. Hard.
    NoPort,
    /// The packet was longer than the next link takes (RFC 1191, RFC 8201).
    TooLong {
        /// What it takes, bytes; over IPv4, the next lower of the usual ones if it did not say (RFC 1191 §7.1).
        mtu: u32,
    },
    /// The packet was on its way for too long, or its fragments were. Soft.
    TimeExceeded,
    /// Something in its header was wrong. Soft.
    Parameter,
    /// A router asks for less traffic; nobody heeds that any more (RFC 6633).
    SourceQuench,
}

impl Problem {
    /// Whether trying again is of no use.
    pub const fn is_hard(self) -> bool {
        matches!(self, Problem::NetworkRefused | Problem::HostRefused | Problem::NoProtocol | Problem::NoPort)
    }
}

/// Path MTUs that are usual, bytes, for routers that do not say theirs (RFC 1191 §7.1).
const USUAL_MTUS: [u32; 10] = [32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296, SMALLEST_MTU];
/// Every link takes so much of IPv4 (RFC 791).
const SMALLEST_MTU: u32 = 68;

/// Reads an ICMP error about a TCP segment; bytes behind the packet's end are ignored.
///
/// The packet that it quotes is read as far as its first eight bytes behind the IP header; its own checksums are not
/// looked at, because it may have been cut or translated on its way.
///
/// # Errors
/// If the bytes are not such a packet: see [`ParseError`].
pub fn parse_icmp_error(bytes: &[u8], checksums: Checksums) -> Result<IcmpError, ParseError> {
    let ip = ip(bytes, checksums)?;
    let is_v4 = ip.source.is_ipv4();
    match ip.protocol {
        IpNumber::ICMP if is_v4 => v4(&ip, checksums),
        IpNumber::IPV6_ICMP if !is_v4 => v6(&ip, checksums),
        IpNumber(number) => Err(ParseError::Protocol { number }),
    }
}

fn v4(ip: &Ip<'_>, checksums: Checksums) -> Result<IcmpError, ParseError> {
    let icmp = Icmpv4Slice::from_slice(ip.payload)
        .map_err(|error| truncated(Part::Icmp, ip.at, error.required_len, ip.payload))?;
    if checksums == Checksums::Verify && checksum::plain(ip.payload) != 0 {
        return Err(ParseError::Checksum { part: Part::Icmp, at: ip.at + 2, found: icmp.checksum() });
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

/// Type 4, with code 0; etherparse does not know it any more.
const SOURCE_QUENCH: u8 = 4;

fn v6(ip: &Ip<'_>, checksums: Checksums) -> Result<IcmpError, ParseError> {
    let icmp = Icmpv6Slice::from_slice(ip.payload)
        .map_err(|error| truncated(Part::Icmp, ip.at, error.required_len, ip.payload))?;
    if checksums == Checksums::Verify {
        ip.verify(ip.payload, Part::Icmp, 2, icmp.checksum())?;
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
            // What "protocol unreachable" is to IPv4 (RFC 5461 §2).
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

fn no_error(ip: &Ip<'_>, kind: u8, code: u8) -> ParseError {
    ParseError::NoIcmpError { at: ip.at, kind, code }
}

fn cut(at: usize, needed: usize, quote: &[u8]) -> ParseError {
    truncated(Part::Quoted, at, needed, quote)
}

/// The IP header of the packet that an error quotes.
struct Quoted {
    source: IpAddr,
    destination: IpAddr,
    protocol: IpNumber,
    /// Its length, bytes.
    header: usize,
}

/// What of a TCP header every error has: the ports and the sequence number.
const TCP_START: usize = 8;

impl Quoted {
    fn error(&self, ip: &Ip<'_>, at: usize, quote: &[u8], problem: Problem) -> Result<IcmpError, ParseError> {
        if self.protocol != IpNumber::TCP {
            return Err(ParseError::Protocol { number: self.protocol.0 });
        }
        let needed = self.header + TCP_START;
        let tcp = quote.get(self.header..needed).ok_or_else(|| cut(at, needed, quote))?;
        let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
        Ok(IcmpError {
            to: ip.destination,
            ends: Ends {
                source: SocketAddr::new(self.source, port(0)),
                destination: SocketAddr::new(self.destination, port(2)),
            },
            seq: Seq(u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]])),
            problem,
        })
    }
}
