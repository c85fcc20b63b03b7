//! Assigns packets to flows, and counts the acknowledged bytes of each stream.
//!
//! An acknowledgement counts only for payload that the path has delivered to the acknowledging end in this connection.
//! Sequence numbers above the highest delivered sequence number do not count. A SYN with a different initial sequence
//! number, or a RST, starts a new connection between the same ports.
//!
//! TCP in IP fragments or behind IPv6 extension headers is not parsed. Acknowledgements of such payload therefore do
//! not count.

use super::End;
use super::measurements::Measurements;
use lasthop_engine::ExternalPacket;
use lasthop_wire::bytes::FlowAddresses;
use lasthop_wire::{Body, Flags, Segment};
use std::collections::HashMap;
use std::net::SocketAddr;

/// Connections found so far, by addresses and ports.
#[derive(Debug)]
pub struct Connections {
    external_flows: u32,
    known: HashMap<(bool, SocketAddr, SocketAddr), u32>,
    connections: Vec<TrackedConnection>,
    /// Number of times the table was cleared because it was full.
    clears: u32,
    count: u32,
}

#[derive(Clone, Copy, Debug)]
struct TrackedConnection {
    external_flow: u32,
    /// Number of earlier connections between the same ports.
    incarnation: u32,
    streams: [ReceivedStream; 2],
}

/// One direction of a connection, seen at the receiving end, in TCP sequence numbers (which wrap).
#[derive(Clone, Copy, Debug, Default)]
struct ReceivedStream {
    /// Initial sequence number; `None` before the SYN.
    first: Option<u32>,
    /// Highest delivered payload byte plus one.
    delivered: Option<u32>,
    /// Last acknowledgement that counted.
    acked: Option<u32>,
    /// Number of payload bytes delivered and not yet acknowledged. Bytes delivered twice count twice.
    unacked_bytes: u64,
}

/// Payload of a packet in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PayloadRange {
    connection: u32,
    clears: u32,
    incarnation: u32,
    /// Sequence number after the last byte.
    end: u32,
    bytes: u32,
}

const MAX_CONNECTIONS: usize = 1 << 16;

impl Connections {
    /// Creates an empty table. New connections are assigned in rotation to the `external_flows` external flows of the
    /// engine (flows that carry real packets).
    pub fn new(external_flows: u32) -> Connections {
        let known = HashMap::new();
        Connections {
            external_flows: external_flows.max(1),
            known,
            connections: Vec::new(),
            clears: 0,
            count: 0,
        }
    }

    /// Number of connections that have begun.
    pub fn begun(&self) -> u32 {
        self.count
    }

    /// Records a packet that joins the path. Counts newly acknowledged bytes for the end that sends the packet. Returns
    /// the packet's external flow and, if the packet has TCP payload, the range for [`Connections::deliver`].
    pub fn enter(
        &mut self,
        entering: &ExternalPacket,
        ends: Option<&FlowAddresses>,
        measurements: &mut Measurements,
    ) -> (u32, Option<PayloadRange>) {
        let Some(ends) = ends else { return (0, None) };
        let is_tcp = matches!(entering.body, Body::Tcp(_));
        let key = if entering.forward {
            (is_tcp, ends.source, ends.destination)
        } else {
            (is_tcp, ends.destination, ends.source)
        };
        if self.known.len() >= MAX_CONNECTIONS {
            self.known.clear();
            self.connections.clear();
            self.clears = self.clears.wrapping_add(1);
        }
        let (count, external_flows, connections) =
            (&mut self.count, self.external_flows, &mut self.connections);
        let index = *self.known.entry(key).or_insert_with(|| {
            let external_flow = *count % external_flows;
            *count = count.wrapping_add(1);
            connections.push(TrackedConnection {
                external_flow,
                incarnation: 0,
                streams: [ReceivedStream::default(); 2],
            });
            connections.len() as u32 - 1
        });
        let Some(connection) = self.connections.get_mut(index as usize) else { return (0, None) };
        let Body::Tcp(segment) = &entering.body else { return (connection.external_flow, None) };
        let (from, to) =
            if entering.forward { (End::Server, End::Client) } else { (End::Client, End::Server) };
        if connection.begin(segment, to) {
            self.count = self.count.wrapping_add(1);
        }
        if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST) {
            measurements.acknowledge(from, connection.streams[from as usize].acknowledge(segment.ack.0));
        }
        let payload = (segment.len > 0).then(|| {
            measurements.offer_stream(to);
            let start = segment.seq.0.wrapping_add(u32::from(segment.flags.has(Flags::SYN)));
            PayloadRange {
                connection: index,
                clears: self.clears,
                incarnation: connection.incarnation,
                end: start.wrapping_add(segment.len),
                bytes: segment.len,
            }
        });
        (connection.external_flow, payload)
    }

    /// Records the delivery of payload at an end. Later acknowledgements by this end may cover the payload.
    pub fn deliver(&mut self, payload: PayloadRange, at: End) {
        if payload.clears == self.clears
            && let Some(connection) = self.connections.get_mut(payload.connection as usize)
            && payload.incarnation == connection.incarnation
        {
            connection.streams[at as usize].deliver(payload.end, payload.bytes);
        }
    }
}

