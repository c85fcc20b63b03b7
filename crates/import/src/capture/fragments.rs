//! Reassembly of IP fragments (RFC 791 §3.2, RFC 8200 §4.5).
//!
//! A packet is complete as soon as its last missing fragment is captured. The packet gets the time of that fragment and
//! the header of the first fragment. Incomplete packets are ignored, because their receiver discards them. Repeated
//! fragments count only once.

use super::frames::CapturedFrame;
use super::segment::{self, CapturedSegment};
use std::collections::VecDeque;
use std::net::IpAddr;

pub(super) struct Fragment<'f> {
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    pub(super) id: u32,
    /// Offset of the fragment's data in the packet, bytes.
    pub(super) offset: u32,
    pub(super) length: u32,
    pub(super) more: bool,
    /// Length of the fragment's own IP packet, bytes.
    pub(super) on_wire: u32,
    /// The part of the fragment's data that was captured.
    pub(super) kept: &'f [u8],
}

/// Packets that are not complete yet, the oldest first.
#[derive(Default)]
pub(super) struct Fragments {
    pending: VecDeque<Pending>,
    pub(super) seen: u64,
    /// Number of reassembled packets.
    pub(super) whole: u64,
    /// Number of packets of which at least one fragment was seen.
    begun: u64,
}

struct Pending {
    key: (u32, IpAddr, IpAddr, u32),
    parts: Vec<(u32, u32)>,
    /// Length of the packet's data, if its last fragment was seen.
    total: Option<u32>,
    first: Option<CapturedSegment>,
    on_wire: u32,
}

/// Largest number of incomplete packets at a time. Few are needed, because the fragments of a packet arrive close
/// together.
const MAX_PENDING: usize = 256;
/// Largest number of fragments of a packet, enough for 65,535 bytes in fragments of 256 bytes.
const MAX_FRAGMENTS: usize = 256;

impl Fragments {
    /// Handles a frame. Returns a TCP segment if the frame contains the whole segment or the last missing fragment of
    /// the segment.
    pub(super) fn reassemble(&mut self, frame: &CapturedFrame<'_>) -> Option<CapturedSegment> {
        match segment::fragment(frame.ip) {
            None => segment::parse(frame.ip),
            Some(fragment) => self.put(frame.interface, &fragment),
        }
    }

    pub(super) fn incomplete(&self) -> u64 {
        self.begun - self.whole
    }

    fn put(&mut self, interface: u32, fragment: &Fragment<'_>) -> Option<CapturedSegment> {
        self.seen += 1;
        let key = (interface, fragment.from, fragment.to, fragment.id);
        let at = self.pending.iter().rposition(|known| known.key == key).unwrap_or_else(|| {
            self.begun += 1;
            if self.pending.len() == MAX_PENDING {
                self.pending.pop_front();
            }
            self.pending.push_back(Pending { key, parts: Vec::new(), total: None, first: None, on_wire: 0 });
            self.pending.len() - 1
        });
        let pending = &mut self.pending[at];
        let is_known = pending.parts.iter().any(|(offset, _)| *offset == fragment.offset);
        if is_known || pending.parts.len() == MAX_FRAGMENTS {
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
        // `segment::of_tcp` stored the length of the TCP header in `payload`. The rest of the packet's data is the
        // payload.
        segment.payload = there.checked_sub(segment.payload)?;
        segment.length = whole.on_wire;
        Some(segment)
    }
}
