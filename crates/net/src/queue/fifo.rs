//! A first-in-first-out queue of packets, with arrival times.

use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, Packet};
use std::collections::VecDeque;

pub(super) trait Front {
    /// Removes the first packet, and returns it with its arrival time.
    fn pop(&mut self) -> Option<(Time, Packet)>;

    fn bytes(&self) -> u64;
}

#[derive(Default)]
pub(super) struct PacketFifo {
    packets: VecDeque<(Time, Packet)>,
    bytes: u64,
}

impl PacketFifo {
    pub(super) fn push(&mut self, now: Time, packet: Packet) {
        self.bytes += u64::from(packet.wire_bytes);
        self.packets.push_back((now, packet));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn first(&self) -> Option<&Packet> {
        self.packets.front().map(|(_, packet)| packet)
    }

    /// Time for which the first packet has waited.
    pub(super) fn head_delay(&self, now: Time) -> Duration {
        self.packets.front().map_or(Duration::ZERO, |(arrived_at, _)| now.since(*arrived_at))
    }

    #[cfg(test)]
    pub(super) fn last_is_marked(&self) -> bool {
        self.packets.back().is_some_and(|(_, packet)| packet.ecn == lasthop_wire::Ecn::Ce)
    }

    pub(super) fn backlog(&self) -> Backlog {
        Backlog { waiting: self.packets.len() as u32, in_service: false, bytes: self.bytes }
    }
}

impl Front for PacketFifo {
    fn pop(&mut self) -> Option<(Time, Packet)> {
        let first = self.packets.pop_front()?;
        self.bytes -= u64::from(first.1.wire_bytes);
        Some(first)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
