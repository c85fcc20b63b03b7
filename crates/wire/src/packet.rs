//! What links carry.

use crate::segment::Segment;
use crate::seq::Seq;
use lasthop_base::Time;

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
    /// ECN-capable, ECT(1): its sender answers marks in proportion (L4S, RFC 9331 §4.1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// The field's two bits (RFC 3168 §5).
    pub const fn bits(self) -> u8 {
        match self {
            Ecn::NotEct => 0b00,
            Ecn::Ect1 => 0b01,
            Ecn::Ect0 => 0b10,
            Ecn::Ce => 0b11,
        }
    }

    /// The field with these bits; others than the lowest two are ignored.
    pub const fn of_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Whether it is for L4S: ECT(1), and CE, of which nobody knows what it was (RFC 9331 §5.1).
    pub const fn is_l4s(self) -> bool {
        self.bits() & 0b01 != 0
    }
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
///
/// What its receiver and the links behind need comes first, and with it what is read of each segment; what only traces and
/// accounts of losses ask for comes last.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Packet {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Which of the run's routes it takes.
    pub route: u32,
    /// What links and error probabilities charge, bytes; apart from the real header's length,
    /// because the papers count nominal sizes while captures must be true.
    pub wire_bytes: u32,
    /// Whether it travels from the flow's source to its destination.
    pub forward: bool,
    /// ECN field.
    pub ecn: Ecn,
    /// Whether a bit of it is wrong, past every link layer's own check: its receiver's checksum will not be right.
    pub damaged: bool,
    /// Hops already taken on its route.
    pub hop: u8,
    /// What it carries.
    pub body: Body,
    /// Its number in the run, counted from 0 as packets set out, at a host or a middlebox (for traces, not on the wire).
    pub number: u64,
    /// When it joined the link that it is on, as far as somebody measures that (not on the wire).
    pub joined: Time,
    /// Whether its sequence range was sent before (ground truth for accounting, not on the wire).
    pub again: bool,
    /// Whether it was sent before the source noticed its first loss (likewise: slow start's overshoot).
    pub early: bool,
    /// Priority.
    pub priority: Priority,
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
    /// A notice from a node to an end of the flow, 40 bytes on the wire (our choice).
    Notice(NodeNotice),
}

/// What a base station tells the sender of what goes on behind it, in a packet of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeNotice {
    /// The link behind has failed to deliver a packet and tries again (EBSN: Bakshi et al. 1997).
    BadState,
    /// Data has reached the last hop (LHACK: Cobb and Agrawal 1995).
    LastHop {
        /// Number of its first byte.
        seq: Seq,
        /// Payload, bytes.
        len: u32,
    },
}

impl NodeNotice {
    /// What links charge for it, bytes.
    pub const WIRE_BYTES: u32 = 40;

    /// The word used in traces.
    pub const fn name(self) -> &'static str {
        match self {
            NodeNotice::BadState => "bad_state",
            NodeNotice::LastHop { .. } => "last_hop",
        }
    }
}

impl Packet {
    /// The TCP segment, if it is one.
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(segment) => Some(segment),
            Body::Datagram { .. } | Body::Notice(_) => None,
        }
    }
}
