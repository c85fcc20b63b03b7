use super::checksum;
use super::error::{HeaderPart, ParseError};
use super::header::Header;
use super::options;
use crate::packet::Ecn;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;
use etherparse::err::{ipv4, tcp};
use etherparse::{IpEcn, IpNumber, Ipv4HeaderSlice, Ipv6Header, Ipv6HeaderSlice, TcpHeader, TcpSlice};
use etherparse::{UdpHeader, UdpHeaderSlice};
use std::net::{IpAddr, SocketAddr};

/// Verification of checksums. Packets captured at a sending host often have no valid checksum, because the network card
/// inserts the checksum after the capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksums {
    /// A wrong checksum is an error. A UDP checksum of 0 means "no checksum". UDP without a checksum is valid over IPv4
    /// (RFC 768) and an error over IPv6 (RFC 8200 §8.1).
    Verify,
    /// Checksums are ignored.
    Ignore,
}

/// A parsed packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parsed<'a> {
    /// Addresses, ports and fields of the IP header.
    pub header: Header,
    /// TCP segment or UDP datagram in the packet.
    pub content: Content,
    /// Payload of the TCP segment or UDP datagram.
    pub payload: &'a [u8],
}

/// Content of a parsed packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Content {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Datagram,
}

/// Parses an IPv4 or IPv6 packet with TCP or UDP. Ignores bytes after the end of the packet.
///
/// A window scale above 14 is returned as 14 (RFC 7323 §2.3).
///
/// # Errors
/// [`ParseError`] if the bytes are not a valid packet with TCP or UDP.
pub fn parse(bytes: &[u8], checksums: Checksums) -> Result<Parsed<'_>, ParseError> {
    let ip = ip(bytes, checksums)?;
    match ip.protocol {
        IpNumber::TCP => ip.tcp(checksums),
        IpNumber::UDP => ip.udp(checksums),
        IpNumber(number) => Err(ParseError::Protocol { number }),
    }
}

pub(super) struct IpPacket<'a> {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    ecn: Ecn,
    dscp: u8,
    id: u16,
    ttl: u8,
    pub(super) protocol: IpNumber,
    pub(super) at: usize,
    pub(super) payload: &'a [u8],
}

pub(super) fn ip(bytes: &[u8], checksums: Checksums) -> Result<IpPacket<'_>, ParseError> {
    match bytes.first() {
        None => Err(ParseError::Empty),
        Some(first) => match first >> 4 {
            4 => v4(bytes, checksums),
            6 => v6(bytes),
            version => Err(ParseError::Version { version }),
        },
    }
}

fn v4(bytes: &[u8], checksums: Checksums) -> Result<IpPacket<'_>, ParseError> {
    let header = Ipv4HeaderSlice::from_slice(bytes).map_err(|error| match error {
        ipv4::HeaderSliceError::Len(length) => truncated(HeaderPart::Ipv4, 0, length.required_len, bytes),
        ipv4::HeaderSliceError::Content(ipv4::HeaderError::UnexpectedVersion { version_number }) => {
            ParseError::Version { version: version_number }
        }
        ipv4::HeaderSliceError::Content(ipv4::HeaderError::HeaderLengthSmallerThanHeader { ihl }) => {
            ParseError::HeaderLength { part: HeaderPart::Ipv4, at: 0, words: ihl }
        }
    })?;
    let (at, length) = (header.slice().len(), usize::from(header.total_len()));
    if length < at {
        return Err(ParseError::TotalLength { part: HeaderPart::Ipv4, at: 0, length, header: at });
    }
    let payload = bytes.get(at..length).ok_or(truncated(HeaderPart::Ipv4, 0, length, bytes))?;
    if checksums == Checksums::Verify && checksum::plain(header.slice()) != 0 {
        return Err(ParseError::Checksum { part: HeaderPart::Ipv4, at: 10, found: header.header_checksum() });
    }
    if header.is_fragmenting_payload() {
        return Err(ParseError::Fragment { offset: usize::from(header.fragments_offset().value()) * 8 });
    }
    Ok(IpPacket {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        ecn: ecn(header.ecn()),
        dscp: header.dcp().value(),
        id: header.identification(),
        ttl: header.ttl(),
        protocol: header.protocol(),
        at,
        payload,
    })
}

fn v6(bytes: &[u8]) -> Result<IpPacket<'_>, ParseError> {
    let at = Ipv6Header::LEN;
    // The caller has checked the version. Therefore `from_slice` fails only if bytes of the header are missing.
    let header = Ipv6HeaderSlice::from_slice(bytes).map_err(|_| truncated(HeaderPart::Ipv6, 0, at, bytes))?;
    let length = at + usize::from(header.payload_length());
    let payload = bytes.get(at..length).ok_or(truncated(HeaderPart::Ipv6, 0, length, bytes))?;
    Ok(IpPacket {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        ecn: ecn(header.ecn()),
        dscp: header.dscp().value(),
        id: 0,
        ttl: header.hop_limit(),
        protocol: header.next_header(),
        at,
        payload,
    })
}

