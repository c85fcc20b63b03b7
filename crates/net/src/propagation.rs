//! Additions to a constant propagation delay: planned changes, and jitter.

use crate::change::Change;
use crate::element::{Element, Output, forwards, lacks};
use crate::jitter::Jitter;
use crate::steps::{Course, Steps};
use lasthop_base::{Duration, Time};
use lasthop_wire::Packet;

pub(crate) struct Extra {
    plan: Option<Course<Duration>>,
    jitter: Box<dyn Jitter>,
}

impl Extra {
    /// `None` without additions.
    pub(crate) fn new(plan: Option<Steps<Duration>>, jitter: Box<dyn Jitter>) -> Option<Box<Extra>> {
        let is_needed = plan.is_some() || !jitter.is_none();
        is_needed.then(|| Box::new(Extra { plan: plan.map(Course::new), jitter }))
    }

    /// Additional delay of a packet whose transmission ends at `now`. Not inlined: most links have none.
    #[inline(never)]
    pub(crate) fn late(&mut self, now: Time) -> Duration {
        let planned = self.plan.as_mut().map_or(Duration::ZERO, |plan| plan.at(now));
        if self.jitter.is_none() { planned } else { planned + self.jitter.late(now) }
    }

    pub(crate) fn reorders(&self) -> bool {
        self.jitter.reorders()
    }

    pub(crate) fn draws(&self) -> bool {
        self.jitter.draws() || self.plan.as_ref().is_some_and(Course::draws)
    }
}

/// A direction with its own link layer, and extra delay behind.
pub(crate) struct Delayed {
    inner: Box<dyn Element>,
    extra: Box<Extra>,
    last_arrival: Time,
}

impl Delayed {
    pub(crate) fn new(inner: Box<dyn Element>, extra: Box<Extra>) -> Delayed {
        Delayed { inner, extra, last_arrival: Time::ZERO }
    }

    /// Delays arrivals from the `from`-th output on.
    fn delay(&mut self, from: usize, out: &mut [Output]) {
        for output in &mut out[from..] {
            if let Output::Arrives { at, .. } = output {
                *at += self.extra.late(*at);
                if !self.extra.reorders() {
                    *at = (*at).max(self.last_arrival);
                    self.last_arrival = *at;
                }
            }
        }
    }
}

impl Element for Delayed {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.handle_packet(now, packet, out);
        self.delay(from, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.handle_timeout(now, out);
        self.delay(from, out);
    }

    fn draws(&self) -> bool {
        self.inner.draws() || self.extra.draws()
    }

    fn change(&mut self, now: Time, change: &Change, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.change(now, change, out);
        self.delay(from, out);
    }

    forwards!(inner: deadline, backlog, peer, pdus, average, trouble, settings);
    lacks!(copies, passing);
}