impl TrackedConnection {
    /// Handles the flags of a segment. Returns true if a SYN begins another connection between ports that were in use
    /// before.
    fn begin(&mut self, segment: &Segment, to: End) -> bool {
        if segment.flags.has(Flags::RST) {
            self.reset();
            return false;
        }
        let number = segment.seq.0;
        let is_syn = segment.flags.has(Flags::SYN);
        // A retransmitted SYN has the same sequence number (RFC 9293 §3.10.7.4).
        if !is_syn || self.streams[to as usize].first == Some(number) {
            return false;
        }
        if segment.flags.has(Flags::ACK) {
            // A stateless listener may answer a retransmitted SYN with a different initial sequence number (RFC 4987
            // §3.6).
            self.streams[to as usize] = ReceivedStream::from(number);
            return false;
        }
        let is_further = self.incarnation > 0 || self.streams[to as usize].first.is_some();
        self.reset();
        self.streams[to as usize] = ReceivedStream::from(number);
        is_further
    }

    fn reset(&mut self) {
        self.incarnation = self.incarnation.wrapping_add(1);
        self.streams = [ReceivedStream::default(); 2];
    }
}

impl ReceivedStream {
    /// Creates a stream whose SYN has this sequence number; a SYN consumes one sequence number (RFC 9293 §3.4).
    fn from(number: u32) -> ReceivedStream {
        let begin = number.wrapping_add(1);
        ReceivedStream { first: Some(number), delivered: Some(begin), acked: Some(begin), unacked_bytes: 0 }
    }

    fn deliver(&mut self, end: u32, bytes: u32) {
        self.unacked_bytes += u64::from(bytes);
        if self.delivered.is_none_or(|highest| signed_distance(highest, end) > 0) {
            self.delivered = Some(end);
        }
    }

    fn acknowledge(&mut self, ack: u32) -> u64 {
        let (Some(acked), Some(delivered)) = (self.acked, self.delivered) else {
            // The emulation started during the connection, so counting starts at the first acknowledgement.
            self.acked.get_or_insert(ack);
            return 0;
        };
        // A FIN consumes one sequence number after the payload (RFC 9293 §3.4).
        let ack = if ack == delivered.wrapping_add(1) { delivered } else { ack };
        let new = signed_distance(acked, ack);
        if new <= 0 || signed_distance(delivered, ack) > 0 {
            return 0;
        }
        self.acked = Some(ack);
        let new = u64::from(new.unsigned_abs()).min(self.unacked_bytes);
        self.unacked_bytes -= new;
        new
    }
}

