//! What a snoop agent keeps of one direction of a flow: packets in the order of their numbers.

use crate::numbers::{distance, end_of, is_before};
use lasthop_base::Time;
use lasthop_wire::{Packet, Seq};
use std::collections::VecDeque;

/// A packet that went on and is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) packet: Packet,
    pub(super) seq: Seq,
    pub(super) end: Seq,
    /// When it went on last.
    pub(super) sent_at: Time,
    /// How often it was repeated here since the sender sent it last.
    pub(super) repeats: u32,
    /// The sender has sent it again, or it fills a gap that came from the sender's side: its loss is not the air's.
    pub(super) again: bool,
    /// A SACK block has told that it arrived.
    pub(super) reported: bool,
}

impl Kept {
    /// Whether it has this byte.
    pub(super) fn has(&self, number: Seq) -> bool {
        !is_before(number, self.seq) && is_before(number, self.end)
    }
}

/// Ordered by sequence number, one packet for each.
#[derive(Default, Debug)]
pub(super) struct Cache(VecDeque<Kept>);

/// Where a packet belongs.
pub(super) enum Slot {
    /// The same one is there.
    Taken(usize),
    /// It goes there.
    Free(usize),
}

impl Cache {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn first(&self) -> Option<&Kept> {
        self.0.front()
    }

    pub(super) fn first_mut(&mut self) -> Option<&mut Kept> {
        self.0.front_mut()
    }

    pub(super) fn at_mut(&mut self, place: usize) -> &mut Kept {
        &mut self.0[place]
    }

    /// Looked for from the end, where nearly all belong.
    pub(super) fn slot(&self, seq: Seq) -> Slot {
        let behind = self.0.iter().rev().take_while(|kept| distance(kept.seq, seq) < 0).count();
        let place = self.0.len() - behind;
        match place.checked_sub(1) {
            Some(before) if self.0[before].seq == seq => Slot::Taken(before),
            _ => Slot::Free(place),
        }
    }

    pub(super) fn insert(&mut self, place: usize, now: Time, packet: Packet, again: bool) {
        let Some(segment) = packet.segment() else { return };
        let (seq, end) = (segment.seq, end_of(segment));
        self.0.insert(place, Kept { packet, seq, end, sent_at: now, repeats: 0, again, reported: false });
    }

    /// Forgets what lies before `ack`; the last of it, if anything did, and whether all from `from` on was kept and went
    /// on only once: then nothing waited for a repair.
    pub(super) fn acknowledge(&mut self, from: Option<Seq>, ack: Seq) -> Option<(Kept, bool)> {
        let (mut last, mut once, mut next) = (None, true, from);
        while let Some(first) = self.0.front()
            && !is_before(ack, first.end)
        {
            once &= first.repeats == 0 && !first.again && next.is_some_and(|next| first.has(next));
            next = Some(first.end);
            last = self.0.pop_front();
        }
        last.map(|last| (last, once))
    }

    /// Forgets the packet of this number if it went on only once.
    pub(super) fn forget(&mut self, seq: Seq) {
        if let Slot::Taken(place) = self.slot(seq)
            && self.0[place].repeats == 0
        {
            self.0.remove(place);
        }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Kept> {
        self.0.iter_mut()
    }

    /// Bytes that are kept.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|kept| u64::from(distance(kept.seq, kept.end).unsigned_abs())).sum()
    }

    /// How many went on at `time` or later.
    pub(super) fn sent_since(&self, time: Time) -> usize {
        self.0.iter().filter(|kept| kept.sent_at >= time).count()
    }
}
