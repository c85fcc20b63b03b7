//! All connections by their addresses.

use crate::counters::{Counters, count};
use crate::flow::{Flow, Piece, Told, Wish};
use crate::settings::Settings;
use lasthop_base::{Duration, Time};
use lasthop_tcp::event::Cause;
use lasthop_wire::bytes::{Checksums, Content, Parsed, parse};
use lasthop_wire::{Flags, Segment};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;

/// Maximum number of connections: some 100 MB.
const MOST: usize = 16_384;
/// Time for which a closed connection is kept for its last ACKs.
const LINGER: Duration = Duration::from_secs(60);

/// Direction of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Incoming: to this host.
    In,
    /// Outgoing: from this host.
    Out,
}

/// Both ends of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// This host's address and port.
    pub own: SocketAddr,
    /// The peer's address and port.
    pub peer: SocketAddr,
}

/// State of all connections.
pub struct Table {
    settings: Settings,
    flows: HashMap<Key, Flow>,
    counters: Arc<Counters>,
    opened: u64,
    wishing: Option<Wishing>,
}

/// With the kernel program: connections with possibly changed requests, and closed ones.
#[derive(Default)]
struct Wishing {
    touched: HashSet<Key>,
    forgotten: Vec<Key>,
}

impl Table {
    /// Creates an empty table.
    pub fn new(settings: Settings, counters: Arc<Counters>) -> Table {
        Table { settings, flows: HashMap::new(), counters, opened: 0, wishing: None }
    }

    /// Collects requests for the kernel program instead of deciding on packets.
    pub fn only_wishes(&mut self) {
        self.wishing = Some(Wishing::default());
    }

    /// Passes the requests that changed since the last call to `tell`. Stops at the first error of `tell`.
    pub fn wishes<E>(&mut self, mut tell: impl FnMut(&Key, Wish) -> Result<(), E>) -> Result<(), E> {
        let Some(wishing) = &mut self.wishing else { return Ok(()) };
        wishing.touched.drain().try_for_each(|key| {
            let wish = self.flows.get_mut(&key).and_then(Flow::wish);
            wish.map_or(Ok(()), |wish| tell(&key, wish))
        })
    }

    /// Returns the connections closed since the last call.
    pub fn forgotten(&mut self) -> Vec<Key> {
        self.wishing.as_mut().map(|wishing| std::mem::take(&mut wishing.forgotten)).unwrap_or_default()
    }

    /// Records a packet without decision; the payload may be truncated.
    pub fn see(&mut self, now: Time, way: Way, packet: &[u8]) {
        count(&self.counters.packets_seen);
        if let Some(Cut { key, segment }) = Cut::read(way, packet) {
            self.note(now, way, key, &segment, now);
        }
    }

    /// Records packets: `segment` is the last one, with the payload length of all. Its echoed time stamp was first seen
    /// at `echoed`.
    pub fn note(&mut self, now: Time, way: Way, key: Key, segment: &Segment, echoed: Time) {
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if opens && self.flows.get(&key).is_none_or(|flow| flow.is_known()) {
            self.open(now, key);
        }
        let Some(flow) = self.flows.get_mut(&key) else { return };
        if let Some(wishing) = &mut self.wishing {
            wishing.touched.insert(key);
        }
        match way {
            Way::In => match flow.handle_several(now, segment, echoed) {
                Some(Cause::Wireless) => count(&self.counters.losses_wireless),
                Some(Cause::Congestion) => count(&self.counters.losses_congestion),
                None => {}
            },
            Way::Out => {
                if flow.handle_outgoing(now, segment) && self.wishing.is_none() {
                    count(&self.counters.acks_missed);
                }
            }
        }
    }

    /// Reports a gap in decisions: the kernel has advertised its own windows until now.
    pub fn lapse(&mut self, now: Time) {
        self.flows.values_mut().for_each(|flow| flow.lapse(now));
    }

    /// Decides on a packet; returns true if `pieces` replace the packet.
    pub fn decide(&mut self, now: Time, packet: &[u8], pieces: &mut Vec<Piece>) -> bool {
        count(&self.counters.acks_queued);
        let Some(Cut { key, segment }) = Cut::read(Way::Out, packet) else {
            count(&self.counters.errors);
            return false;
        };
        let known = self.flows.get_mut(&key).filter(|flow| flow.is_known() && segment.is_pure_ack());
        if known.is_some_and(|flow| flow.handle_ack(now, &segment, pieces)) {
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
    pub fn told(&self) -> impl Iterator<Item = (&Key, Told)> {
        self.flows.iter().filter(|(_, flow)| flow.is_known()).map(|(key, flow)| (key, flow.told()))
    }

    /// Removes closed connections.
    pub fn tidy(&mut self, now: Time) {
        self.keep(|flow| !flow.is_over() || now.since(flow.seen()) < LINGER);
    }

    fn keep(&mut self, is_wanted: impl Fn(&Flow) -> bool) {
        let gone = self.flows.extract_if(|_, flow| !is_wanted(flow)).map(|(key, _)| key);
        match &mut self.wishing {
            Some(wishing) => wishing.forgotten.extend(gone),
            None => gone.for_each(drop),
        }
    }

    fn open(&mut self, now: Time, key: Key) {
        if self.flows.len() >= MOST {
            self.tidy(now);
        }
        if self.flows.len() >= MOST {
            // Drops the half that has been idle longest; those connections continue untouched.
            let mut seen: Vec<Time> = self.flows.values().map(Flow::seen).collect();
            let middle = seen.len() / 2;
            let (_, middle, _) = seen.select_nth_unstable(middle);
            let middle = *middle;
            self.keep(|flow| flow.seen() > middle);
        }
        count(&self.counters.flows_opened);
        self.opened += 1;
        self.flows.insert(key, Flow::new(&self.settings, self.opened));
    }
}

struct Cut {
    key: Key,
    segment: Segment,
}

impl Cut {
    /// Parses a TCP packet that may be truncated after its headers.
    fn read(way: Way, packet: &[u8]) -> Option<Cut> {
        let mut whole = [0; HEADERS];
        let (total, headers) = lengths(packet)?;
        let shown = match headers < total && packet.len() < total {
            true => shorten(packet, headers, &mut whole)?,
            false => packet,
        };
        let Parsed { header, content: Content::Tcp(mut segment), .. } =
            parse(shown, Checksums::Ignore).ok()?
        else {
            return None;
        };
        segment.len = (total - headers) as u32;
        let (own, peer) = match way {
            Way::In => (header.destination, header.source),
            Way::Out => (header.source, header.destination),
        };
        Some(Cut { key: Key { own, peer }, segment })
    }
}

/// Maximum length of headers, bytes: IPv4 and TCP, both with options.
pub const HEADERS: usize = 120;

/// Total length and header length of a TCP packet, bytes.
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

/// Copies the headers into a packet without payload.
fn shorten<'a>(packet: &[u8], headers: usize, whole: &'a mut [u8; HEADERS]) -> Option<&'a [u8]> {
    let short = whole.get_mut(..headers)?;
    short.copy_from_slice(packet.get(..headers)?);
    let (at, length) = if short[0] >> 4 == 4 { (2, headers) } else { (4, headers - 40) };
    short[at..at + 2].copy_from_slice(&(length as u16).to_be_bytes());
    Some(short)
}
