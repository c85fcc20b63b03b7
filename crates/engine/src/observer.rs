//! The interface through which traces and captures receive the events of a run.

use crate::flow::FlowSide;
use crate::node::NodeId;
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_stack::Layer;
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, LossReason, Packet};
use std::any::Any;

/// Receives all events of a run in order of time. The `Any` bound lets the caller downcast the observer that
/// [`crate::Engine::take_observer`] returns.
pub trait Observer: Any + Send {
    /// Reports a packet that enters a pipe. If `fate` is [`Fate::Open`], a call of [`Observer::on_fate`] follows later.
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate);

    /// Reports the arrival or loss of a packet, which was reported as [`Fate::Open`] when it entered the pipe.
    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let _ = (now, pipe, packet, fate);
    }

    /// Reports that a link has duplicated a packet. The copy has its own packet number, and enters this pipe now. A
    /// call of [`Observer::on_fate`] follows.
    fn on_copy(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        let _ = (now, pipe, copy);
    }

    /// Reports the bytes of a datagram that a stack sends ([`crate::StackFlow`]). Calls of [`Observer::on_packet`] for the
    /// datagram's packets follow. The packets have this number in their body. After the arrival or loss of the last of
    /// these packets, another datagram of the flow may have the same number.
    fn on_datagram(&mut self, flow: FlowId, number: u64, layer: Layer, bytes: &[u8]) {
        let _ = (flow, number, layer, bytes);
    }

    /// Reports that a middlebox has acted on a packet. Either the middlebox has created, repeated or changed a packet
    /// that the node sends next, or the middlebox has received or dropped a packet.
    fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        let _ = (now, node, packet, action);
    }

    /// Reports an event of an endpoint.
    fn on_event(&mut self, now: Time, flow: FlowId, side: FlowSide, event: &Event);
}

/// Outcome of a packet on a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Arrives at the pipe's end at this time.
    Arrives(Time),
    /// Lost on this pipe.
    Lost(LossReason),
    /// Arrival or loss is not decided yet. [`Observer::on_fate`] reports the outcome later.
    Open,
}

/// Action of a middlebox on a packet, other than forwarding unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MiddleboxAction {
    /// Sends a copy, with its own number, of an earlier packet.
    Repeated,
    /// Sends a new packet.
    Created,
    /// Forwards the packet with a changed header.
    Changed,
    /// Receives the packet in place of the addressed host.
    Received,
    /// Drops the packet.
    Dropped(LossReason),
}