impl<'a> IpPacket<'a> {
    fn tcp(&self, checksums: Checksums) -> Result<Parsed<'a>, ParseError> {
        let tcp = TcpSlice::from_slice(self.payload).map_err(|error| match error {
            tcp::HeaderSliceError::Len(length) => {
                truncated(HeaderPart::Tcp, self.at, length.required_len, self.payload)
            }
            tcp::HeaderSliceError::Content(tcp::HeaderError::DataOffsetTooSmall { data_offset }) => {
                ParseError::HeaderLength { part: HeaderPart::Tcp, at: self.at, words: data_offset }
            }
        })?;
        if checksums == Checksums::Verify {
            self.verify(self.payload, HeaderPart::Tcp, 16, tcp.checksum())?;
        }
        let mut segment = Segment {
            seq: Seq(tcp.sequence_number()),
            ack: Seq(tcp.acknowledgment_number()),
            len: tcp.payload().len() as u32,
            flags: flags(&tcp) | reserved(self.payload),
            window: tcp.window_size(),
            ..Segment::default()
        };
        options::read(tcp.options(), self.at + TcpHeader::MIN_LEN, &mut segment)?;
        let header = self.header(tcp.source_port(), tcp.destination_port());
        Ok(Parsed { header, content: Content::Tcp(segment), payload: tcp.payload() })
    }

    fn udp(&self, checksums: Checksums) -> Result<Parsed<'a>, ParseError> {
        let needs = |needed| truncated(HeaderPart::Udp, self.at, needed, self.payload);
        let udp = UdpHeaderSlice::from_slice(self.payload).map_err(|error| needs(error.required_len))?;
        let length = usize::from(udp.length());
        if length < UdpHeader::LEN {
            return Err(ParseError::TotalLength {
                part: HeaderPart::Udp,
                at: self.at,
                length,
                header: UdpHeader::LEN,
            });
        }
        let datagram = self.payload.get(..length).ok_or(needs(length))?;
        let unchecked = udp.checksum() == 0 && self.source.is_ipv4();
        if checksums == Checksums::Verify && !unchecked {
            self.verify(datagram, HeaderPart::Udp, 6, udp.checksum())?;
        }
        let header = self.header(udp.source_port(), udp.destination_port());
        Ok(Parsed { header, content: Content::Datagram, payload: &datagram[UdpHeader::LEN..] })
    }

    fn header(&self, source_port: u16, destination_port: u16) -> Header {
        Header {
            source: SocketAddr::new(self.source, source_port),
            destination: SocketAddr::new(self.destination, destination_port),
            ecn: self.ecn,
            dscp: self.dscp,
            id: self.id,
            ttl: self.ttl,
        }
    }

    pub(super) fn verify(
        &self,
        transport: &[u8],
        part: HeaderPart,
        checksum_at: usize,
        found: u16,
    ) -> Result<(), ParseError> {
        let sum = checksum::transport(self.source, self.destination, self.protocol.0, transport);
        // UDP over IPv6 requires a checksum. The sum does not detect a missing checksum if the correct checksum is
        // 0xffff, because the one's complement sum treats 0 and 0xffff alike.
        let missing = part == HeaderPart::Udp && found == 0;
        match sum {
            0 if !missing => Ok(()),
            _ => Err(ParseError::Checksum { part, at: self.at + checksum_at, found }),
        }
    }
}

pub(super) fn truncated(part: HeaderPart, at: usize, needed: usize, bytes: &[u8]) -> ParseError {
    ParseError::Truncated { part, at, needed, present: bytes.len() }
}

fn ecn(ecn: IpEcn) -> Ecn {
    match ecn {
        IpEcn::NotEct => Ecn::NotEct,
        IpEcn::Ect0 => Ecn::Ect0,
        IpEcn::Ect1 => Ecn::Ect1,
        IpEcn::CongestionExperienced => Ecn::Ce,
    }
}

/// Returns the loss hints (Lasthop's own header bits), which are reserved bits in the same header byte as the data
/// offset. etherparse ignores these bits.
fn reserved(tcp: &[u8]) -> Flags {
    let hints = Flags::WIRELESS.0 | Flags::CONGESTION.0;
    Flags(tcp.get(12).map_or(0, |byte| u16::from(*byte) << 8 & hints))
}

fn flags(tcp: &TcpSlice<'_>) -> Flags {
    let all = [
        (tcp.fin(), Flags::FIN),
        (tcp.syn(), Flags::SYN),
        (tcp.rst(), Flags::RST),
        (tcp.psh(), Flags::PSH),
        (tcp.ack(), Flags::ACK),
        (tcp.urg(), Flags::URG),
        (tcp.ece(), Flags::ECE),
        (tcp.cwr(), Flags::CWR),
        (tcp.ns(), Flags::AE),
    ];
    all.iter().filter(|(set, _)| *set).fold(Flags::default(), |flags, (_, flag)| flags | *flag)
}
