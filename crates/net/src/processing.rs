//! Random processing delay of packets in a host, before the first link. Packets keep their order.
//!
//! The delay prevents the phase effects of drop-tail queues (Floyd and Jacobson 1992, §3), as ns-2's `overhead_` does.
//! ns-2 draws a delay for each burst of the sender. Here each packet has its own delay, at the source and at the
//! destination.

use crate::element::{Element, Output, lacks};
use lasthop_base::{Duration, Stream, Time};
use lasthop_wire::{Backlog, Packet};

/// The processing delay of a flow's packets in their host, outside of any link.
pub struct Processing {
    fixed: Duration,
    max_delay: Duration,
    random: Stream,
    last: Time,
}

impl Processing {
    /// Builds a delay that is uniform on 0 to `max_delay`. A packet never leaves before earlier packets.
    pub fn new(max_delay: Duration, random: Stream) -> Processing {
        Processing { fixed: Duration::ZERO, max_delay, random, last: Time::ZERO }
    }

    /// Adds a constant delay, which is the propagation delay of the host's access link.
    pub fn with_fixed(self, fixed: Duration) -> Processing {
        Processing { fixed, ..self }
    }
}

impl Element for Processing {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let late = Duration::from_secs_f64(self.random.uniform() * self.max_delay.as_secs());
        self.last = self.last.max(now + self.fixed + late);
        out.push(Output::Arrives { packet, at: self.last });
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Output>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn backlog(&mut self, _: Time) -> Backlog {
        Backlog::default()
    }

    fn draws(&self) -> bool {
        true
    }

    lacks!(copies, bypass, peer, pdus, average, failures, settings, changes);
}
