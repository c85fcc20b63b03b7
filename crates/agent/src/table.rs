//! All connections, by their addresses.

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

/// Connections at most: some 100 MB.
const MOST: usize = 16_384;
/// How long one that is over is kept for its last ACKs.
const LINGER: Duration = Duration::from_secs(60);

/// Which way a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// To this host.
    In,
    /// From it.
    Out,
}

/// This host's end of a connection, and the peer's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// This host's address and port.
    pub own: SocketAddr,
    /// The peer's.
    pub peer: SocketAddr,
}

/// What is known of all connections.
pub struct Table {
    settings: Settings,
    flows: HashMap<Key, Flow>,
    counters: Arc<Counters>,
    opened: u64,
    wishing: Option<Wishing>,
}

/// Where the kernel's program decides: connections whose wishes may have changed, and those that are over.
#[derive(Default)]
struct Wishing {
    touched: HashSet<Key>,
    forgotten: Vec<Key>,
}

impl Table {
    /// No connections yet.
    pub fn new(settings: Settings, counters: Arc<Counters>) -> Table {
        Table { settings, flows: HashMap::new(), counters, opened: 0, wishing: None }
    }

    /// Somebody else decides on packets, by what is wished here.
    pub fn only_wishes(&mut self) {
        self.wishing = Some(Wishing::default());
    }

    /// Tells what is wished anew since the last time.
    ///
    /// # Errors
    /// The first that `tell` returns.
    pub fn wishes<E>(&mut self, mut tell: impl FnMut(&Key, Wish) -> Result<(), E>) -> Result<(), E> {
        let Some(wishing) = &mut self.wishing else { return Ok(()) };
        wishing.touched.drain().try_for_each(|key| {
            let wish = self.flows.get_mut(&key).and_then(Flow::wish);
            wish.map_or(Ok(()), |wish| tell(&key, wish))
        })
    }

    /// Connections that are over since the last time.
    pub fn forgotten(&mut self) -> Vec<Key> {
        self.wishing.as_mut().map(|wishing| std::mem::take(&mut wishing.forgotten)).unwrap_or_default()
    }

    /// A packet passes that is not to be decided on; its payload may be cut off.
    pub fn see(&mut self, now: Time, way: Way, packet: &[u8]) {
        count(&self.counters.packets_seen);
        if let Some(Cut { key, segment }) = Cut::read(way, packet) {
            self.note(now, way, key, &segment, now);
        }
    }

    /// Packets have passed, the last of which is this one, with the payload of all; what it echoes was first echoed then.
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

    /// Until now nobody could decide: the kernel has told its own windows.
    pub fn lapse(&mut self, now: Time) {
        self.flows.values_mut().for_each(|flow| flow.lapse(now));
    }

    /// A packet is to be decided on: true if `pieces` shall go out instead of it.
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

    /// How many connections there are.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Each connection's windows.
    pub fn told(&self) -> impl Iterator<Item = (&Key, Told)> {
        self.flows.iter().filter(|(_, flow)| flow.is_known()).map(|(key, flow)| (key, flow.told()))
    }

    /// Forgets what is over.
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
            // The half that has been silent longest goes; its connections go on untouched.
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

/// What of a packet matters here.
struct Cut {
    key: Key,
    segment: Segment,
}

impl Cut {
    /// The headers of a TCP packet whose end may be missing.
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

/// The longest headers: IPv4 with options, TCP with options.
pub const HEADERS: usize = 120;

/// The length of a TCP packet and of its headers, bytes.
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

/// The headers as a packet of their own.
fn shorten<'a>(packet: &[u8], headers: usize, whole: &'a mut [u8; HEADERS]) -> Option<&'a [u8]> {
    let short = whole.get_mut(..headers)?;
    short.copy_from_slice(packet.get(..headers)?);
    let (at, length) = if short[0] >> 4 == 4 { (2, headers) } else { (4, headers - 40) };
    short[at..at + 2].copy_from_slice(&(length as u16).to_be_bytes());
    Some(short)
}
