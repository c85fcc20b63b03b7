//! Copies that links make, and damage that a host finds.

use super::Engine;
use crate::external::Copied;
use crate::observer::Fate;
use crate::pipe::PipeId;
use lasthop_net::Line;
use lasthop_wire::{LossReason, Packet};

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
