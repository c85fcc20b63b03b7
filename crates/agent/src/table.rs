//! Table of all connections, by their addresses.

use crate::counters::{AgentCounters, count};
use crate::flow::{AckRequest, FlowWindows, ObservedFlow, OutgoingAck};
use crate::settings::AckSettings;
use lasthop_base::{Duration, Time};
use lasthop_tcp::event::Cause;
use lasthop_wire::bytes::{Checksums, Content, Parsed, parse};
use lasthop_wire::{Flags, Segment};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;

/// Maximum number of connections in the table. This number of connections needs about 100 MB.
const MAX_CONNECTIONS: usize = 16_384;
/// Time for which a closed connection stays in the table, for its last ACKs.
const LINGER: Duration = Duration::from_secs(60);

/// Direction of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketDirection {
    /// Incoming: to this host.
    In,
    /// Outgoing: from this host.
    Out,
}

/// Both ends of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConnectionKey {
    /// This host's address and port.
    pub own: SocketAddr,
    /// The peer's address and port.
    pub peer: SocketAddr,
}

/// State of all connections.
pub struct ConnectionTable {
    settings: AckSettings,
    flows: HashMap<ConnectionKey, ObservedFlow>,
    counters: Arc<AgentCounters>,
    opened: u64,
    requests: Option<PendingRequests>,
}

/// For the kernel program: connections whose requests may have changed, and closed connections.
#[derive(Default)]
struct PendingRequests {
    changed: HashSet<ConnectionKey>,
    closed: Vec<ConnectionKey>,
}

impl ConnectionTable {
    /// Creates an empty table.
    pub fn new(settings: AckSettings, counters: Arc<AgentCounters>) -> ConnectionTable {
        ConnectionTable { settings, flows: HashMap::new(), counters, opened: 0, requests: None }
    }

    /// Collects requests for the kernel program instead of deciding on packets.
    pub fn collect_requests(&mut self) {
        self.requests = Some(PendingRequests::default());
    }

    /// Calls `handle` with each request that has changed since the last call. Stops at the first error of `handle`.
    pub fn take_requests<E>(
        &mut self,
        mut handle: impl FnMut(&ConnectionKey, AckRequest) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(requests) = &mut self.requests else { return Ok(()) };
        requests.changed.drain().try_for_each(|key| {
            let request = self.flows.get_mut(&key).and_then(ObservedFlow::changed_request);
            request.map_or(Ok(()), |request| handle(&key, request))
        })
    }

    /// Returns the connections closed since the last call.
    pub fn take_closed(&mut self) -> Vec<ConnectionKey> {
        self.requests.as_mut().map(|requests| std::mem::take(&mut requests.closed)).unwrap_or_default()
    }

    /// Records a packet that needs no decision. The packet's payload may be truncated.
    pub fn observe(&mut self, now: Time, direction: PacketDirection, packet: &[u8]) {
        count(&self.counters.packets_seen);
        if let Some(ParsedPacket { key, segment }) = ParsedPacket::read(direction, packet) {
            self.record(now, direction, key, &segment, now);
        }
    }

    /// Records several packets. `segment` has the header of the last packet and the total payload length of all
    /// packets. `echoed` is the time of the first packet that echoed the same time stamp as the last packet.
    pub fn record(
        &mut self,
        now: Time,
        direction: PacketDirection,
        key: ConnectionKey,
        segment: &Segment,
        echoed: Time,
    ) {
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if opens && self.flows.get(&key).is_none_or(|flow| flow.is_known()) {
            self.open(now, key);
        }
        let Some(flow) = self.flows.get_mut(&key) else { return };
        if let Some(requests) = &mut self.requests {
            requests.changed.insert(key);
        }
        match direction {
            PacketDirection::In => match flow.handle_several(now, segment, echoed) {
                Some(Cause::Wireless) => count(&self.counters.losses_wireless),
                Some(Cause::Congestion) => count(&self.counters.losses_congestion),
                None => {}
            },
            PacketDirection::Out => {
                if flow.handle_outgoing(now, segment) && self.requests.is_none() {
                    count(&self.counters.acks_missed);
                }
            }
        }
    }

    /// Records the end of a lapse for all connections. During a lapse the agent makes no decisions, and the kernel
    /// advertises its own windows.
    pub fn lapse(&mut self, now: Time) {
        self.flows.values_mut().for_each(|flow| flow.lapse(now));
    }

