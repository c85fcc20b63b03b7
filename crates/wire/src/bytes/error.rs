use std::fmt;

/// Which part of a packet an error speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The IPv4 packet.
    Ipv4,
    /// The IPv6 packet.
    Ipv6,
    /// The TCP segment in it.
    Tcp,
    /// The UDP datagram in it.
    Udp,
    /// The ICMP message in it.
    Icmp,
    /// The packet that an ICMP error quotes.
    Quoted,
}

/// Why bytes are not a packet. `at` counts bytes from the packet's first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParseError {
    /// No byte at all.
    Empty,
    /// The bytes end before the part does.
    Truncated {
        /// The part that is cut.
        part: Part,
        /// Where it begins.
        at: usize,
        /// Bytes it needs.
        needed: usize,
        /// Bytes there are.
        present: usize,
    },
    /// Neither IPv4 nor IPv6.
    Version {
        /// What the version field says.
        version: u8,
    },
    /// A header length (IHL, data offset) below five words.
    HeaderLength {
        /// Whose header.
        part: Part,
        /// Where the part begins.
        at: usize,
        /// The length it states, words of four bytes.
        words: u8,
    },
    /// A total length that does not even hold the header.
    TotalLength {
        /// Whose length.
        part: Part,
        /// Where the part begins.
        at: usize,
        /// The length it states, bytes.
        length: usize,
        /// The header's length, bytes.
        header: usize,
    },
    /// A fragment of a packet, not a packet.
    Fragment {
        /// Where its bytes belong in the whole payload.
        offset: usize,
    },
    /// Neither TCP nor UDP inside.
    Protocol {
        /// The protocol number, or for IPv6 the next header.
        number: u8,
    },
    /// ICMP, but no error, or none that is known: a ping, say.
    NoIcmpError {
        /// Where the message begins.
        at: usize,
        /// Its type.
        kind: u8,
        /// Its code.
        code: u8,
    },
    /// A checksum that does not fit the bytes.
    Checksum {
        /// Whose checksum.
        part: Part,
        /// Where the checksum is.
        at: usize,
        /// What it is.
        found: u16,
    },
    /// A TCP option that states a length of 0 or 1, less than its own two first bytes.
    OptionTooShort {
        /// The option's kind.
        kind: u8,
        /// Where the option begins.
        at: usize,
        /// The length it states, bytes.
        length: usize,
    },
    /// A TCP option that goes on past the header's end.
    OptionPastEnd {
        /// The option's kind.
        kind: u8,
        /// Where the option begins.
        at: usize,
        /// Bytes it needs.
        length: usize,
        /// Bytes left in the header.
        left: usize,
    },
    /// A TCP option of fixed length with another length.
    OptionLength {
        /// The option's kind.
        kind: u8,
        /// Where the option begins.
        at: usize,
        /// The length it states, bytes.
        length: usize,
    },
    /// A SACK option whose length is not 8 n + 2 with n at least 1 (RFC 2018 §3).
    SackLength {
        /// Where the option begins.
        at: usize,
        /// The length it states, bytes.
        length: usize,
    },
    /// A maximum segment size of 0, with which nothing can be sent.
    MssZero {
        /// Where the option begins.
        at: usize,
    },
}

/// Why a packet has no bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// One end is IPv4, the other IPv6.
    MixedFamilies,
    /// The payload given is not as long as the segment says.
    PayloadLength {
        /// What the segment says, bytes.
        segment: usize,
        /// What was given, bytes.
        payload: usize,
    },
    /// The options do not fit the 40 bytes that a header has for them.
    OptionsTooLong,
    /// The packet does not fit the IP header's length field (65535 bytes).
    PacketTooLong {
        /// Bytes in the packet.
        bytes: usize,
    },
    /// A maximum segment size of 0, which no peer would accept.
    MssZero,
    /// A code point that does not fit its six bits.
    Dscp {
        /// What was given.
        dscp: u8,
    },
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Ipv4 => "IPv4",
            Part::Ipv6 => "IPv6",
            Part::Tcp => "TCP",
            Part::Udp => "UDP",
            Part::Icmp => "ICMP",
            Part::Quoted => "the packet that ICMP quotes",
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ParseError::Empty => write!(f, "the packet is empty"),
            ParseError::Truncated { part, at, needed, present } => {
                write!(f, "{part} at byte {at} is cut: it needs {needed} bytes, {present} are there")
            }
            ParseError::Version { version } => {
                write!(f, "IP version {version} at byte 0 is neither 4 nor 6")
            }
            ParseError::HeaderLength { part, at, words } => {
                write!(f, "{part} at byte {at} states a header of {words} words: at least 5")
            }
            ParseError::TotalLength { part, at, length, header } => {
                write!(f, "{part} at byte {at} states {length} bytes in all, but its header has {header}")
            }
            ParseError::Fragment { offset } => {
                write!(f, "the packet is a fragment, from byte {offset} of the whole")
            }
            ParseError::Protocol { number } => {
                write!(f, "protocol {number} is neither TCP (6) nor UDP (17)")
            }
            ParseError::NoIcmpError { at, kind, code } => {
                write!(f, "ICMP at byte {at} is no error that is known: type {kind}, code {code}")
            }
            ParseError::Checksum { part, at, found } => {
                write!(f, "{part} checksum {found:#06x} at byte {at} does not fit the bytes")
            }
            ParseError::OptionTooShort { kind, at, length } => {
                write!(f, "TCP option {kind} at byte {at} states length {length}: at least 2")
            }
            ParseError::OptionPastEnd { kind, at, length, left } => {
                write!(f, "TCP option {kind} at byte {at} needs {length} bytes, the header has {left} left")
            }
            ParseError::OptionLength { kind, at, length } => {
                write!(f, "TCP option {kind} at byte {at} cannot have length {length}")
            }
            ParseError::SackLength { at, length } => {
                write!(f, "TCP option 5 (SACK) at byte {at} states length {length}: 10, 18, 26 or 34")
            }
            ParseError::MssZero { at } => {
                write!(f, "TCP option 2 (MSS) at byte {at} states 0 bytes: at least 1")
            }
        }
    }
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EmitError::MixedFamilies => write!(f, "one end is IPv4, the other IPv6"),
            EmitError::PayloadLength { segment, payload } => {
                write!(f, "the segment carries {segment} bytes, but {payload} were given")
            }
            EmitError::OptionsTooLong => write!(f, "the TCP options need more than 40 bytes"),
            EmitError::PacketTooLong { bytes } => {
                write!(f, "a packet of {bytes} bytes is longer than 65535")
            }
            EmitError::Dscp { dscp } => write!(f, "differentiated services code point {dscp}: 0 to 63"),
            EmitError::MssZero => write!(f, "a maximum segment size of 0 bytes: at least 1"),
        }
    }
}

impl std::error::Error for ParseError {}

impl std::error::Error for EmitError {}
