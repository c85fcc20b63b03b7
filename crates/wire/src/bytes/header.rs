use crate::packet::{Ecn, Packet, Priority};
use std::net::SocketAddr;

/// Addresses and ports of a flow's ends. The two addresses have the same family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowAddresses {
    /// Address and port of the source.
    pub source: SocketAddr,
    /// Address and port of the destination.
    pub destination: SocketAddr,
}

/// Fields of the IP header, and the ports of the transport header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port.
    pub destination: SocketAddr,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Differentiated services code point, 0 to 63 (RFC 2474).
    pub dscp: u8,
    /// Identification field of IPv4 (RFC 791 §3.1); 0 for IPv6, whose header has no such field.
    pub id: u16,
    /// Time to live of IPv4, or hop limit of IPv6, hops.
    pub ttl: u8,
}

impl Header {
    /// Default time to live, hops (RFC 1700: 64).
    pub const TTL: u8 = 64;

    /// DSCP of packets with low priority: lower effort (RFC 8622).
    pub const LOWER_EFFORT: u8 = 1;

    /// Returns the priority that the DSCP indicates.
    pub fn priority(&self) -> Priority {
        Priority::of_dscp(self.dscp)
    }

    /// Returns the header of a flow's packet. The packet's direction determines which end is the source. The
    /// identification is 0, and the time to live is [`Header::TTL`].
    pub fn of(packet: &Packet, ends: &FlowAddresses) -> Header {
        let (source, destination) =
            if packet.forward { (ends.source, ends.destination) } else { (ends.destination, ends.source) };
        Header { source, destination, ecn: packet.ecn, dscp: packet.priority.dscp(), id: 0, ttl: Header::TTL }
    }
}
