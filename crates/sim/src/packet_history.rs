//! The history of each packet: its sending time, its content and its fate (arrived, lost, dropped or in flight).
//!
//! The engine reports single hops. This module combines the reports into one history per packet. Histories are returned
//! in order of sending. A history is returned as soon as it and all earlier histories are complete. Packet numbers
//! increase, but need not be consecutive.

use lasthop_base::Time;
use lasthop_engine::{Fate, MiddleboxAction, NodeId, PipeId};
use lasthop_wire::{LossReason, Packet};
use std::collections::VecDeque;

/// Fate of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PacketFate {
    /// Arrived at the other end of the flow.
    Arrived(Time),
    /// Lost on this pipe (link direction).
    Lost(PipeId, LossReason),
    /// Received by this node's middlebox in place of the other end.
    Received(NodeId),
    /// Dropped by this node's middlebox.
    Dropped(NodeId, LossReason),
    /// In flight at the end of the run.
    Unfinished,
}

/// The history of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PacketHistory {
    /// Time of sending.
    pub sent: Time,
    /// The packet, as it was when sent.
    pub packet: Packet,
    /// Whether a middlebox sent the packet.
    pub is_from_middlebox: bool,
    /// Pipe (link direction) that copied the packet, if the packet is a copy.
    pub copied_on: Option<PipeId>,
    /// The last middlebox that changed the header: its node, and the packet after the change.
    pub changed: Option<(NodeId, Packet)>,
    /// Middlebox that sent the packet, and its action; `None` if an endpoint sent the packet.
    pub created_by: Option<(NodeId, MiddleboxAction)>,
    /// Fate.
    pub end: PacketFate,
}

/// Collects histories.
#[derive(Default)]
pub struct PacketHistories {
    /// Histories in order of packet numbers, each with a flag that is true if the history is complete.
    open: VecDeque<(PacketHistory, bool)>,
}

impl PacketHistories {
    /// Records that a packet enters a pipe, which has index `packet.hop` among the `hops` pipes on the packet's route.
    pub fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, hops: usize, fate: Fate) {
        if packet.hop == 0 {
            self.begin(now, packet, None, None);
        }
        self.on_fate(pipe, packet, hops, fate);
    }

    /// Records that a link has made a copy of a packet.
    pub fn on_copy(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        self.begin(now, copy, None, Some(pipe));
    }

    /// Records the fate of a packet on the pipe where it currently is. The packet's route has `hops` pipes.
    pub fn on_fate(&mut self, pipe: PipeId, packet: &Packet, hops: usize, fate: Fate) {
        match fate {
            Fate::Lost(reason) => self.end(packet, PacketFate::Lost(pipe, reason)),
            Fate::Arrives(at) if usize::from(packet.hop) + 1 == hops => {
                self.end(packet, PacketFate::Arrived(at))
            }
            Fate::Arrives(_) | Fate::Open => {}
        }
    }

    /// Records that a middlebox has created, repeated, changed, received or dropped a packet.
    pub fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        match action {
            MiddleboxAction::Repeated | MiddleboxAction::Created => {
                self.begin(now, packet, Some((node, action)), None)
            }
            MiddleboxAction::Changed => self.change(node, packet),
            MiddleboxAction::Received => self.end(packet, PacketFate::Received(node)),
            MiddleboxAction::Dropped(reason) => self.end(packet, PacketFate::Dropped(node, reason)),
        }
    }

    fn begin(
        &mut self,
        now: Time,
        packet: &Packet,
        created_by: Option<(NodeId, MiddleboxAction)>,
        copied_on: Option<PipeId>,
    ) {
        let (is_from_middlebox, end) = (created_by.is_some(), PacketFate::Unfinished);
        let history = PacketHistory {
            sent: now,
            packet: *packet,
            is_from_middlebox,
            copied_on,
            created_by,
            changed: None,
            end,
        };
        self.open.push_back((history, false));
    }

    fn change(&mut self, node: NodeId, packet: &Packet) {
        if let Some((history, _)) = self.find(packet) {
            history.changed = Some((node, *packet));
        }
    }

    fn end(&mut self, packet: &Packet, end: PacketFate) {
        if let Some((history, is_complete)) = self.find(packet) {
            history.end = end;
            *is_complete = true;
        }
    }

    fn find(&mut self, packet: &Packet) -> Option<&mut (PacketHistory, bool)> {
        let place = self.open.binary_search_by_key(&packet.number, |(history, _)| history.packet.number);
        place.ok().and_then(|place| self.open.get_mut(place))
    }

    /// Returns the sending time of the oldest stored packet. No packet with an earlier sending time can be recorded
    /// afterwards.
    pub fn oldest(&self) -> Option<Time> {
        self.open.front().map(|(history, _)| history.sent)
    }

    /// Removes and returns the oldest history if it is complete.
    pub fn pop_complete(&mut self) -> Option<PacketHistory> {
        let (_, is_complete) = self.open.front()?;
        if !is_complete {
            return None;
        }
        self.pop_first()
    }

    /// Removes and returns the oldest history, even if it is incomplete. Call this at the end of the run.
    pub fn pop_first(&mut self) -> Option<PacketHistory> {
        self.open.pop_front().map(|(history, _)| history)
    }
}
