//! Captures at the flows' sources, as a packet sniffer there would record them.
//!
//! The capture has one interface for each link direction on which a source sends. A packet from the source is recorded
//! when it is sent; a comment reports its loss, if it was lost. A packet to the source is recorded when it arrives; a
//! comment reports that a middlebox created or changed it, or that a link copied it. Packets created by middleboxes and
//! copies made by links are recorded only if they reach the source.
//!
//! ACKs that a middlebox dropped appear on a separate interface, such as `dropped at bs`, at the time of sending.
//! Otherwise Wireshark would assume that the source received these ACKs. Headers, checksums and payload are real; times
//! are virtual, in nanoseconds.

use crate::packet_history::{PacketFate, PacketHistories, PacketHistory};
use lasthop_base::Time;
use lasthop_capture::Capture;
use lasthop_engine::{Fate, FlowSide, MiddleboxAction, NodeId, Observer, PipeId};
use lasthop_scenario::{Scenario, Traffic};
use lasthop_stack::Layer;
use lasthop_tcp::Event;
use lasthop_wire::bytes::{FlowAddresses, Header, Payload, emit};
use lasthop_wire::{Body, FlowId, Packet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Observer that writes a capture. [`SourceCapture::finish`] reports errors of the writer.
pub struct SourceCapture<W: Write + Send> {
    capture: Capture<W>,
    flows: Vec<CapturedFlow>,
    links: Vec<String>,
    nodes: Vec<String>,
    /// Interface of each node with a middlebox, for the packets that the middlebox drops.
    dropped_interfaces: Vec<Option<usize>>,
    histories: PacketHistories,
    /// Bytes of the newest datagram of each number that a stack has sent.
    datagrams: BTreeMap<(FlowId, u64), Arc<SentBytes>>,
    /// Bytes of each packet whose history is open, by packet number, if a stack has sent the packet.
    packet_bytes: HashMap<u64, Arc<SentBytes>>,
    /// Records that are not written yet, because a record with an earlier time may still be added.
    pending: BinaryHeap<Reverse<PendingRecord>>,
    buffer: Vec<u8>,
    failed: Option<io::Error>,
}

struct CapturedFlow {
    interface: usize,
    ends: FlowAddresses,
    hops: [usize; 2],
    datagram_bytes: u32,
}

/// Bytes that a stack has sent.
struct SentBytes {
    layer: Layer,
    bytes: Vec<u8>,
}

/// A packet to be written with the timestamp `time`. Packets with the same time are written in the order of `place`,
/// which is the packet number.
struct PendingRecord {
    time: Time,
    place: u64,
    packet: Packet,
    bytes: Option<Arc<SentBytes>>,
    comment: Option<String>,
    dropped_interface: Option<usize>,
}

impl<W: Write + Send> SourceCapture<W> {
    /// Returns a capture of all flows of a scenario. The capture keeps at most the first `snap` bytes of each packet.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn new(scenario: &Scenario, writer: W, snap: Option<u32>) -> io::Result<SourceCapture<W>> {
        let mut interfaces: Vec<String> = Vec::new();
        let mut flows = Vec::new();
        for (index, flow) in scenario.flows.iter().enumerate() {
            let route = &scenario.routes[index];
            let first = route.there[0];
            let side = side_name(scenario, first.link, first.is_down);
            let name = format!("{} on {side}", scenario.nodes[flow.from]);
            let interface = interfaces.iter().position(|known| *known == name).unwrap_or_else(|| {
                interfaces.push(name);
                interfaces.len() - 1
            });
            let hops = [route.there.len(), route.back.len()];
            let datagram_bytes = match flow.traffic {
                Traffic::Datagrams { packet, .. } => packet,
                Traffic::Tcp { .. } => 0,
            };
            let ends = ends_of(flow.from, flow.to, index);
            flows.push(CapturedFlow { interface, ends, hops, datagram_bytes });
        }
        let links = (0..2 * scenario.links.len())
            .map(|pipe| side_name(scenario, pipe / 2, pipe.is_multiple_of(2)))
            .collect();
        let mut dropped_interfaces = vec![None; scenario.nodes.len()];
        for (node, _) in scenario.middlebox_nodes() {
            dropped_interfaces[node] = Some(interfaces.len());
            interfaces.push(format!("dropped at {}", scenario.nodes[node]));
        }
        Ok(SourceCapture {
            capture: match snap {
                Some(bytes) => Capture::with_snap_length(writer, &interfaces, bytes)?,
                None => Capture::new(writer, &interfaces)?,
            },
            flows,
            links,
            nodes: scenario.nodes.clone(),
            dropped_interfaces,
            histories: PacketHistories::default(),
            datagrams: BTreeMap::new(),
            packet_bytes: HashMap::new(),
            pending: BinaryHeap::new(),
            buffer: Vec::new(),
            failed: None,
        })
    }

    /// Writes the remaining records and returns the writer.
    ///
    /// # Errors
    /// The first error of the writer during the run.
    pub fn finish(mut self) -> io::Result<W> {
        while let Some(history) = self.histories.pop_first() {
            self.record(history);
        }
        self.write_before(Time::NEVER);
        match self.failed {
            Some(error) => Err(error),
            None => self.capture.finish(),
        }
    }

    fn hops_of(&self, packet: &Packet) -> usize {
        self.flows[packet.flow.0 as usize].hops[usize::from(!packet.forward)]
    }

    fn write_settled(&mut self, now: Time) {
        while let Some(history) = self.histories.pop_complete() {
            self.record(history);
        }
        let settled = self.histories.oldest().unwrap_or(now);
        self.write_before(settled.min(now));
    }

    /// Keeps the bytes of a packet that begins its history, if a stack has sent the packet.
    fn keep_bytes(&mut self, packet: &Packet) {
        if let Body::Datagram { number } = packet.body
            && let Some(bytes) = self.datagrams.get(&(packet.flow, number))
        {
            self.packet_bytes.insert(packet.number, Arc::clone(bytes));
        }
    }

    fn record(&mut self, history: PacketHistory) {
        let bytes = self.packet_bytes.remove(&history.packet.number);
        let PacketHistory { sent, packet, end, is_from_middlebox, copied_on, created_by, changed } = history;
        let node = |node: NodeId| &self.nodes[node.0 as usize];
        let mut dropped_interface = None;
        let (time, comment) = match (packet.forward, end) {
            (true, _) if is_from_middlebox || copied_on.is_some() => return,
            (true, PacketFate::Received(at)) => {
                (sent, Some(format!("received by the middlebox of {}", node(at))))
            }
            (true, PacketFate::Dropped(at, reason)) => {
                (sent, Some(format!("dropped by the middlebox of {}: {}", node(at), reason.name())))
            }
            (true, PacketFate::Lost(pipe, reason)) => {
                let link = &self.links[pipe.0 as usize];
                (sent, Some(format!("lost on {link}: {}", reason.name())))
            }
            (true, _) => {
                let by = |(at, _)| format!("header changed by the middlebox of {}", node(at));
                (sent, changed.map(by))
            }
            (false, PacketFate::Arrived(at)) => {
                let by_creation = created_by.map(|(at, action)| match action {
                    MiddleboxAction::Repeated => format!("repeated by the middlebox of {}", node(at)),
                    _ => format!("generated by the middlebox of {}", node(at)),
                });
                let by_change = || changed.map(|(at, _)| format!("changed by the middlebox of {}", node(at)));
                let by_link = || copied_on.map(|pipe| format!("copied on {}", self.links[pipe.0 as usize]));
                (at, by_creation.or_else(by_change).or_else(by_link))
            }
            (false, PacketFate::Dropped(at, reason)) => {
                dropped_interface = self.dropped_interfaces[at.0 as usize];
                let name = reason.name();
                (sent, Some(format!("dropped by the middlebox of {}: {name}", node(at))))
            }
            // Packets to the source that did not arrive are not recorded.
            (false, _) => return,
        };
        // A packet to the source is recorded with the header that it has at its arrival.
        let packet = match changed {
            Some((_, changed)) if !packet.forward => changed,
            _ => packet,
        };
        self.pending.push(Reverse(PendingRecord {
            time,
            place: packet.number,
            packet,
            bytes,
            comment,
            dropped_interface,
        }));
    }

    /// Writes all records before `time`. The caller passes the sending time of the oldest incomplete history, because
    /// no record with an earlier time can follow.
    fn write_before(&mut self, time: Time) {
        while let Some(Reverse(record)) = self.pending.peek() {
            if record.time >= time {
                return;
            }
            let Some(Reverse(record)) = self.pending.pop() else { return };
            if let Err(error) = self.write(&record)
                && self.failed.is_none()
            {
                self.failed = Some(error);
            }
        }
    }

    fn write(&mut self, record: &PendingRecord) -> io::Result<()> {
        let flow = &self.flows[record.packet.flow.0 as usize];
        let header = Header::of(&record.packet, &flow.ends);
        let payload = match &record.packet.body {
            Body::Tcp(segment) => Payload::Pattern(segment.len),
            Body::Datagram { .. } => match record.bytes.as_deref() {
                Some(sent) => Payload::Bytes(&sent.bytes),
                None => Payload::Pattern(flow.datagram_bytes),
            },
            Body::Notice(_) => Payload::Pattern(0),
        };
        self.buffer.clear();
        match record.bytes.as_deref() {
            Some(SentBytes { layer: Layer::Ip, bytes }) => self.buffer.extend_from_slice(bytes),
            _ => emit(&header, &record.packet.body, payload, &mut self.buffer).map_err(io::Error::other)?,
        }
        let length = self.buffer.len() as u32;
        let interface = record.dropped_interface.unwrap_or(flow.interface);
        self.capture.packet(interface, record.time, &self.buffer, length, record.comment.as_deref())
    }
}

