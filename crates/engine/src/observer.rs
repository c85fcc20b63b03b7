//! What a trace or a capture is told.

use crate::flow::Side;
use crate::node::NodeId;
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, LossReason, Packet};
use std::any::Any;

/// Is told everything, in the order of time. It is `Any`, so that its owner can have it back as what it is.
pub trait Observer: Any + Send {
    /// A packet enters a pipe. If its fate there is known it is told; else [`Observer::on_fate`] follows.
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate);

    /// The fate of a packet whose fate was open is known now.
    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let _ = (now, pipe, packet, fate);
    }

    /// A link has made a copy of a packet, with a number of its own, which joins it here; [`Observer::on_fate`] follows.
    fn on_copied(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        let _ = (now, pipe, copy);
    }

    /// A middlebox has made a packet, which sets out next, or a packet ends at it.
    fn on_node(&mut self, now: Time, node: NodeId, packet: &Packet, deed: Deed) {
        let _ = (now, node, packet, deed);
    }

    /// An endpoint tells something.
    fn on_event(&mut self, now: Time, flow: FlowId, side: Side, event: &Event);
}

/// What becomes of a packet on a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It arrives at the pipe's end at this time.
    Arrives(Time),
    /// It is lost there.
    Lost(LossReason),
    /// It is not decided yet.
    Open,
}

/// What a middlebox does with a packet, beside letting it pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// It repeats an earlier one: the copy has a number of its own.
    Repeated,
    /// It makes one.
    Made,
    /// It lets it pass with another header.
    Changed,
    /// It receives it in the place of the host that it was sent to.
    Received,
    /// It takes it out.
    Dropped(LossReason),
}
