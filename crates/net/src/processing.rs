//! Processing delay of a host before its first link: random, in order. It breaks the phase effects of drop-tail queues
//! (Floyd and Jacobson 1992, §3), as ns-2's `overhead_`, which draws once a burst; here each packet has its own delay,
//! at both ends.

use crate::element::{Element, Output, lacks};
use lasthop_base::{Duration, Stream, Time};
use lasthop_wire::{Backlog, Packet};

/// The processing delay of a flow's packets in their host, outside of any link.
pub struct Processing {
    max_delay: Duration,
    random: Stream,
    last: Time,
}

impl Processing {
    /// A delay uniform on 0 to `max_delay`, or until the previous packet leaves.
    pub fn new(max_delay: Duration, random: Stream) -> Processing {
        Processing { max_delay, random, last: Time::ZERO }
    }
}

impl Element for Processing {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let late = Duration::from_secs_f64(self.random.uniform() * self.max_delay.as_secs());
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

    lacks!(copies, bypass, peer, pdus, average, failures, settings, changes);
}