impl<W: Write + Send + 'static> Observer for SourceCapture<W> {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if packet.hop == 0 {
            self.keep_bytes(packet);
        }
        let hops = self.hops_of(packet);
        self.histories.on_packet(now, pipe, packet, hops, fate);
        self.write_settled(now);
    }

    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let hops = self.hops_of(packet);
        self.histories.on_fate(pipe, packet, hops, fate);
        self.write_settled(now);
    }

    fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        self.histories.on_middlebox(now, node, packet, action);
        self.write_settled(now);
    }

    fn on_datagram(&mut self, flow: FlowId, number: u64, layer: Layer, bytes: &[u8]) {
        self.datagrams.insert((flow, number), Arc::new(SentBytes { layer, bytes: bytes.to_vec() }));
    }

    fn on_copy(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        self.keep_bytes(copy);
        self.histories.on_copy(now, pipe, copy);
        self.write_settled(now);
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

/// Name of a link's direction, such as `wireless down`.
fn side_name(scenario: &Scenario, link: usize, down: bool) -> String {
    format!("{} {}", scenario.links[link].name, if down { "down" } else { "up" })
}

/// Returns addresses and ports of a flow. Each node has one address. Wireshark assumes no application protocol on these
/// ports.
fn ends_of(from: usize, to: usize, flow: usize) -> FlowAddresses {
    let address =
        |node: usize| IpAddr::V4(Ipv4Addr::new(10, (node >> 16) as u8, (node >> 8) as u8, node as u8 + 1));
    let port = 40_000 + (flow % 20_000) as u16;
    FlowAddresses {
        source: SocketAddr::new(address(from), port),
        destination: SocketAddr::new(address(to), port),
    }
}

impl PartialEq for PendingRecord {
    fn eq(&self, other: &PendingRecord) -> bool {
        (self.time, self.place) == (other.time, other.place)
    }
}

impl Eq for PendingRecord {}

impl PartialOrd for PendingRecord {
    fn partial_cmp(&self, other: &PendingRecord) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PendingRecord {
    fn cmp(&self, other: &PendingRecord) -> std::cmp::Ordering {
        (self.time, self.place).cmp(&(other.time, other.place))
    }
}
