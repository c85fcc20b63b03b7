//! What links carry.

use crate::segment::Segment;

/// Which flow of the run a packet belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct FlowId(pub u32);

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, ECT(0).
    Ect0,
    /// Congestion experienced.
    Ce,
}

/// The priority in the IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Priority {
    /// As everything else.
    #[default]
    Normal,
    /// Low: lower effort (RFC 8622). huang's senders tag segments with it (§3.A).
    Low,
}

/// A packet on its way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// Its number in the run, counted from 0 as packets set out, at a host or a middlebox (for traces, not on the wire).
    pub number: u64,
    /// The flow it belongs to.
    pub flow: FlowId,
    /// What links and error probabilities charge, bytes; apart from the real header's length,
    /// because the papers count nominal sizes while captures must be true.
    pub wire_bytes: u32,
    /// Whether it travels from the flow's source to its destination.
    pub forward: bool,
    /// Whether its sequence range was sent before (ground truth for accounting, not on the wire).
    pub again: bool,
    /// Whether it was sent before the source noticed its first loss (likewise: slow start's overshoot).
    pub early: bool,
    /// ECN field.
    pub ecn: Ecn,
    /// Priority.
    pub priority: Priority,
    /// Which of the run's routes it takes.
    pub route: u32,
    /// Hops already taken on it.
    pub hop: u8,
    /// What it carries.
    pub body: Body,
}

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A datagram of a source that does not react: its number within the flow.
    Datagram {
        /// Counts from 0.
        number: u64,
    },
}

impl Packet {
    /// The TCP segment, if it is one.
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(segment) => Some(segment),
            Body::Datagram { .. } => None,
        }
    }
}
