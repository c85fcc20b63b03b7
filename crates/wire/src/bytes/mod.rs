//! Real packets: IPv4 or IPv6 with TCP or UDP, with checksums; ICMP errors.
//!
//! * [`emit`]: converts structs to bytes.
//! * [`parse`]: converts bytes to structs; never panics.
//! * [`parse_icmp_error`]: parses ICMP errors about TCP segments. This module cannot write such errors.
//! * [`rewrite()`]: replaces acknowledgement number and window in a packet.
//! * `header`, `payload`, `options`, `checksum`, `error`: parts of a packet, and errors.
//!
//! Limits: IPv4 options are skipped; fragments and IPv6 extension headers are rejected. Urgent pointer and IPv6 flow
//! label are written as 0 and ignored. The only DSCP in use is LE (lower effort).

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
