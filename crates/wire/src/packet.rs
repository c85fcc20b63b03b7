//! Packets on links: content, ECN field, priority and accounting data.

use crate::segment::Segment;
use crate::seq::Seq;
use lasthop_base::Time;

/// Number that identifies a flow in a simulation run.
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
    /// ECN-capable, ECT(1): the identifier of L4S packets (RFC 9331 §4.1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Returns the two bits of the ECN field (RFC 3168 §5).
    pub const fn bits(self) -> u8 {
        match self {
            Ecn::NotEct => 0b00,
            Ecn::Ect1 => 0b01,
            Ecn::Ect0 => 0b10,
            Ecn::Ce => 0b11,
        }
    }

    /// Returns the ECN code point of the two lowest bits of `bits`. The other bits are ignored.
    pub const fn of_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Whether the code point classifies a packet as L4S (RFC 9331 §5.1). ECT(1) is L4S. CE also counts as L4S, because
    /// the packet may have had ECT(1) before it was marked.
    pub const fn is_l4s(self) -> bool {
        self.bits() & 0b01 != 0
    }
}

/// Priority of a packet: the differentiated services code point (DSCP) of the IP header, 0 to 63 (RFC 2474).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Priority(u8);

impl Priority {
    /// Best effort.
    pub const NORMAL: Priority = Priority(0);

    /// Lower effort (LE, RFC 8622). A TCP sender may tag selected segments with this priority (huang §3.A).
    pub const LOW: Priority = Priority(1);

    /// Returns the priority with this DSCP. Bits above the lowest six are ignored.
    pub const fn of_dscp(dscp: u8) -> Priority {
        Priority(dscp & 63)
    }

    /// Returns `other` in place of best effort.
    pub fn or(self, other: Priority) -> Priority {
        if self == Priority::NORMAL { other } else { self }
    }

    /// Returns the DSCP, 0 to 63.
    pub const fn dscp(self) -> u8 {
        self.0
    }
}

/// A packet in flight.
///
/// In memory, the fields that links and receivers need come first. Fields for traces and loss accounting come last.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Packet {
    /// Flow of the packet.
    pub flow: FlowId,
    /// Index of the packet's route in the simulation.
    pub route: u32,
    /// Nominal size of payload and headers, bytes. Headers count with their real size or with a fixed size, as the
    /// scenario specifies. Links and bit error probabilities use the nominal size.
    pub wire_bytes: u32,
    /// Whether the packet travels from the flow's source to the flow's destination.
    pub forward: bool,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Whether the packet has a bit error that no link layer detected. The checksum at the receiving host detects this
    /// error.
    pub damaged: bool,
    /// Number of hops of its route that the packet has passed.
    pub hop: u8,
    /// Content of the packet: a segment, a datagram or a notice.
    pub body: Body,
    /// Number of the packet in the simulation, from 0, in order of creation by hosts and middleboxes. Only traces use
    /// this number; real packets do not contain the number.
    pub number: u64,
    /// Time of arrival at the current queueing element, to measure the link delay. Real packets do not contain this
    /// time.
    pub enqueued_at: Time,
    /// Whether the packet is a retransmission. This ground truth is for loss accounting; real packets do not contain
    /// the field.
    pub is_retransmission: bool,
    /// Whether the packet was sent before the source detected its first loss. This ground truth identifies losses that
    /// the overshoot of the first slow start caused.
    pub before_first_loss: bool,
    /// Priority of the packet: the DSCP of the IP header.
    pub priority: Priority,
}

/// Content of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A datagram of an unresponsive source.
    Datagram {
        /// Number of the datagram within the flow, from 0.
        number: u64,
    },
    /// A notice from a node on the path to an end of the flow, 40 bytes on the wire (our choice).
    Notice(NodeNotice),
}

/// Notice that a base station sends to the sender in a separate packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeNotice {
    /// The next link after the base station failed to deliver a packet and retransmits the packet (EBSN: Bakshi et al.
    /// 1997).
    BadState,
    /// Acknowledgement that data has reached the last hop (LHACK: Cobb and Agrawal 1995).
    LastHop {
        /// Sequence number of the first byte of the data.
        seq: Seq,
        /// Length of the data, bytes.
        len: u32,
    },
}

impl NodeNotice {
    /// Size of a notice on the wire, bytes.
    pub const WIRE_BYTES: u32 = 40;

    /// Returns the name of the notice in traces.
    pub const fn name(self) -> &'static str {
        match self {
            NodeNotice::BadState => "bad_state",
            NodeNotice::LastHop { .. } => "last_hop",
        }
    }
}

impl Packet {
    /// Returns the TCP segment if the packet contains one.
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(segment) => Some(segment),
            Body::Datagram { .. } | Body::Notice(_) => None,
        }
    }
}