    /// Decides on a packet. If the result is true, `acks` replace the packet.
    pub fn decide(&mut self, now: Time, packet: &[u8], acks: &mut Vec<OutgoingAck>) -> bool {
        count(&self.counters.acks_queued);
        let Some(ParsedPacket { key, segment }) = ParsedPacket::read(PacketDirection::Out, packet) else {
            count(&self.counters.errors);
            return false;
        };
        let known = self.flows.get_mut(&key).filter(|flow| flow.is_known() && segment.is_pure_ack());
        if known.is_some_and(|flow| flow.handle_ack(now, &segment, acks)) {
            return true;
        }
        count(&self.counters.acks_left_alone);
        false
    }

    /// Number of connections.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Windows of each connection.
    pub fn windows(&self) -> impl Iterator<Item = (&ConnectionKey, FlowWindows)> {
        self.flows.iter().filter(|(_, flow)| flow.is_known()).map(|(key, flow)| (key, flow.windows()))
    }

    /// Removes connections that have been closed for longer than `LINGER`.
    pub fn remove_closed(&mut self, now: Time) {
        self.retain(|flow| !flow.is_over() || now.since(flow.last_packet()) < LINGER);
    }

    fn retain(&mut self, is_wanted: impl Fn(&ObservedFlow) -> bool) {
        let removed = self.flows.extract_if(|_, flow| !is_wanted(flow)).map(|(key, _)| key);
        match &mut self.requests {
            Some(requests) => requests.closed.extend(removed),
            None => removed.for_each(drop),
        }
    }

    fn open(&mut self, now: Time, key: ConnectionKey) {
        if self.flows.len() >= MAX_CONNECTIONS {
            self.remove_closed(now);
        }
        if self.flows.len() >= MAX_CONNECTIONS {
            // The half of the connections that has been idle longest is removed from the table. These connections
            // continue, but their ACKs pass unchanged.
            let mut times: Vec<Time> = self.flows.values().map(ObservedFlow::last_packet).collect();
            let middle = times.len() / 2;
            let (_, middle, _) = times.select_nth_unstable(middle);
            let middle = *middle;
            self.retain(|flow| flow.last_packet() > middle);
        }
        count(&self.counters.flows_opened);
        self.opened += 1;
        self.flows.insert(key, ObservedFlow::new(&self.settings, self.opened));
    }
}

struct ParsedPacket {
    key: ConnectionKey,
    segment: Segment,
}

impl ParsedPacket {
    /// Parses a TCP packet that may be truncated after its headers.
    fn read(direction: PacketDirection, packet: &[u8]) -> Option<ParsedPacket> {
        let mut whole = [0; MAX_HEADERS];
        let (total, headers) = lengths(packet)?;
        let shown = if headers < total && packet.len() < total {
            shorten(packet, headers, &mut whole)?
        } else {
            packet
        };
        let Parsed { header, content: Content::Tcp(mut segment), .. } =
            parse(shown, Checksums::Ignore).ok()?
        else {
            return None;
        };
        segment.len = (total - headers) as u32;
        let (own, peer) = match direction {
            PacketDirection::In => (header.destination, header.source),
            PacketDirection::Out => (header.source, header.destination),
        };
        Some(ParsedPacket { key: ConnectionKey { own, peer }, segment })
    }
}

/// Maximum length of headers, bytes: IPv4 and TCP, both with options.
pub const MAX_HEADERS: usize = 120;

/// Returns the total length and the header length in bytes of a TCP packet.
fn lengths(packet: &[u8]) -> Option<(usize, usize)> {
    let word = |at: usize| Some(usize::from(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?])));
    let (ip, total) = match packet.first()? >> 4 {
        4 => (usize::from(packet[0] & 0x0f) * 4, word(2)?),
        6 => (40, word(4)? + 40),
        _ => return None,
    };
    let tcp = usize::from(packet.get(ip + 12)? >> 4) * 4;
    Some((total, ip + tcp)).filter(|(total, headers)| headers <= total)
}

/// Copies the headers into `whole` as a packet without payload.
fn shorten<'a>(packet: &[u8], headers: usize, whole: &'a mut [u8; MAX_HEADERS]) -> Option<&'a [u8]> {
    let short = whole.get_mut(..headers)?;
    short.copy_from_slice(packet.get(..headers)?);
    let (at, length) = if short[0] >> 4 == 4 { (2, headers) } else { (4, headers - 40) };
    short[at..at + 2].copy_from_slice(&(length as u16).to_be_bytes());
    Some(short)
}
