use crate::packet::{Ecn, Packet, Priority};
use std::net::SocketAddr;

/// Addresses and ports of a flow's ends. Both addresses have the same family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowAddresses {
    /// Address and port of the source.
    pub source: SocketAddr,
    /// Address and port of the destination.
    pub destination: SocketAddr,
}

/// Fields of the IP header, and the ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port.
    pub destination: SocketAddr,
    /// ECN field.
    pub ecn: Ecn,
    /// Differentiated services code point, 0 to 63 (RFC 2474).
    pub dscp: u8,
    /// Identification (RFC 791 §3.1); 0 for IPv6, which has none.
    pub id: u16,
    /// Time to live or hop limit, hops.
    pub ttl: u8,
}

impl Header {
    /// Default time to live, hops (RFC 1700: 64).
    pub const TTL: u8 = 64;

    /// Code point of low priority: lower effort (RFC 8622).
    pub const LOWER_EFFORT: u8 = 1;

    /// Priority that the code point indicates.
    pub fn priority(&self) -> Priority {
        if self.dscp == Header::LOWER_EFFORT { Priority::Low } else { Priority::Normal }
    }

    /// Returns the header of a flow's packet, in the packet's direction. The id is 0, and the time to live is
    /// [`Header::TTL`].
    pub fn of(packet: &Packet, ends: &FlowAddresses) -> Header {
        let (source, destination) =
            if packet.forward { (ends.source, ends.destination) } else { (ends.destination, ends.source) };
        let dscp = if packet.priority == Priority::Low { Header::LOWER_EFFORT } else { 0 };
        Header { source, destination, ecn: packet.ecn, dscp, id: 0, ttl: Header::TTL }
    }
}
