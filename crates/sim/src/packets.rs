//! The history of each packet: when it was sent, its content, and its fate.
//!
//! Joins the engine's reports of single hops. Histories leave in order of sending as soon as they are complete, so that
//! memory holds only packets in flight. Packet numbers increase, but need not be consecutive.

use lasthop_base::Time;
use lasthop_engine::{Deed, Fate, NodeId, PipeId};
use lasthop_wire::{LossReason, Packet};
use std::collections::VecDeque;

/// Fate of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End {
    /// Reached the other end of its flow.
    Arrived(Time),
    /// Lost on this pipe.
    Lost(PipeId, LossReason),
    /// Received by this node's middlebox in place of the other end.
    Received(NodeId),
    /// Dropped by this node's middlebox.
    TakenOut(NodeId, LossReason),
    /// In flight at the end of the run.
    Unfinished,
}

/// The history of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Story {
    /// Time of sending.
    pub sent: Time,
    /// The packet as sent.
    pub packet: Packet,
    /// Whether a middlebox sent the packet.
    pub born_at_node: bool,
    /// Pipe on which the packet was copied, if the packet is a copy.
    pub copied_on: Option<PipeId>,
    /// Last change of the header by a middlebox: node and changed packet.
    pub changed: Option<(NodeId, Packet)>,
    /// Middlebox that sent the packet, if any.
    pub born: Option<(NodeId, Deed)>,
    /// Fate.
    pub end: End,
}

/// Collects histories.
#[derive(Default)]
pub struct Stories {
    /// Histories by packet number, and whether they are complete.
    open: VecDeque<(Story, bool)>,
}

impl Stories {
    /// A packet enters the pipe at `packet.hop`, of `hops` on its route.
    pub fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, hops: usize, fate: Fate) {
        if packet.hop == 0 {
            self.begin(now, packet, None, None);
        }
        self.on_fate(pipe, packet, hops, fate);
    }

    /// A link has made a copy of a packet.
    pub fn on_copied(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        self.begin(now, copy, None, Some(pipe));
    }

    /// The fate of a packet on its present pipe is known; its route has `hops` pipes.
    pub fn on_fate(&mut self, pipe: PipeId, packet: &Packet, hops: usize, fate: Fate) {
        match fate {
            Fate::Lost(reason) => self.end(packet, End::Lost(pipe, reason)),
            Fate::Arrives(at) if usize::from(packet.hop) + 1 == hops => self.end(packet, End::Arrived(at)),
            Fate::Arrives(_) | Fate::Open => {}
        }
    }

    /// A middlebox has created, repeated, changed or ended a packet.
    pub fn on_node(&mut self, now: Time, node: NodeId, packet: &Packet, deed: Deed) {
        match deed {
            Deed::Repeated | Deed::Made => self.begin(now, packet, Some((node, deed)), None),
            Deed::Changed => self.change(node, packet),
            Deed::Received => self.end(packet, End::Received(node)),
            Deed::Dropped(reason) => self.end(packet, End::TakenOut(node, reason)),
        }
    }

    fn begin(&mut self, now: Time, packet: &Packet, born: Option<(NodeId, Deed)>, copied_on: Option<PipeId>) {
        let (born_at_node, end) = (born.is_some(), End::Unfinished);
        let story = Story { sent: now, packet: *packet, born_at_node, copied_on, born, changed: None, end };
        self.open.push_back((story, false));
    }

    fn change(&mut self, node: NodeId, packet: &Packet) {
        if let Some((story, _)) = self.of(packet) {
            story.changed = Some((node, *packet));
        }
    }

    fn end(&mut self, packet: &Packet, end: End) {
        if let Some((story, ended)) = self.of(packet) {
            story.end = end;
            *ended = true;
        }
    }

    fn of(&mut self, packet: &Packet) -> Option<&mut (Story, bool)> {
        let place = self.open.binary_search_by_key(&packet.number, |(story, _)| story.packet.number);
        place.ok().and_then(|place| self.open.get_mut(place))
    }

    /// Time of sending of the oldest history kept; histories still to come are not older.
    pub fn oldest(&self) -> Option<Time> {
        self.open.front().map(|(story, _)| story.sent)
    }

    /// Removes and returns the oldest history if it is complete.
    pub fn next_ended(&mut self) -> Option<Story> {
        let (_, ended) = self.open.front()?;
        if !ended {
            return None;
        }
        self.next_of_all()
    }

    /// Removes and returns the oldest history, complete or not; call at the end of the run.
    pub fn next_of_all(&mut self) -> Option<Story> {
        self.open.pop_front().map(|(story, _)| story)
    }
}
