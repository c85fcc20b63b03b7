//! Real packets: IPv4 or IPv6 packets with TCP or UDP and with checksums; ICMP errors.
//!
//! * [`emit`]: converts structs to the bytes of a packet.
//! * [`parse`]: converts the bytes of a packet to structs; never panics.
//! * [`parse_icmp_error`]: parses ICMP errors about TCP segments. The module cannot write ICMP errors.
//! * [`rewrite()`]: replaces the acknowledgement number and the window of a TCP packet.
//! * `header`, `payload`, `options`, `checksum`, `error`: parts of a packet, and errors of parsing and writing.
//!
//! Limits: The parser skips IPv4 options, and rejects fragments and IPv6 extension headers. The urgent pointer and the
//! IPv6 flow label are written as 0, and ignored in parsed packets. The only DSCP with a meaning is LE (lower effort).

mod checksum;
mod emit;
mod error;
mod header;
mod icmp;
mod options;
mod parse;
mod payload;
mod rewrite;

pub use emit::emit;
pub use error::{EmitError, HeaderPart, ParseError};
pub use header::{FlowAddresses, Header};
pub use icmp::{IcmpError, Problem, parse_icmp_error};
pub use parse::{Checksums, Content, Parsed, parse};
pub use payload::Payload;
pub use rewrite::rewrite;
