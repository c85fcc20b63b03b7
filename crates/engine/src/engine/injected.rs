//! Real traffic on its way through: packets that are given to the engine, and what has become of them.

use super::Engine;
use crate::external::{Copied, Entering, Left};
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_wire::{FlowId, LossReason, Packet};

impl Engine {
    /// A packet of an external flow begins its way now, which is where [`Engine::run_until`] has got to. Returns the
    /// number by which [`Engine::take_left`] calls it.
    pub fn inject(&mut self, flow: FlowId, entering: &Entering) -> u64 {
        let route = self.flows[flow.0 as usize].ways[usize::from(!entering.forward)].route();
        let number = self.packets;
        self.packets += 1;
        let mut packet = Packet {
            number,
            flow,
            route,
            wire_bytes: entering.wire_bytes,
            forward: entering.forward,
            again: false,
            early: false,
            damaged: false,
            ecn: entering.ecn,
            priority: entering.priority,
            hop: 0,
            joined: Time::ZERO,
            body: entering.body,
        };
        self.send_datagram(&mut packet);
        number
    }

    /// Adds to `into` what has become of external packets since it was last asked, in the order of time.
    pub fn take_left(&mut self, into: &mut Vec<Left>) {
        into.append(&mut self.left);
    }

    /// Adds to `into` what links have made two of since it was last asked, in the order of time. None has left before it is
    /// told here.
    pub fn take_copies(&mut self, into: &mut Vec<Copied>) {
        into.append(&mut self.copies);
    }
}

/// Out of the way of what is simulated.
#[cold]
pub(super) fn note_left(left: &mut Vec<Left>, packet: &Packet, at: Time, lost: Option<(PipeId, LossReason)>) {
    let Packet { number, forward, ecn, damaged, .. } = *packet;
    left.push(Left { number, forward, at, ecn, damaged, lost });
}
