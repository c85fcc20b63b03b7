//! Captures at the flows' sources, as a packet sniffer there would record them.
//!
//! One interface per link direction on which a source sends. A packet from the source is recorded when it is sent, with
//! a comment if it was lost. A packet to the source is recorded when it arrives, with a comment if a middlebox created
//! or changed it or a link copied it. Packets of middleboxes and copies of links are recorded only if they reach the
//! source.
//!
//! ACKs that a middlebox took out appear on an interface of their own, such as `taken out at bs`, at the time of
//! sending; otherwise Wireshark would assume that the source received them. Headers, checksums and payload are real;
//! times are virtual, in nanoseconds.

use crate::packets::{End, Stories, Story};
use lasthop_base::Time;
use lasthop_capture::Capture;
use lasthop_engine::{Deed, Fate, NodeId, Observer, PipeId, Side};
use lasthop_scenario::{Scenario, Traffic};
use lasthop_tcp::Event;
use lasthop_wire::bytes::{FlowAddresses, Header, Payload, emit};
use lasthop_wire::{Body, FlowId, Packet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Observer that writes a capture. [`SourceCapture::finish`] reports errors of the writer.
pub struct SourceCapture<W: Write + Send> {
    capture: Capture<W>,
    flows: Vec<Captured>,
    links: Vec<String>,
    nodes: Vec<String>,
    /// Interface for the packets that a middlebox takes out, by node.
    taken_out: Vec<Option<usize>>,
    stories: Stories,
    /// Records that wait for possible earlier ones.
    pending: BinaryHeap<Reverse<Record>>,
    buffer: Vec<u8>,
    failed: Option<io::Error>,
}

struct Captured {
    interface: usize,
    ends: FlowAddresses,
    hops: [usize; 2],
    datagram_bytes: u32,
}

/// A packet to be written at `time`; `place` orders packets of the same time.
struct Record {
    time: Time,
    place: u64,
    packet: Packet,
    comment: Option<String>,
    apart: Option<usize>,
}

impl<W: Write + Send> SourceCapture<W> {
    /// A capture of all flows of a scenario. Keeps at most the first `snap` bytes of each packet.
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
            flows.push(Captured { interface, ends, hops, datagram_bytes });
        }
        let links = (0..2 * scenario.links.len())
            .map(|pipe| side_name(scenario, pipe / 2, pipe.is_multiple_of(2)))
            .collect();
        let mut taken_out = vec![None; scenario.nodes.len()];
        for (node, _) in scenario.boxed_nodes() {
            taken_out[node] = Some(interfaces.len());
            interfaces.push(format!("taken out at {}", scenario.nodes[node]));
        }
        Ok(SourceCapture {
            capture: match snap {
                Some(bytes) => Capture::with_snap_length(writer, &interfaces, bytes)?,
                None => Capture::new(writer, &interfaces)?,
            },
            flows,
            links,
            nodes: scenario.nodes.clone(),
            taken_out,
            stories: Stories::default(),
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
        while let Some(story) = self.stories.next_of_all() {
            self.record(story);
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

    fn tell(&mut self, now: Time) {
        while let Some(story) = self.stories.next_ended() {
            self.record(story);
        }
        let settled = self.stories.oldest().unwrap_or(now);
        self.write_before(settled.min(now));
    }

    fn record(&mut self, story: Story) {
        let Story { sent, packet, end, born_at_node, copied_on, born, changed } = story;
        let node = |node: NodeId| &self.nodes[node.0 as usize];
        let mut apart = None;
        let (time, comment) = match (packet.forward, end) {
            (true, _) if born_at_node || copied_on.is_some() => return,
            (true, End::Received(at)) => (sent, Some(format!("received by the middlebox of {}", node(at)))),
            (true, End::TakenOut(at, reason)) => {
                (sent, Some(format!("taken out by the middlebox of {}: {}", node(at), reason.name())))
            }
            (true, End::Lost(pipe, reason)) => {
                let link = &self.links[pipe.0 as usize];
                (sent, Some(format!("lost on {link}: {}", reason.name())))
            }
            (true, _) => {
                let by = |(at, _)| format!("header changed by the middlebox of {}", node(at));
                (sent, changed.map(by))
            }
            (false, End::Arrived(at)) => {
                let by_birth = born.map(|(at, deed)| match deed {
                    Deed::Repeated => format!("repeated by the middlebox of {}", node(at)),
                    _ => format!("made by the middlebox of {}", node(at)),
                });
                let by_change = || changed.map(|(at, _)| format!("changed by the middlebox of {}", node(at)));
                let by_link = || copied_on.map(|pipe| format!("copied on {}", self.links[pipe.0 as usize]));
                (at, by_birth.or_else(by_change).or_else(by_link))
            }
            (false, End::TakenOut(at, reason)) => {
                apart = self.taken_out[at.0 as usize];
                let name = reason.name();
                (sent, Some(format!("taken out by the middlebox of {}: {name}", node(at))))
            }
            // Packets that did not reach the source are not recorded.
            (false, _) => return,
        };
        // Packets to the source are recorded with the header on arrival.
        let packet = match changed {
            Some((_, changed)) if !packet.forward => changed,
            _ => packet,
        };
        self.pending.push(Reverse(Record { time, place: packet.number, packet, comment, apart }));
    }

    /// Writes all records before `time`, the start of the oldest incomplete history: no earlier record can follow.
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

    fn write(&mut self, record: &Record) -> io::Result<()> {
        let flow = &self.flows[record.packet.flow.0 as usize];
        let header = Header::of(&record.packet, &flow.ends);
        let payload = match &record.packet.body {
            Body::Tcp(segment) => Payload::Pattern(segment.len),
            Body::Datagram { .. } => Payload::Pattern(flow.datagram_bytes),
            Body::Notice(_) => Payload::Pattern(0),
        };
        self.buffer.clear();
        emit(&header, &record.packet.body, payload, &mut self.buffer).map_err(io::Error::other)?;
        let length = self.buffer.len() as u32;
        let interface = record.apart.unwrap_or(flow.interface);
        self.capture.packet(interface, record.time, &self.buffer, length, record.comment.as_deref())
    }
}

impl<W: Write + Send + 'static> Observer for SourceCapture<W> {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let hops = self.hops_of(packet);
        self.stories.on_packet(now, pipe, packet, hops, fate);
        self.tell(now);
    }

    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let hops = self.hops_of(packet);
        self.stories.on_fate(pipe, packet, hops, fate);
        self.tell(now);
    }

    fn on_node(&mut self, now: Time, node: NodeId, packet: &Packet, deed: Deed) {
        self.stories.on_node(now, node, packet, deed);
        self.tell(now);
    }

    fn on_copied(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        self.stories.on_copied(now, pipe, copy);
        self.tell(now);
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: Side, _: &Event) {}
}

/// Name of a link's direction, such as `wireless down`.
fn side_name(scenario: &Scenario, link: usize, down: bool) -> String {
    format!("{} {}", scenario.links[link].name, if down { "down" } else { "up" })
}

/// Addresses and ports of a flow: one address per node; no dissector claims the ports.
fn ends_of(from: usize, to: usize, flow: usize) -> FlowAddresses {
    let address =
        |node: usize| IpAddr::V4(Ipv4Addr::new(10, (node >> 16) as u8, (node >> 8) as u8, node as u8 + 1));
    let port = 40_000 + (flow % 20_000) as u16;
    FlowAddresses {
        source: SocketAddr::new(address(from), port),
        destination: SocketAddr::new(address(to), port),
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Record) -> bool {
        (self.time, self.place) == (other.time, other.place)
    }
}

impl Eq for Record {}

impl PartialOrd for Record {
    fn partial_cmp(&self, other: &Record) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Record {
    fn cmp(&self, other: &Record) -> std::cmp::Ordering {
        (self.time, self.place).cmp(&(other.time, other.place))
    }
}
