use std::fmt;

/// Part of a packet in which the parser found an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderPart {
    /// The IPv4 packet.
    Ipv4,
    /// The IPv6 packet.
    Ipv6,
    /// The TCP segment.
    Tcp,
    /// The UDP datagram.
    Udp,
    /// The ICMP message.
    Icmp,
    /// The packet quoted by an ICMP error.
    Quoted,
}

/// Reason why bytes are not a valid packet. Each field `at` is a position in bytes from the start of the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParseError {
    /// The packet is empty.
    Empty,
    /// A part of the packet is longer than the bytes that are present.
    Truncated {
        /// Truncated part of the packet.
        part: HeaderPart,
        /// Start of the part.
        at: usize,
        /// Number of bytes that the part needs.
        needed: usize,
        /// Number of bytes that are present, from the start of the part.
        present: usize,
    },
    /// The packet is neither IPv4 nor IPv6.
    Version {
        /// Value of the version field.
        version: u8,
    },
    /// A header length field (IHL of IPv4, data offset of TCP) is below five words.
    HeaderLength {
        /// Part to which the header belongs.
        part: HeaderPart,
        /// Start of the part.
        at: usize,
        /// Value of the header length field, words of four bytes.
        words: u8,
    },
    /// The length field of an IPv4 packet or UDP datagram is shorter than the header.
    TotalLength {
        /// Part to which the length field belongs.
        part: HeaderPart,
        /// Start of the part.
        at: usize,
        /// Value of the length field, bytes.
        length: usize,
        /// Length of the header, bytes.
        header: usize,
    },
    /// The packet is a fragment.
    Fragment {
        /// Fragment offset: position of the fragment in the payload of the original packet, bytes.
        offset: usize,
    },
    /// The packet contains an unexpected protocol.
    Protocol {
        /// Protocol number of IPv4, or next header of IPv6.
        number: u8,
    },
    /// The ICMP message is not a known error, e.g. a ping.
    NoIcmpError {
        /// Start of the ICMP message.
        at: usize,
        /// ICMP type.
        kind: u8,
        /// ICMP code.
        code: u8,
    },
    /// A checksum is wrong.
    Checksum {
        /// Part to which the checksum belongs.
        part: HeaderPart,
        /// Position of the checksum.
        at: usize,
        /// Value of the checksum field.
        found: u16,
    },
    /// The length field of a TCP option is 0 or 1. The minimum is 2, since kind and length are two bytes.
    OptionTooShort {
        /// Option kind.
        kind: u8,
        /// Start of the option.
        at: usize,
        /// Value of the option's length field, bytes.
        length: usize,
    },
    /// A TCP option exceeds the header.
    OptionPastEnd {
        /// Option kind.
        kind: u8,
        /// Start of the option.
        at: usize,
        /// Length of the option, bytes.
        length: usize,
        /// Number of bytes from the start of the option to the end of the header.
        left: usize,
    },
    /// A TCP option has a wrong length, although options of this kind have a fixed length.
    OptionLength {
        /// Option kind.
        kind: u8,
        /// Start of the option.
        at: usize,
        /// Value of the option's length field, bytes.
        length: usize,
    },
    /// The length of a SACK option is not 8 n + 2 with n at least 1 (RFC 2018 §3).
    SackLength {
        /// Start of the option.
        at: usize,
        /// Value of the option's length field, bytes.
        length: usize,
    },
    /// The MSS option has the value 0, which permits no data.
    MssZero {
        /// Start of the option.
        at: usize,
    },
}

/// Reason why a packet cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// One end has an IPv4 address, and the other end has an IPv6 address.
    MixedFamilies,
    /// The length of the payload differs from the length in the segment.
    PayloadLength {
        /// Length in the segment, bytes.
        segment: usize,
        /// Length of the payload, bytes.
        payload: usize,
    },
    /// The TCP options exceed the header's space for options, 40 bytes.
    OptionsTooLong,
    /// The packet exceeds the IP header's length field (65535 bytes).
    PacketTooLong {
        /// Length of the packet, bytes.
        bytes: usize,
    },
    /// The segment has an MSS of 0, which no peer accepts.
    MssZero,
    /// The differentiated services code point exceeds 63.
    Dscp {
        /// Value of the code point.
        dscp: u8,
    },
}

impl fmt::Display for HeaderPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeaderPart::Ipv4 => "IPv4",
            HeaderPart::Ipv6 => "IPv6",
            HeaderPart::Tcp => "TCP",
            HeaderPart::Udp => "UDP",
            HeaderPart::Icmp => "ICMP",
            HeaderPart::Quoted => "the packet quoted by ICMP",
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ParseError::Empty => write!(f, "the packet is empty"),
            ParseError::Truncated { part, at, needed, present } => {
                write!(f, "{part} at byte {at} is truncated: {needed} bytes needed, {present} present")
            }
            ParseError::Version { version } => {
                write!(f, "IP version {version} at byte 0 is neither 4 nor 6")
            }
            ParseError::HeaderLength { part, at, words } => {
                write!(f, "{part} at byte {at} has a header length of {words} words; the minimum is 5")
            }
            ParseError::TotalLength { part, at, length, header } => {
                write!(f, "{part} at byte {at} has {length} bytes in total, but a header of {header} bytes")
            }
            ParseError::Fragment { offset } => {
                write!(f, "the packet is a fragment (from byte {offset}); fragments are not supported")
            }
            ParseError::Protocol { number } => {
                write!(f, "protocol {number} is neither TCP (6) nor UDP (17)")
            }
            ParseError::NoIcmpError { at, kind, code } => {
                write!(f, "ICMP at byte {at} is not a known error: type {kind}, code {code}")
            }
            ParseError::Checksum { part, at, found } => {
                write!(f, "{part} checksum {found:#06x} at byte {at} is wrong")
            }
            ParseError::OptionTooShort { kind, at, length } => {
                write!(f, "TCP option {kind} at byte {at} has length {length}; the minimum is 2")
            }
            ParseError::OptionPastEnd { kind, at, length, left } => {
                write!(f, "TCP option {kind} at byte {at} needs {length} bytes; the header has {left} left")
            }
            ParseError::OptionLength { kind, at, length } => {
                write!(f, "TCP option {kind} at byte {at} cannot have length {length}")
            }
            ParseError::SackLength { at, length } => {
                write!(f, "TCP option 5 (SACK) at byte {at} has length {length}; expected: 10, 18, 26 or 34")
            }
            ParseError::MssZero { at } => {
                write!(f, "TCP option 2 (MSS) at byte {at} has the value 0; the minimum is 1")
            }
        }
    }
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EmitError::MixedFamilies => write!(f, "one end is IPv4, the other IPv6"),
            EmitError::PayloadLength { segment, payload } => {
                write!(f, "the segment has {segment} bytes, but the payload has {payload}")
            }
            EmitError::OptionsTooLong => write!(f, "the TCP options need more than 40 bytes"),
            EmitError::PacketTooLong { bytes } => {
                write!(f, "a packet of {bytes} bytes exceeds the maximum of 65535")
            }
            EmitError::Dscp { dscp } => write!(f, "the code point (DSCP) {dscp} is not in 0 to 63"),
            EmitError::MssZero => write!(f, "the maximum segment size is 0; the minimum is 1"),
        }
    }
}

impl std::error::Error for ParseError {}

impl std::error::Error for EmitError {}
