//! Which flow a packet belongs to, and how much of each stream the receivers have acknowledged.
//!
//! An acknowledgement counts where it covers payload that the path has delivered: never more bytes than were delivered to
//! the acknowledging end since the connection began, and no number above the highest one delivered. A SYN with another
//! initial sequence number, and a RST, begin a new connection between the same ports.
//!
//! # What is not counted
//! TCP in IP fragments or behind IPv6 extension headers: its payload is not read, so its acknowledgements cover nothing.

use super::End;
use super::measured::Measured;
use lasthop_engine::Entering;
use lasthop_wire::bytes::Ends;
use lasthop_wire::{Body, Flags, Segment};
use std::collections::HashMap;
use std::net::SocketAddr;

/// Connections seen so far, by the addresses and ports of their ends.
#[derive(Debug)]
pub struct Connections {
    lanes: u32,
    known: HashMap<(bool, SocketAddr, SocketAddr), u32>,
    connections: Vec<Connection>,
    /// Number of times that the table was emptied.
    emptied: u32,
    count: u32,
}

/// Two streams between two ports.
#[derive(Clone, Copy, Debug)]
struct Connection {
    lane: u32,
    /// Number of connections that these ports had before.
    incarnation: u32,
    /// The stream to the server, the stream to the client.
    streams: [Stream; 2],
}

/// One direction of a connection, as its receiver's end sees it. Numbers are TCP's, which wrap.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Initial sequence number, once its SYN has passed.
    first: Option<u32>,
    /// Behind the highest payload byte delivered.
    delivered: Option<u32>,
    /// The last acknowledgement that counted.
    acked: Option<u32>,
    /// Payload delivered and not yet acknowledged, bytes; repeats included.
    unacked_bytes: u64,
}

/// The payload of a packet under way: a part of a connection's stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    connection: u32,
    emptied: u32,
    incarnation: u32,
    /// Behind its last byte.
    end: u32,
    bytes: u32,
}

/// Largest number of connections kept at a time.
const MOST: usize = 1 << 16;

impl Connections {
    /// None so far; `lanes` of them can be told apart on the links.
    pub fn new(lanes: u32) -> Connections {
        let known = HashMap::new();
        Connections { lanes: lanes.max(1), known, connections: Vec::new(), emptied: 0, count: 0 }
    }

    /// Number of connections that have begun.
    pub fn begun(&self) -> u32 {
        self.count
    }

    /// A packet joins the path: returns its lane, and its payload for [`Connections::deliver`] if it is TCP with payload.
    /// An acknowledgement counts as goodput at its sender.
    pub fn enter(
        &mut self,
        entering: &Entering,
        ends: Option<&Ends>,
        measured: &mut Measured,
    ) -> (u32, Option<Part>) {
        let Some(ends) = ends else { return (0, None) };
        let is_tcp = matches!(entering.body, Body::Tcp(_));
        let key = match entering.forward {
            true => (is_tcp, ends.source, ends.destination),
            false => (is_tcp, ends.destination, ends.source),
        };
        if self.known.len() >= MOST {
            self.known.clear();
            self.connections.clear();
            self.emptied = self.emptied.wrapping_add(1);
        }
        let (count, lanes, connections) = (&mut self.count, self.lanes, &mut self.connections);
        let place = *self.known.entry(key).or_insert_with(|| {
            let lane = *count % lanes;
            *count = count.wrapping_add(1);
            connections.push(Connection { lane, incarnation: 0, streams: [Stream::default(); 2] });
            connections.len() as u32 - 1
        });
        let Some(connection) = self.connections.get_mut(place as usize) else { return (0, None) };
        let Body::Tcp(segment) = &entering.body else { return (connection.lane, None) };
        let (from, to) = match entering.forward {
            true => (End::Server, End::Client),
            false => (End::Client, End::Server),
        };
        if connection.begin(segment, to) {
            self.count = self.count.wrapping_add(1);
        }
        if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST) {
            measured.acknowledge(from, connection.streams[from as usize].acknowledge(segment.ack.0));
        }
        let part = (segment.len > 0).then(|| {
            measured.offer_stream(to);
            let start = segment.seq.0.wrapping_add(u32::from(segment.flags.has(Flags::SYN)));
            Part {
                connection: place,
                emptied: self.emptied,
                incarnation: connection.incarnation,
                end: start.wrapping_add(segment.len),
                bytes: segment.len,
            }
        });
        (connection.lane, part)
    }

    /// A packet with this payload was delivered at an end. The end may acknowledge the payload from now on.
    pub fn deliver(&mut self, part: Part, at: End) {
        if part.emptied == self.emptied
            && let Some(connection) = self.connections.get_mut(part.connection as usize)
            && part.incarnation == connection.incarnation
        {
            connection.streams[at as usize].deliver(part.end, part.bytes);
        }
    }
}