/// Signed distance from sequence number `number` to sequence number `of`.
fn signed_distance(number: u32, of: u32) -> i32 {
    of.wrapping_sub(number) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::{Ecn, Priority, Seq};

    const DOWN: bool = true;
    const UP: bool = false;
    const SYN: Flags = Flags::SYN;

    struct Path {
        connections: Connections,
        measurements: Measurements,
    }

    impl Path {
        fn new() -> Path {
            Path { connections: Connections::new(4), measurements: Measurements::default() }
        }

        /// Sends a segment between the server's port 1 and a client's port. Returns the segment's payload, which is not
        /// yet delivered.
        fn send(&mut self, forward: bool, client: u16, segment: Segment) -> Option<PayloadRange> {
            let entering = ExternalPacket {
                wire_bytes: 40 + segment.len,
                forward,
                ecn: Ecn::NotEct,
                priority: Priority::NORMAL,
                body: Body::Tcp(segment),
            };
            let [server, client] = [([10, 0, 0, 1], 1), ([10, 0, 0, 2], client)].map(SocketAddr::from);
            let (source, destination) = if forward { (server, client) } else { (client, server) };
            let ends = FlowAddresses { source, destination };
            self.connections.enter(&entering, Some(&ends), &mut self.measurements).1
        }

        fn deliver(&mut self, forward: bool, client: u16, segment: Segment) {
            let payload = self.send(forward, client, segment);
            let at = if forward { End::Client } else { End::Server };
            payload.into_iter().for_each(|payload| self.connections.deliver(payload, at));
        }

        fn connect(&mut self, client: u16, [from_client, from_server]: [u32; 2]) {
            self.deliver(UP, client, segment(SYN, from_client, 0, 0));
            self.deliver(
                DOWN,
                client,
                segment(SYN | Flags::ACK, from_server, from_client.wrapping_add(1), 0),
            );
            self.deliver(
                UP,
                client,
                segment(Flags::ACK, from_client.wrapping_add(1), from_server.wrapping_add(1), 0),
            );
        }

        fn goodput_bytes(&self) -> u64 {
            self.measurements.counters[End::Client as usize].acknowledged_bytes
        }
    }

    fn segment(flags: Flags, seq: u32, ack: u32, len: u32) -> Segment {
        Segment { seq: Seq(seq), ack: Seq(ack), len, flags, ..Segment::default() }
    }

    fn ack(number: u32) -> Segment {
        segment(Flags::ACK, 0, number, 0)
    }

    fn data(seq: u32, len: u32) -> Segment {
        segment(Flags::ACK, seq, 0, len)
    }

    #[test]
    fn only_new_bytes_that_a_receiver_acknowledges_count() {
        let mut path = Path::new();
        // The sequence numbers wrap within the payload.
        path.connect(2, [7, u32::MAX - 100]);
        for at in 0..2 {
            path.deliver(DOWN, 2, data((u32::MAX - 99).wrapping_add(1000 * at), 1000));
        }
        // The second acknowledgement of 900 is a duplicate, and the acknowledgement of 400 is old.
        for number in [u32::MAX - 99, 900, 900, 400, 1900] {
            path.deliver(UP, 2, ack(number));
        }
        assert_eq!(path.goodput_bytes(), 2000);
        assert_eq!(path.measurements.counters[End::Server as usize].acknowledged_bytes, 0);
    }

    /// Three transfers of 100,000 bytes from one port with initial sequence numbers 10^9 apart.
    #[test]
    fn a_port_that_is_used_again_begins_a_new_stream() {
        for is_reset in [false, true] {
            let mut path = Path::new();
            for first in [100_u32, 1_000_000_100, 2_000_000_100] {
                path.connect(2, [first, first]);
                (0..100).for_each(|at| path.deliver(DOWN, 2, data(first + 1 + 1000 * at, 1000)));
                path.deliver(UP, 2, ack(first + 100_001));
                if is_reset {
                    path.deliver(UP, 2, segment(Flags::RST, first + 1, 0, 0));
                } else {
                    path.deliver(DOWN, 2, segment(Flags::FIN | Flags::ACK, first + 100_001, 0, 0));
                }
                path.deliver(UP, 2, ack(first + 100_002));
            }
            assert_eq!(path.goodput_bytes(), 300_000);
            assert_eq!(path.connections.begun(), 3);
        }
    }

    /// An acknowledgement of data that was not sent is not acceptable (RFC 9293 §3.10.7.4).
    #[test]
    fn acknowledgements_count_for_delivered_payload_only() {
        let mut path = Path::new();
        path.connect(2, [7, 0]);
        path.deliver(UP, 2, ack(1 << 30));
        assert_eq!(path.goodput_bytes(), 0);
        // The path loses this packet.
        path.send(DOWN, 2, data(1, 1000));
        path.deliver(UP, 2, ack(1001));
        assert_eq!(path.goodput_bytes(), 0);
        path.deliver(DOWN, 2, data(1, 1000));
        path.deliver(UP, 2, ack(1001));
        assert_eq!(path.goodput_bytes(), 1000);
        // The sequence number is far ahead of the delivered bytes, but only the 500 bytes of payload count.
        path.deliver(DOWN, 2, data(1 << 30, 500));
        path.deliver(UP, 2, ack((1 << 30) + 500));
        assert_eq!(path.goodput_bytes(), 1500);
    }

    /// Payload of an old connection that arrives after the new SYN does not count for the new connection.
    #[test]
    fn late_payload_of_an_old_connection_covers_nothing() {
        let mut path = Path::new();
        path.connect(2, [7, 0]);
        let late = path.send(DOWN, 2, data(1, 1000));
        path.connect(2, [900_000, 0]);
        late.into_iter().for_each(|payload| path.connections.deliver(payload, End::Client));
        path.deliver(UP, 2, ack(1001));
        assert_eq!(path.goodput_bytes(), 0);
    }

    #[test]
    fn a_repeated_syn_begins_nothing() {
        let mut path = Path::new();
        path.connect(2, [7, 0]);
        path.deliver(DOWN, 2, data(1, 1000));
        path.deliver(UP, 2, segment(SYN, 7, 0, 0));
        path.deliver(UP, 2, ack(1001));
        assert_eq!((path.goodput_bytes(), path.connections.begun()), (1000, 1));
    }

    #[test]
    fn both_directions_of_a_connection_share_a_lane() {
        let mut connections = Connections::new(4);
        let mut external_flow = |forward: bool, [from, to]: [u16; 2]| {
            let mut measurements = Measurements::default();
            let entering = ExternalPacket {
                wire_bytes: 40,
                forward,
                ecn: Ecn::NotEct,
                priority: Priority::NORMAL,
                body: Body::Tcp(ack(0)),
            };
            let [source, destination] = [from, to].map(|port| SocketAddr::from(([10, 0, 0, 1], port)));
            connections.enter(&entering, Some(&FlowAddresses { source, destination }), &mut measurements).0
        };
        assert_eq!(external_flow(true, [1, 5]), 0);
        assert_eq!(external_flow(true, [1, 6]), 1);
        assert_eq!(external_flow(false, [5, 1]), 0);
    }
}
