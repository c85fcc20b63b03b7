//! What travels: packets and segments as plain structs.
//!
//! * [`seq`]: 32-bit sequence numbers that wrap, and the absolute offsets behind them.
//! * [`segment`]: a TCP segment, its flags and options.
//! * [`accecn`]: what an AccECN option says.
//! * [`packet`]: what links carry: a segment or a datagram, with the size that the link charges.
//! * [`bytes`]: the same as real packets, emitted and parsed.
//! * [`report`]: link knowledge that reaches an endpoint as plain data; [`per_reason`]: a value for each reason of a loss.

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
