//! Copies that links make, and damage that a host finds.

use super::Engine;
use crate::external::Copied;
use crate::observer::Fate;
use crate::pipe::PipeId;
use lasthop_net::Line;
use lasthop_wire::{Body, FlowId, LossReason, Packet};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Datagrams of which links have made copies, by flow and number: packets of each on their way, and whether one has arrived.
/// No more of them than packets on their way.
#[derive(Default)]
pub(super) struct Twins(BTreeMap<(FlowId, u64), (u32, bool)>);

impl Twins {
    /// A copy of a packet is about to set out.
    pub(super) fn add(&mut self, packet: &Packet) {
        if let Body::Datagram { number } = packet.body {
            self.0.entry((packet.flow, number)).or_insert((1, false)).0 += 1;
        }
    }

    /// A packet has arrived, or not; whether it is the first one of its datagram to arrive.
    pub(super) fn end(&mut self, packet: &Packet, arrives: bool) -> bool {
        if self.0.is_empty() { arrives } else { self.end_of_copied(packet, arrives) }
    }

    #[cold]
    fn end_of_copied(&mut self, packet: &Packet, arrives: bool) -> bool {
        let Body::Datagram { number } = packet.body else { return arrives };
        let Entry::Occupied(mut entry) = self.0.entry((packet.flow, number)) else { return arrives };
        let (left, has_arrived) = entry.get_mut();
        let is_first = arrives && !*has_arrived;
        *has_arrived |= arrives;
        *left -= 1;
        if *left == 0 {
            entry.remove();
        }
        is_first
    }
}

impl Engine {
    /// A link has made two of a packet: the copy joins it behind the original, with a number of its own.
    #[cold]
    pub(super) fn join_copy(&mut self, original: Packet, at: PipeId) {
        let mut packet = Packet { again: true, ..original };
        self.number(&mut packet);
        let carried = &mut self.flows[packet.flow.0 as usize];
        carried.account.rest().copied[usize::from(!packet.forward)] += 1;
        if carried.traffic.is_external() {
            let Packet { number, forward, .. } = packet;
            self.copies.push(Copied { number, of: original.number, forward });
        }
        if let Some(observer) = &mut self.observer {
            observer.on_copied(self.now, at, &packet);
        }
        let pipe = &mut self.pipes[at.0 as usize];
        pipe.account.offered += 1;
        if let Line::Element(element) = &mut pipe.line {
            element.handle_copy(self.now, packet, &mut self.decided);
        }
        self.take_decisions(at);
    }

    /// The first packet on a pipe has reached its host, whose checksum finds the damage. Real hosts look for themselves.
    #[cold]
    pub(super) fn deliver_damaged(&mut self, pipe: u32) {
        let here = &mut self.pipes[pipe as usize];
        let Some(packet) = here.travelling.first().map(|first| first.packet) else { return };
        if self.flows[packet.flow.0 as usize].traffic.is_external() {
            return self.deliver_unanswered(pipe, packet.flow);
        }
        here.travelling.drop_first();
        self.heads.set(pipe, here.due());
        if let Some(observer) = &mut self.observer {
            observer.on_fate(self.now, PipeId(pipe), &packet, Fate::Lost(LossReason::Corrupt));
        }
        self.lose(&packet, PipeId(pipe), LossReason::Corrupt);
    }
}
