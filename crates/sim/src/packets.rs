//! A packet's whole story: when it set out, what it carried, and how it ended.
//!
//! The engine tells of each hop as it happens. Here the hops of a packet come
//! together, and stories leave in the order in which they began, as soon as they
//! have ended: memory holds what is in flight, whatever the run's length. Numbers
//! grow from story to story, but need not be dense.

use lasthop_base::Time;
use lasthop_engine::{Deed, Fate, NodeId, PipeId};
use lasthop_wire::{LossReason, Packet};
use std::collections::VecDeque;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End {
    /// It reached the other end of its flow.
    Arrived(Time),
    /// It was lost on this pipe.
    Lost(PipeId, LossReason),
    /// The middlebox of this node received it in the place of the other end.
    Received(NodeId),
    /// The middlebox of this node took it out.
    TakenOut(NodeId, LossReason),
    /// The run ended before it did.
    Unfinished,
}

/// A packet, from where it set out to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Story {
    /// When it set out.
    pub sent: Time,
    /// The packet as it set out.
    pub packet: Packet,
    /// Whether it set out at a middlebox, not at an end of its flow.
    pub born_at_node: bool,
    /// On which pipe it was made of another one, if it is a copy.
    pub copied_on: Option<PipeId>,
    /// The middlebox that changed its header last, if one did: [`Story::packet`] is as it set out.
    pub changed: Option<(NodeId, Packet)>,
    /// At which node it was born, if at one.
    pub born: Option<(NodeId, Deed)>,
    /// How it ended.
    pub end: End,
}

/// Collects stories.
#[derive(Default)]
pub struct Stories {
    /// By the packets' numbers, with whether they have ended.
    open: VecDeque<(Story, bool)>,
}

impl Stories {
    /// A packet enters the `hop`-th pipe of `hops` on its way.
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

    /// The fate of a packet on the pipe where it is, of `hops` on its way, is known.
    pub fn on_fate(&mut self, pipe: PipeId, packet: &Packet, hops: usize, fate: Fate) {
        match fate {
            Fate::Lost(reason) => self.end(packet, End::Lost(pipe, reason)),
            Fate::Arrives(at) if usize::from(packet.hop) + 1 == hops => self.end(packet, End::Arrived(at)),
            Fate::Arrives(_) | Fate::Open => {}
        }
    }

    /// A middlebox has made a packet, or one has ended there.
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

    /// When the oldest story that has not ended began: nothing that is still to come is older.
    pub fn oldest(&self) -> Option<Time> {
        self.open.front().map(|(story, _)| story.sent)
    }

    /// The next story in the order of sending, if it has ended.
    pub fn next_ended(&mut self) -> Option<Story> {
        let (_, ended) = self.open.front()?;
        if !ended {
            return None;
        }
        self.next_of_all()
    }

    /// The next story, ended or not: for the run's end.
    pub fn next_of_all(&mut self) -> Option<Story> {
        self.open.pop_front().map(|(story, _)| story)
    }
}
