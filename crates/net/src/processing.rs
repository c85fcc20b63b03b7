//! Processing delay: what a host takes to handle a packet before it leaves. It is random, and packets keep their order.
//!
//! It breaks the phase effects of drop-tail queues (Floyd and Jacobson 1992, §3), as ns-2's `overhead_` does. That one
//! draws a time for each burst of a sender; here each packet has one of its own, at both ends.

use crate::element::{Element, Output, lacks};
use lasthop_base::{Duration, Stream, Time};
use lasthop_wire::{Backlog, Packet};

/// An element that no link has: a flow's packets pass it inside their host. What is in it waits in no queue.
pub struct Processing {
    most: Duration,
    random: Stream,
    last: Time,
}

impl Processing {
    /// Each packet takes a time evenly distributed up to `most`, or until the one before it leaves.
    pub fn new(most: Duration, random: Stream) -> Processing {
        Processing { most, random, last: Time::ZERO }
    }
}

impl Element for Processing {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let late = Duration::from_secs_f64(self.random.uniform() * self.most.as_secs());
        self.last = self.last.max(now + late);
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

    lacks!(copies, passing, peer, pdus, average, trouble, settings, changes);
}
