use crate::packet::{Ecn, Packet, Priority};
use std::net::SocketAddr;

/// Where a flow begins and where it ends; both of the same family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// Address and port of the flow's source.
    pub source: SocketAddr,
    /// Address and port of its destination.
    pub destination: SocketAddr,
}

/// What a real packet has beside its segment: the IP header's fields, and the ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Address and port it comes from.
    pub source: SocketAddr,
    /// Address and port it goes to.
    pub destination: SocketAddr,
    /// ECN field.
    pub ecn: Ecn,
    /// Differentiated services code point, 0 to 63 (RFC 2474).
    pub dscp: u8,
    /// Identification (RFC 791 §3.1); IPv6 has none and reads as 0.
    pub id: u16,
    /// Time to live or hop limit, hops.
    pub ttl: u8,
}

impl Header {
    /// The time to live with which packets set out unless told otherwise, hops (RFC 1700: 64).
    pub const TTL: u8 = 64;

    /// The code point of packets with low priority: lower effort (RFC 8622).
    pub const LOWER_EFFORT: u8 = 1;

    /// The priority that the code point asks for.
    pub fn priority(&self) -> Priority {
        if self.dscp == Header::LOWER_EFFORT { Priority::Low } else { Priority::Normal }
    }

    /// The header of a flow's packet, in the packet's direction; id 0 and [`Header::TTL`].
    pub fn of(packet: &Packet, ends: &Ends) -> Header {
        let (source, destination) =
            if packet.forward { (ends.source, ends.destination) } else { (ends.destination, ends.source) };
        let dscp = if packet.priority == Priority::Low { Header::LOWER_EFFORT } else { 0 };
        Header { source, destination, ecn: packet.ecn, dscp, id: 0, ttl: Header::TTL }
    }
}
