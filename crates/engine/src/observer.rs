//! What a trace or a capture is told.

use crate::flow::Side;
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, LossReason, Packet};
use std::any::Any;

/// Is told everything, in the order of time. It is `Any`, so that its owner can have it back as what it is.
pub trait Observer: Any + Send {
    /// A packet enters a pipe; its fate there is known: the time of arrival, or why it is lost.
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Result<Time, LossReason>);

    /// An endpoint tells something.
    fn on_event(&mut self, now: Time, flow: FlowId, side: Side, event: &Event);
}