impl Connection {
    /// A segment on its way to an end: whether a SYN begins a further connection between these ports.
    fn begin(&mut self, segment: &Segment, to: End) -> bool {
        if segment.flags.has(Flags::RST) {
            self.renew();
            return false;
        }
        let number = segment.seq.0;
        let is_syn = segment.flags.has(Flags::SYN);
        // A repeated SYN has the same number (RFC 9293 §3.10.7.4).
        if !is_syn || self.streams[to as usize].first == Some(number) {
            return false;
        }
        if segment.flags.has(Flags::ACK) {
            // A listener that keeps no state may answer a repeated SYN with another number (RFC 4987 §3.6).
            self.streams[to as usize] = Stream::from(number);
            return false;
        }
        let is_further = self.incarnation > 0 || self.streams[to as usize].first.is_some();
        self.renew();
        self.streams[to as usize] = Stream::from(number);
        is_further
    }

    fn renew(&mut self) {
        self.incarnation = self.incarnation.wrapping_add(1);
        self.streams = [Stream::default(); 2];
    }
}

impl Stream {
    /// A stream whose SYN has this number; the SYN itself takes one (RFC 9293 §3.4).
    fn from(number: u32) -> Stream {
        let begin = number.wrapping_add(1);
        Stream { first: Some(number), delivered: Some(begin), acked: Some(begin), unacked_bytes: 0 }
    }

    fn deliver(&mut self, end: u32, bytes: u32) {
        self.unacked_bytes += u64::from(bytes);
        if self.delivered.is_none_or(|highest| ahead(highest, end) > 0) {
            self.delivered = Some(end);
        }
    }

    /// Bytes that an acknowledgement adds.
    fn acknowledge(&mut self, ack: u32) -> u64 {
        let (Some(acked), Some(delivered)) = (self.acked, self.delivered) else {
            // The path began within the connection: the first acknowledgement is where counting begins.
            self.acked.get_or_insert(ack);
            return 0;
        };
        // A FIN takes one number behind the payload (RFC 9293 §3.4).
        let ack = if ack == delivered.wrapping_add(1) { delivered } else { ack };
        let new = ahead(acked, ack);
        if new <= 0 || ahead(delivered, ack) > 0 {
            return 0;
        }
        self.acked = Some(ack);
        let new = u64::from(new.unsigned_abs()).min(self.unacked_bytes);
        self.unacked_bytes -= new;
        new
    }
}

