//! A packet's whole story: when its source sent it, what it carried, and how it ended.
//!
//! The engine tells of each hop as it happens. Here the hops of a packet come
//! together, and stories leave in the order in which they began, as soon as they
//! have ended: memory holds what is in flight, whatever the run's length.

use lasthop_base::Time;
use lasthop_engine::{Fate, PipeId};
use lasthop_wire::{LossReason, Packet};
use std::collections::VecDeque;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End {
    /// It reached the other end of its flow.
    Arrived(Time),
    /// It was lost on this pipe.
    Lost(PipeId, LossReason),
    /// The run ended before it did.
    Unfinished,
}

/// A packet, from its first hop to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Story {
    /// When the source sent it.
    pub sent: Time,
    /// The packet as it was sent.
    pub packet: Packet,
    /// How it ended.
    pub end: End,
}

/// Collects stories.
#[derive(Default)]
pub struct Stories {
    /// Packets by number from `first` on; `None` in between for those already told or never begun.
    open: VecDeque<(Story, bool)>,
    first: u64,
}

impl Stories {
    /// A packet enters the `hop`-th pipe of `hops` on its way.
    pub fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, hops: usize, fate: Fate) {
        if packet.hop == 0 {
            self.open.push_back((Story { sent: now, packet: *packet, end: End::Unfinished }, false));
        }
        self.on_fate(pipe, packet, hops, fate);
    }

    /// The fate of a packet on the pipe where it is, of `hops` on its way, is known.
    pub fn on_fate(&mut self, pipe: PipeId, packet: &Packet, hops: usize, fate: Fate) {
        let place = packet.number.checked_sub(self.first);
        let Some((story, ended)) = place.and_then(|place| self.open.get_mut(place as usize)) else { return };
        match fate {
            Fate::Lost(reason) => story.end = End::Lost(pipe, reason),
            Fate::Arrives(at) if usize::from(packet.hop) + 1 == hops => story.end = End::Arrived(at),
            Fate::Arrives(_) | Fate::Open => return,
        }
        *ended = true;
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
        let (story, _) = self.open.pop_front()?;
        self.first += 1;
        Some(story)
    }
}
