use std::fmt;

/// Part of a packet in which an error was found.
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

/// Reason why bytes are not a valid packet. `at` counts bytes from the start of the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParseError {
    /// There are no bytes.
    Empty,
    /// A part of the packet needs more bytes than are present.
    Truncated {
        /// The truncated part.
        part: HeaderPart,
        /// Start of the part.
        at: usize,
        /// Bytes needed.
        needed: usize,
        /// Bytes present.
        present: usize,
    },
    /// The packet is neither IPv4 nor IPv6.
    Version {
        /// Value of the version field.
        version: u8,
    },
    /// A header length (IHL, data offset) below five words.
    HeaderLength {
        /// Part with the header.
        part: HeaderPart,
        /// Start of the part.
        at: usize,
        /// Stated length, words of four bytes.
        words: u8,
    },
    /// A total length shorter than the header.
    TotalLength {
        /// Part with the length.
        part: HeaderPart,
        /// Start of the part.
        at: usize,
        /// Stated length, bytes.
        length: usize,
        /// Header length, bytes.
        header: usize,
    },
    /// A fragment of a packet.
    Fragment {
        /// Position of the fragment in the whole payload, bytes.
        offset: usize,
    },
    /// The packet contains neither TCP nor UDP.
    Protocol {
        /// Protocol number; for IPv6 the next header.
        number: u8,
    },
    /// An ICMP message that is not a known error, e.g. a ping.
    NoIcmpError {
        /// Start of the message.
        at: usize,
        /// ICMP type.
        kind: u8,
        /// ICMP code.
        code: u8,
    },
    /// A wrong checksum.
    Checksum {
        /// Part with the checksum.
        part: HeaderPart,
        /// Position of the checksum.
        at: usize,
        /// Value of the checksum.
        found: u16,
    },
    /// A TCP option with a stated length of 0 or 1, less than the two bytes of kind and length.
    OptionTooShort {
        /// Option kind.
        kind: u8,
        /// Start of the option.
        at: usize,
        /// Stated length, bytes.
        length: usize,
    },
    /// A TCP option that exceeds the header.
    OptionPastEnd {
        /// Option kind.
        kind: u8,
        /// Start of the option.
        at: usize,
        /// Bytes needed.
        length: usize,
        /// Bytes left in the header.
        left: usize,
    },
    /// A TCP option of fixed length with another length.
    OptionLength {
        /// Option kind.
        kind: u8,
        /// Start of the option.
        at: usize,
        /// Stated length, bytes.
        length: usize,
    },
    /// A SACK option whose length is not 8 n + 2 with n at least 1 (RFC 2018 §3).
    SackLength {
        /// Start of the option.
        at: usize,
        /// Stated length, bytes.
        length: usize,
    },
    /// A maximum segment size of 0, which permits no data.
    MssZero {
        /// Start of the option.
        at: usize,
    },
}

/// Reason why a packet cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// One end is IPv4, the other IPv6.
    MixedFamilies,
    /// The payload's length differs from the segment's.
    PayloadLength {
        /// Length in the segment, bytes.
        segment: usize,
        /// Length of the payload, bytes.
        payload: usize,
    },
    /// The options exceed the header's 40 bytes.
    OptionsTooLong,
    /// The packet exceeds the IP header's length field (65535 bytes).
    PacketTooLong {
        /// Length of the packet, bytes.
        bytes: usize,
    },
    /// A maximum segment size of 0, which no peer accepts.
    MssZero,
    /// A differentiated services code point above 63.
    Dscp {
        /// The code point.
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
                write!(f, "{part} at byte {at} has {length} bytes in total, but a header of {header}")
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
