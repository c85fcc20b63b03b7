//! A link layer in a direction that is built for changes. After a change to a shorter delay, packets do not arrive before
//! packets that were sent earlier.

use crate::change::LinkChange;
use crate::discipline::Discipline;
use crate::element::{Element, Output, forwards, lacks};
use lasthop_base::Time;
use lasthop_wire::Packet;

pub(crate) struct OrderedLayer {
    inner: Box<dyn Element>,
    /// Latest arrival so far.
    latest: Time,
    /// Earliest arrival permitted: the latest arrival at the time of the last change of the delay.
    earliest: Time,
}

impl OrderedLayer {
    pub(crate) fn new(inner: Box<dyn Element>) -> OrderedLayer {
        OrderedLayer { inner, latest: Time::ZERO, earliest: Time::ZERO }
    }

    /// Postpones arrivals in `out[from..]` that are too early.
    fn put_in_order(&mut self, from: usize, out: &mut [Output]) {
        for output in &mut out[from..] {
            if let Output::Arrives { at, .. } = output {
                *at = (*at).max(self.earliest);
                self.latest = self.latest.max(*at);
            }
        }
    }
}

impl Element for OrderedLayer {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.handle_packet(now, packet, out);
        self.put_in_order(from, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.handle_timeout(now, out);
        self.put_in_order(from, out);
    }

    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        if change.delay.is_some() {
            self.earliest = self.latest;
        }
        let from = out.len();
        self.inner.change(now, change, out);
        self.put_in_order(from, out);
    }

    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.set_queue(now, queue, out);
        self.put_in_order(from, out);
    }

    forwards!(inner: deadline, backlog, peer, draws, pdus, average, failures, settings);
    lacks!(copies, bypass);
}
