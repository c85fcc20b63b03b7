use super::checksum;
use super::error::EmitError;
use super::header::Header;
use super::options;
use super::payload::Payload;
use crate::packet::{Body, Ecn, NodeNotice};
use crate::segment::{Flags, Segment};
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv6Header, TcpHeader, UdpHeader};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};

/// Writes a real packet with checksums to `out`. Replaces the contents of `out`.
///
/// IPv4 packets have the "don't fragment" flag, like the packets of mainstream stacks with path MTU discovery.
///
/// # Errors
/// [`EmitError`] if the packet is invalid. In this case `out` is empty.
pub fn emit(header: &Header, body: &Body, payload: Payload<'_>, out: &mut Vec<u8>) -> Result<(), EmitError> {
    out.clear();
    let transport = Transport::new(header, body, payload.len())?;
    let transport_bytes = transport.header_bytes() + payload.len();
    let ip = IpHeader::new(header, transport.protocol(), transport_bytes)?;
    ip.append(out);
    let transport_at = out.len();
    transport.append(out);
    payload.append(first_number(body), out);

    let (source, destination) = (header.source.ip(), header.destination.ip());
    let sum = match transport {
        // ICMP has no pseudo header (RFC 792).
        Transport::Notice(_) => checksum::plain(&out[transport_at..]),
        _ => checksum::transport(source, destination, transport.protocol().0, &out[transport_at..]),
    };
    // In UDP, a checksum field of 0 means "no checksum"; a sum of 0 is sent as 0xffff (RFC 768). In TCP, 0 is a valid
    // checksum (RFC 1624).
    let is_udp = matches!(body, Body::Datagram { .. });
    let sum = if is_udp && sum == 0 { 0xffff } else { sum };
    let at = transport_at + transport.checksum_at();
    out[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}

enum Transport {
    Tcp(TcpHeader, u8),
    Udp(UdpHeader),
    Notice([u8; NOTICE_BYTES]),
}

/// Length without the IP header of a notice from a node on the path, bytes: ICMP header (8), ports (4), sequence number
/// (4) and length of the data (4).
const NOTICE_BYTES: usize = 20;
/// ICMP type for experiments (RFC 4727 §3).
const ICMP_EXPERIMENT: u8 = 253;

impl Transport {
    fn new(header: &Header, body: &Body, payload: usize) -> Result<Transport, EmitError> {
        let (source, destination) = (header.source.port(), header.destination.port());
        match body {
            Body::Tcp(segment) if segment.len as usize != payload => {
                Err(EmitError::PayloadLength { segment: segment.len as usize, payload })
            }
            Body::Tcp(segment) => {
                Ok(Transport::Tcp(tcp(source, destination, segment)?, reserved(segment.flags)))
            }
            Body::Notice(notice) => Ok(Transport::Notice(icmp(source, destination, *notice))),
            Body::Datagram { .. } => UdpHeader::without_ipv4_checksum(source, destination, payload)
                .map(Transport::Udp)
                .map_err(|_| EmitError::PacketTooLong { bytes: payload.saturating_add(UdpHeader::LEN) }),
        }
    }

    fn protocol(&self) -> IpNumber {
        match self {
            Transport::Tcp(..) => IpNumber::TCP,
            Transport::Udp(_) => IpNumber::UDP,
            Transport::Notice(_) => IpNumber::ICMP,
        }
    }

    fn header_bytes(&self) -> usize {
        match self {
            Transport::Tcp(tcp, _) => tcp.header_len(),
            Transport::Udp(_) => UdpHeader::LEN,
            Transport::Notice(bytes) => bytes.len(),
        }
    }

    fn checksum_at(&self) -> usize {
        match self {
            Transport::Tcp(..) => 16,
            Transport::Udp(_) => 6,
            Transport::Notice(_) => 2,
        }
    }

    fn append(&self, out: &mut Vec<u8>) {
        match self {
            Transport::Tcp(tcp, reserved) => {
                let at = out.len();
                out.extend_from_slice(&tcp.to_bytes());
                out[at + RESERVED_AT] |= reserved;
            }
            Transport::Udp(udp) => out.extend_from_slice(&udp.to_bytes()),
            Transport::Notice(bytes) => out.extend_from_slice(bytes),
        }
    }
}

/// Position in the TCP header of the byte with the data offset, the reserved bits and AE.
const RESERVED_AT: usize = 12;

/// Returns the loss hints in `flags` (Lasthop's own header bits), as reserved bits of the header byte at `RESERVED_AT`.
fn reserved(flags: Flags) -> u8 {
    ((flags.0 & (Flags::WIRELESS.0 | Flags::CONGESTION.0)) >> 8) as u8
}

/// Encodes a notice from a node on the path as an ICMP message of experimental type. The ICMP code encodes the kind of
/// notice. The flow's ports follow, then the sequence number and the length of the data that the notice concerns.
fn icmp(source: u16, destination: u16, notice: NodeNotice) -> [u8; NOTICE_BYTES] {
    let (code, seq, len) = match notice {
        NodeNotice::BadState => (0, 0, 0),
        NodeNotice::LastHop { seq, len } => (1, seq.0, len),
    };
    let mut bytes = [0; NOTICE_BYTES];
    (bytes[0], bytes[1]) = (ICMP_EXPERIMENT, code);
    bytes[8..10].copy_from_slice(&source.to_be_bytes());
    bytes[10..12].copy_from_slice(&destination.to_be_bytes());
    bytes[12..16].copy_from_slice(&seq.to_be_bytes());
    bytes[16..20].copy_from_slice(&len.to_be_bytes());
    bytes
}

fn tcp(source: u16, destination: u16, segment: &Segment) -> Result<TcpHeader, EmitError> {
    let flags = segment.flags;
    Ok(TcpHeader {
        source_port: source,
        destination_port: destination,
        sequence_number: segment.seq.0,
        acknowledgment_number: segment.ack.0,
        ns: flags.has(Flags::AE),
        fin: flags.has(Flags::FIN),
        syn: flags.has(Flags::SYN),
        rst: flags.has(Flags::RST),
        psh: flags.has(Flags::PSH),
        ack: flags.has(Flags::ACK),
        urg: flags.has(Flags::URG),
        ece: flags.has(Flags::ECE),
        cwr: flags.has(Flags::CWR),
        window_size: segment.window,
        checksum: 0,
        urgent_pointer: 0,
        options: options::write(segment)?,
    })
}

enum IpHeader {
    V4(Ipv4Header),
    V6(Ipv6Header),
}

impl IpHeader {
    fn new(header: &Header, protocol: IpNumber, payload: usize) -> Result<IpHeader, EmitError> {
        match (header.source, header.destination) {
            (SocketAddr::V4(source), SocketAddr::V4(destination)) => {
                v4(header, source, destination, protocol, payload)
            }
            (SocketAddr::V6(source), SocketAddr::V6(destination)) => {
                v6(header, source, destination, protocol, payload)
            }
            _ => Err(EmitError::MixedFamilies),
        }
    }

    fn append(&self, out: &mut Vec<u8>) {
        match self {
            IpHeader::V4(v4) => out.extend_from_slice(&v4.to_bytes()),
            IpHeader::V6(v6) => out.extend_from_slice(&v6.to_bytes()),
        }
    }
}

fn v4(
    header: &Header,
    source: SocketAddrV4,
    destination: SocketAddrV4,
    protocol: IpNumber,
    payload: usize,
) -> Result<IpHeader, EmitError> {
    let bytes = payload.saturating_add(Ipv4Header::MIN_LEN);
    let mut v4 = Ipv4Header {
        dscp: dscp(header)?,
        ecn: ecn(header.ecn),
        total_len: u16::try_from(bytes).map_err(|_| EmitError::PacketTooLong { bytes })?,
        identification: header.id,
        dont_fragment: true,
        time_to_live: header.ttl,
        protocol,
        source: source.ip().octets(),
        destination: destination.ip().octets(),
        ..Ipv4Header::default()
    };
    v4.header_checksum = v4.calc_header_checksum();
    Ok(IpHeader::V4(v4))
}

fn v6(
    header: &Header,
    source: SocketAddrV6,
    destination: SocketAddrV6,
    protocol: IpNumber,
    payload: usize,
) -> Result<IpHeader, EmitError> {
    let bytes = payload.saturating_add(Ipv6Header::LEN);
    let mut v6 = Ipv6Header {
        payload_length: u16::try_from(payload).map_err(|_| EmitError::PacketTooLong { bytes })?,
        next_header: protocol,
        hop_limit: header.ttl,
        source: source.ip().octets(),
        destination: destination.ip().octets(),
        ..Ipv6Header::default()
    };
    v6.set_dscp(dscp(header)?);
    v6.set_ecn(ecn(header.ecn));
    Ok(IpHeader::V6(v6))
}

fn dscp(header: &Header) -> Result<IpDscp, EmitError> {
    IpDscp::try_new(header.dscp).map_err(|_| EmitError::Dscp { dscp: header.dscp })
}

fn ecn(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}

/// Returns the number with which the pattern of the payload begins. For a segment, the number is the sequence number of
/// the first payload byte, which follows the number of a SYN. For a datagram, the number is the number of the datagram.
fn first_number(body: &Body) -> u32 {
    match body {
        Body::Tcp(segment) => segment.seq.0.wrapping_add(u32::from(segment.flags.has(Flags::SYN))),
        Body::Datagram { number } => *number as u32,
        Body::Notice(_) => 0,
    }
}
