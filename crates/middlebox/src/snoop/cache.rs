//! Cache of a snoop agent for one direction of a flow.

use crate::sequence::{distance, end_of, is_before};
use lasthop_base::Time;
use lasthop_wire::{Packet, Seq};
use std::collections::VecDeque;

/// A forwarded packet that is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedPacket {
    pub(super) packet: Packet,
    pub(super) seq: Seq,
    pub(super) end: Seq,
    pub(super) sent_at: Time,
    /// Number of local retransmissions since the sender's last transmission.
    pub(super) retransmissions: u32,
    /// Whether the sender retransmitted the packet, or the packet fills a gap left by a loss before the station. If
    /// true, the earlier loss of this data was not wireless.
    pub(super) is_sender_retransmission: bool,
    /// Whether a SACK block has reported the packet's arrival.
    pub(super) is_reported: bool,
}

impl CachedPacket {
    pub(super) fn contains(&self, number: Seq) -> bool {
        !is_before(number, self.seq) && is_before(number, self.end)
    }
}

#[derive(Default, Debug)]
pub(super) struct Cache(VecDeque<CachedPacket>);

pub(super) enum Slot {
    Taken(usize),
    /// Index at which a new packet must be inserted.
    Free(usize),
}

impl Cache {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn first(&self) -> Option<&CachedPacket> {
        self.0.front()
    }

    pub(super) fn first_mut(&mut self) -> Option<&mut CachedPacket> {
        self.0.front_mut()
    }

    pub(super) fn at_mut(&mut self, index: usize) -> &mut CachedPacket {
        &mut self.0[index]
    }

    /// Finds the index of a packet in the cache, or the index at which the packet must be inserted. The search starts
    /// at the end, because nearly all packets are inserted at the end.
    pub(super) fn slot(&self, seq: Seq) -> Slot {
        let behind = self.0.iter().rev().take_while(|cached| distance(cached.seq, seq) < 0).count();
        let index = self.0.len() - behind;
        match index.checked_sub(1) {
            Some(before) if self.0[before].seq == seq => Slot::Taken(before),
            _ => Slot::Free(index),
        }
    }

    pub(super) fn insert(&mut self, index: usize, now: Time, packet: Packet, is_sender_retransmission: bool) {
        let Some(segment) = packet.segment() else { return };
        let (seq, end) = (segment.seq, end_of(segment));
        self.0.insert(
            index,
            CachedPacket {
                packet,
                seq,
                end,
                sent_at: now,
                retransmissions: 0,
                is_sender_retransmission,
                is_reported: false,
            },
        );
    }

    /// Removes packets below `ack`. Returns the last removed packet. Also returns whether all bytes from `from` to
    /// `ack` were cached and sent only once, so that no byte has waited for the recovery of a loss.
    pub(super) fn acknowledge(&mut self, from: Option<Seq>, ack: Seq) -> Option<(CachedPacket, bool)> {
        let (mut last, mut once, mut next) = (None, true, from);
        while let Some(first) = self.0.front()
            && !is_before(ack, first.end)
        {
            once &= first.retransmissions == 0
                && !first.is_sender_retransmission
                && next.is_some_and(|next| first.contains(next));
            next = Some(first.end);
            last = self.0.pop_front();
        }
        last.map(|last| (last, once))
    }

    pub(super) fn remove(&mut self, seq: Seq) {
        if let Slot::Taken(index) = self.slot(seq)
            && self.0[index].retransmissions == 0
        {
            self.0.remove(index);
        }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut CachedPacket> {
        self.0.iter_mut()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|cached| u64::from(distance(cached.seq, cached.end).unsigned_abs())).sum()
    }

    pub(super) fn sent_since(&self, time: Time) -> usize {
        self.0.iter().filter(|cached| cached.sent_at >= time).count()
    }
}
