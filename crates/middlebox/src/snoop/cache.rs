//! Cache of a snoop agent for one direction of a flow.

use crate::numbers::{distance, end_of, is_before};
use lasthop_base::Time;
use lasthop_wire::{Packet, Seq};
use std::collections::VecDeque;

/// A forwarded packet without an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) packet: Packet,
    pub(super) seq: Seq,
    pub(super) end: Seq,
    pub(super) sent_at: Time,
    /// Local retransmissions since the sender's last transmission.
    pub(super) repeats: u32,
    /// Retransmitted by the sender, or fills a gap of the wired side: not a wireless loss.
    pub(super) again: bool,
    /// Whether a SACK block has reported the packet's arrival.
    pub(super) reported: bool,
}

impl Kept {
    pub(super) fn has(&self, number: Seq) -> bool {
        !is_before(number, self.seq) && is_before(number, self.end)
    }
}

#[derive(Default, Debug)]
pub(super) struct Cache(VecDeque<Kept>);

pub(super) enum Slot {
    Taken(usize),
    /// A new packet is to be inserted here.
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

    /// Searches from the end, where nearly all packets belong.
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

    /// Removes packets below `ack`. Returns the last removed packet, and whether the bytes from `from` on were all
    /// cached and sent once: then no byte waited for a recovery.
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

    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|kept| u64::from(distance(kept.seq, kept.end).unsigned_abs())).sum()
    }

    pub(super) fn sent_since(&self, time: Time) -> usize {
        self.0.iter().filter(|kept| kept.sent_at >= time).count()
    }
}
