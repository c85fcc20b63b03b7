//! Packets on links.

use crate::segment::Segment;
use crate::seq::Seq;
use lasthop_base::Time;

/// Number of a flow in the run.
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
    /// ECN-capable, ECT(1): the sender responds to marks in proportion (L4S, RFC 9331 §4.1).
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

    /// Returns the field with the lowest two bits of `bits`; the other bits are ignored.
    pub const fn of_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Whether the packet counts as L4S (RFC 9331 §5.1): ECT(1), or CE, which may have been ECT(1) before the mark.
    pub const fn is_l4s(self) -> bool {
        self.bits() & 0b01 != 0
    }
}

/// Priority in the IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Priority {
    /// Best effort.
    #[default]
    Normal,
    /// Lower effort (RFC 8622), the tag of huang's senders (§3.A).
    Low,
}

/// A packet in flight.
///
/// Fields that links and receivers need come first, those for traces and loss accounting last.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Packet {
    /// Flow of the packet.
    pub flow: FlowId,
    /// Index of the packet's route in the run.
    pub route: u32,
    /// Nominal size in bytes, with headers as papers count them. Links and error probabilities use this size. The
    /// headers of a real packet may have another size.
    pub wire_bytes: u32,
    /// Whether the direction is from the flow's source to its destination.
    pub forward: bool,
    /// ECN field.
    pub ecn: Ecn,
    /// Whether the packet has a bit error that no link layer detected; the receiver's checksum detects it.
    pub damaged: bool,
    /// Number of hops that the packet has passed on its route.
    pub hop: u8,
    /// Content.
    pub body: Body,
    /// Number of the packet in the run, from 0. Hosts and middleboxes number packets in order of creation (for traces,
    /// not on the wire).
    pub number: u64,
    /// Time of arrival at the current link, if measured (not on the wire).
    pub enqueued_at: Time,
    /// Whether the packet's sequence range was sent before (ground truth for accounting, not on the wire).
    pub is_retransmission: bool,
    /// Whether the packet was sent before the source detected its first loss (ground truth for slow start's overshoot).
    pub before_first_loss: bool,
    /// Priority.
    pub priority: Priority,
}

/// Content of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A datagram of an unresponsive source.
    Datagram {
        /// Number within the flow, from 0.
        number: u64,
    },
    /// A notice from a node to an end of the flow, 40 bytes on the wire (our choice).
    Notice(NodeNotice),
}

/// Notice from a base station to the sender, in a separate packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeNotice {
    /// The link that follows the node fails to deliver a packet and retries (EBSN: Bakshi et al. 1997).
    BadState,
    /// Data has reached the last hop (LHACK: Cobb and Agrawal 1995).
    LastHop {
        /// Sequence number of the first byte.
        seq: Seq,
        /// Payload, bytes.
        len: u32,
    },
}

impl NodeNotice {
    /// Size of a notice on the wire, bytes.
    pub const WIRE_BYTES: u32 = 40;

    /// Name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            NodeNotice::BadState => "bad_state",
            NodeNotice::LastHop { .. } => "last_hop",
        }
    }
}

impl Packet {
    /// The TCP segment, if any.
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(segment) => Some(segment),
            Body::Datagram { .. } | Body::Notice(_) => None,
        }
    }
}
