//! Packets that came in fragments (RFC 791 §3.2, RFC 8200 §4.5), put together as far as a capture tells.
//!
//! A packet is there when its last fragment is: with the header of the first, the length of all, and that time. One of
//! whose fragments is missing is none, as for its receiver. What is repeated counts once.

use super::frames::Frame;
use super::segment::{self, Segment};
use std::collections::VecDeque;
use std::net::IpAddr;

/// A part of a packet.
pub(super) struct Fragment<'f> {
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    pub(super) id: u32,
    /// Where its data begin in the packet's, bytes, and how many there are.
    pub(super) offset: u32,
    pub(super) length: u32,
    /// Whether others follow it.
    pub(super) more: bool,
    /// Length of the IP packet that it is, bytes.
    pub(super) on_wire: u32,
    /// Of its data what was kept.
    pub(super) kept: &'f [u8],
}

/// Packets of which some fragments are there, the oldest first.
#[derive(Default)]
pub(super) struct Fragments {
    pending: VecDeque<Pending>,
    /// Fragments of TCP.
    pub(super) seen: u64,
    /// Packets that were put together, and those that were begun.
    pub(super) whole: u64,
    begun: u64,
}

struct Pending {
    key: (u32, IpAddr, IpAddr, u32),
    /// Beginnings and lengths.
    parts: Vec<(u32, u32)>,
    /// Where the last one ends, if it was there.
    total: Option<u32>,
    first: Option<Segment>,
    on_wire: u32,
}

/// More packets than this are not waited for at once: fragments of a packet are neighbours.
const MOST: usize = 256;
/// A packet in more parts than this is left out: 65,535 bytes in fragments of 256.
const MOST_PARTS: usize = 256;

impl Fragments {
    /// The TCP segment that is there with this frame, if one is.
    pub(super) fn take(&mut self, frame: &Frame<'_>) -> Option<Segment> {
        match segment::fragment(frame.ip) {
            None => segment::parse(frame.ip),
            Some(fragment) => self.put(frame.interface, &fragment),
        }
    }

    /// Packets that were begun and never whole.
    pub(super) fn incomplete(&self) -> u64 {
        self.begun - self.whole
    }

    fn put(&mut self, interface: u32, fragment: &Fragment<'_>) -> Option<Segment> {
        self.seen += 1;
        let key = (interface, fragment.from, fragment.to, fragment.id);
        let at = self.pending.iter().rposition(|known| known.key == key).unwrap_or_else(|| {
            self.begun += 1;
            if self.pending.len() == MOST {
                self.pending.pop_front();
            }
            self.pending.push_back(Pending { key, parts: Vec::new(), total: None, first: None, on_wire: 0 });
            self.pending.len() - 1
        });
        let pending = &mut self.pending[at];
        let is_known = pending.parts.iter().any(|(offset, _)| *offset == fragment.offset);
        if is_known || pending.parts.len() == MOST_PARTS {
            return None;
        }
        pending.parts.push((fragment.offset, fragment.length));
        pending.on_wire += fragment.on_wire;
        if fragment.offset == 0 {
            pending.first = segment::of_tcp(fragment.from, fragment.to, fragment.kept);
        }
        if !fragment.more {
            pending.total = Some(fragment.offset + fragment.length);
        }
        let there: u32 = pending.parts.iter().map(|(_, length)| length).sum();
        if pending.total != Some(there) {
            return None;
        }
        let whole = self.pending.remove(at)?;
        self.whole += 1;
        let mut segment = whole.first?;
        // Until here the length of its header.
        segment.payload = there.checked_sub(segment.payload)?;
        segment.length = whole.on_wire;
        Some(segment)
    }
}
