//! Real packets: IPv4 or IPv6 with TCP or UDP inside, checksums included; ICMP errors about them.
//!
//! * [`emit`]: plain structs to bytes.
//! * [`parse`]: bytes to plain structs; nothing that arrives can make it panic.
//! * [`parse_icmp_error`]: an ICMP error about a TCP segment; they are read, not written.
//! * [`rewrite()`]: another acknowledgement number and window in a packet as it is.
//! * `header`: what a real packet has beside its segment: addresses, ports, ECN, id, hop limit.
//! * `payload`: the bytes carried: given ones, or a pattern that depends on their numbers alone.
//! * `options`: TCP options in the order in which mainstream stacks write them.
//! * `checksum`: the pseudo header and the sum (RFC 1071).
//! * `error`: why a packet could not be emitted or parsed.
//!
//! # What is absent
//! IPv4 options are skipped, fragments and IPv6 extension headers refused; the urgent pointer is
//! written as 0 and not read; of DSCP only LE (lower effort) is known; the IPv6 flow label is written as 0 and not
//! read.

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
pub use error::{EmitError, ParseError, Part};
pub use header::{Ends, Header};
pub use icmp::{IcmpError, Problem, parse_icmp_error};
pub use parse::{Checksums, Content, Parsed, parse};
pub use payload::Payload;
pub use rewrite::rewrite;