/// Distance from a sequence number to another, negative if that is behind.
fn ahead(number: u32, of: u32) -> i32 {
    of.wrapping_sub(number) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::{Ecn, Priority, Seq};

    const DOWN: bool = true;
    const UP: bool = false;
    const SYN: Flags = Flags::SYN;

    /// A path that delivers at once what joins it.
    struct Path {
        connections: Connections,
        measured: Measured,
    }

    impl Path {
        fn new() -> Path {
            Path { connections: Connections::new(4), measured: Measured::default() }
        }

        /// A segment between port 1 of the server and a client's port joins the path; its payload, to be delivered.
        fn send(&mut self, forward: bool, client: u16, segment: Segment) -> Option<Part> {
            let entering = Entering {
                wire_bytes: 40 + segment.len,
                forward,
                ecn: Ecn::NotEct,
                priority: Priority::Normal,
                body: Body::Tcp(segment),
            };
            let [server, client] = [([10, 0, 0, 1], 1), ([10, 0, 0, 2], client)].map(SocketAddr::from);
            let (source, destination) = if forward { (server, client) } else { (client, server) };
            let ends = Ends { source, destination };
            self.connections.enter(&entering, Some(&ends), &mut self.measured).1
        }

        fn deliver(&mut self, forward: bool, client: u16, segment: Segment) {
            let part = self.send(forward, client, segment);
            let at = if forward { End::Client } else { End::Server };
            part.into_iter().for_each(|part| self.connections.deliver(part, at));
        }

        /// The client connects with one number and the server answers with another.
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
            self.measured.tallies[End::Client as usize].acknowledged_bytes
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
        // Payload over the wrap of the sequence numbers.
        path.connect(2, [7, u32::MAX - 100]);
        for at in 0..2 {
            path.deliver(DOWN, 2, data((u32::MAX - 99).wrapping_add(1000 * at), 1000));
        }
        // One repeated, one from the past.
        for number in [u32::MAX - 99, 900, 900, 400, 1900] {
            path.deliver(UP, 2, ack(number));
        }
        assert_eq!(path.goodput_bytes(), 2000);
        assert_eq!(path.measured.tallies[End::Server as usize].acknowledged_bytes, 0);
    }

    /// Three transfers of 100,000 bytes from one port: their initial sequence numbers are 10^9 apart.
    #[test]
    fn a_port_that_is_used_again_begins_a_new_stream() {
        for is_reset in [false, true] {
            let mut path = Path::new();
            for first in [100_u32, 1_000_000_100, 2_000_000_100] {
                path.connect(2, [first, first]);
                (0..100).for_each(|at| path.deliver(DOWN, 2, data(first + 1 + 1000 * at, 1000)));
                path.deliver(UP, 2, ack(first + 100_001));
                match is_reset {
                    true => path.deliver(UP, 2, segment(Flags::RST, first + 1, 0, 0)),
                    false => path.deliver(DOWN, 2, segment(Flags::FIN | Flags::ACK, first + 100_001, 0, 0)),
                }
                path.deliver(UP, 2, ack(first + 100_002));
            }
            assert_eq!(path.goodput_bytes(), 300_000);
            assert_eq!(path.connections.begun(), 3);
        }
    }

    /// RFC 9293 §3.10.7.4: an acknowledgement of something that was not sent is not acceptable.
    #[test]
    fn acknowledgements_count_for_delivered_payload_only() {
        let mut path = Path::new();
        path.connect(2, [7, 0]);
        path.deliver(UP, 2, ack(1 << 30));
        assert_eq!(path.goodput_bytes(), 0);
        // Lost on the path: not delivered.
        path.send(DOWN, 2, data(1, 1000));
        path.deliver(UP, 2, ack(1001));
        assert_eq!(path.goodput_bytes(), 0);
        path.deliver(DOWN, 2, data(1, 1000));
        path.deliver(UP, 2, ack(1001));
        assert_eq!(path.goodput_bytes(), 1000);
        // A packet whose number is far ahead carries no more than its payload.
        path.deliver(DOWN, 2, data(1 << 30, 500));
        path.deliver(UP, 2, ack((1 << 30) + 500));
        assert_eq!(path.goodput_bytes(), 1500);
    }

    /// Payload of the old connection that arrives behind the new one's SYN is not the new one's.
    #[test]
    fn late_payload_of_an_old_connection_covers_nothing() {
        let mut path = Path::new();
        path.connect(2, [7, 0]);
        let late = path.send(DOWN, 2, data(1, 1000));
        path.connect(2, [900_000, 0]);
        late.into_iter().for_each(|part| path.connections.deliver(part, End::Client));
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
        let mut lane = |forward: bool, [from, to]: [u16; 2]| {
            let mut measured = Measured::default();
            let entering = Entering {
                wire_bytes: 40,
                forward,
                ecn: Ecn::NotEct,
                priority: Priority::Normal,
                body: Body::Tcp(ack(0)),
            };
            let [source, destination] = [from, to].map(|port| SocketAddr::from(([10, 0, 0, 1], port)));
            connections.enter(&entering, Some(&Ends { source, destination }), &mut measured).0
        };
        assert_eq!(lane(true, [1, 5]), 0);
        assert_eq!(lane(true, [1, 6]), 1);
        assert_eq!(lane(false, [5, 1]), 0);
    }
}
