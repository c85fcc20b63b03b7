//! Packets that wait first in, first out, with the times at which they came: what most queues here are made of.

use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, Packet};
use std::collections::VecDeque;

/// A queue from whose front packets are taken.
pub(super) trait Front {
    /// Takes the first one, with the time at which it came.
    fn pop(&mut self) -> Option<(Time, Packet)>;

    /// What waits, bytes.
    fn bytes(&self) -> u64;
}

/// See the file.
#[derive(Default)]
pub(super) struct Waiting {
    packets: VecDeque<(Time, Packet)>,
    bytes: u64,
}

impl Waiting {
    /// Adds one that comes at `now`.
    pub(super) fn push(&mut self, now: Time, packet: Packet) {
        self.bytes += u64::from(packet.wire_bytes);
        self.packets.push_back((now, packet));
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// The first one.
    pub(super) fn first(&self) -> Option<&Packet> {
        self.packets.front().map(|(_, packet)| packet)
    }

    /// How long the first one has waited.
    pub(super) fn waits(&self, now: Time) -> Duration {
        self.packets.front().map_or(Duration::ZERO, |(came, _)| now.since(*came))
    }

    /// Whether the last one carries a mark.
    #[cfg(test)]
    pub(super) fn last_is_marked(&self) -> bool {
        self.packets.back().is_some_and(|(_, packet)| packet.ecn == lasthop_wire::Ecn::Ce)
    }

    /// What waits, as a queue tells it.
    pub(super) fn backlog(&self) -> Backlog {
        Backlog { waiting: self.packets.len() as u32, in_service: false, bytes: self.bytes }
    }
}

impl Front for Waiting {
    fn pop(&mut self) -> Option<(Time, Packet)> {
        let first = self.packets.pop_front()?;
        self.bytes -= u64::from(first.1.wire_bytes);
        Some(first)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
