//! Packets and segments.
//!
//! * [`seq`]: 32-bit sequence numbers and absolute offsets.
//! * [`segment`]: a TCP segment, its flags and options.
//! * [`accecn`]: content of the AccECN option.
//! * [`packet`]: a packet on a link: a segment, a datagram or a notice, with its nominal size.
//! * [`bytes`]: converts segments and datagrams to real packets, and back.
//! * [`report`]: reasons for packet losses, and link information for endpoints; [`per_reason`]: a value per loss
//!   reason.

pub mod accecn;
pub mod bytes;
pub mod packet;
pub mod per_reason;
pub mod report;
pub mod segment;
pub mod seq;

pub use packet::{Body, Ecn, FlowId, NodeNotice, Packet, Priority};
pub use per_reason::PerReason;
pub use report::{Backlog, LinkReport, LossReason, SenderCounts, UplinkCounts};
pub use segment::{Flags, LossHint, SackBlocks, Segment, Timestamps};
pub use seq::Seq;

/// Hash of the source files of this crate, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();
