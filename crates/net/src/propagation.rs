//! Variable delay of a link, planned and random (jitter), in addition to the constant propagation delay.

use crate::change::LinkChange;
use crate::discipline::Discipline;
use crate::element::{Element, Output, forwards, lacks};
use crate::jitter::Jitter;
use crate::steps::{PlanCursor, Steps};
use lasthop_base::{Duration, Time};
use lasthop_wire::Packet;

pub(crate) struct VariableDelay {
    plan: Option<PlanCursor<Duration>>,
    jitter: Box<dyn Jitter>,
}

impl VariableDelay {
    /// Builds the variable delay. Returns `None` if there is neither a plan nor jitter.
    pub(crate) fn new(plan: Option<Steps<Duration>>, jitter: Box<dyn Jitter>) -> Option<Box<VariableDelay>> {
        let is_needed = plan.is_some() || !jitter.is_none();
        is_needed.then(|| Box::new(VariableDelay { plan: plan.map(PlanCursor::new), jitter }))
    }

    /// Returns the additional delay of a packet whose transmission ends at `now`. Not inlined, because most links have
    /// no additional delay.
    #[inline(never)]
    pub(crate) fn delay(&mut self, now: Time) -> Duration {
        let planned = self.plan.as_mut().map_or(Duration::ZERO, |plan| plan.at(now));
        if self.jitter.is_none() { planned } else { planned + self.jitter.delay(now) }
    }

    pub(crate) fn reorders(&self) -> bool {
        self.jitter.reorders()
    }

    pub(crate) fn draws(&self) -> bool {
        self.jitter.draws() || self.plan.as_ref().is_some_and(PlanCursor::draws)
    }
}

/// A direction whose link layer is an element. Adds the variable delay to each arrival that this element outputs.
pub(crate) struct Delayed {
    inner: Box<dyn Element>,
    variable_delay: Box<VariableDelay>,
    last_arrival: Time,
}

impl Delayed {
    pub(crate) fn new(inner: Box<dyn Element>, variable_delay: Box<VariableDelay>) -> Delayed {
        Delayed { inner, variable_delay, last_arrival: Time::ZERO }
    }

    /// Adds the delay to all arrivals in `out[from..]`.
    fn delay(&mut self, from: usize, out: &mut [Output]) {
        for output in &mut out[from..] {
            if let Output::Arrives { at, .. } = output {
                *at += self.variable_delay.delay(*at);
                if !self.variable_delay.reorders() {
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
        self.inner.draws() || self.variable_delay.draws()
    }

    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.change(now, change, out);
        self.delay(from, out);
    }

    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.set_queue(now, queue, out);
        self.delay(from, out);
    }

    forwards!(inner: deadline, backlog, peer, pdus, average, failures, settings);
    lacks!(copies, bypass);
}
