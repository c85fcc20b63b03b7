//! One direction of a link whose queue may drop packets at dequeue, or removes packets from its middle.

use crate::arq::{self, Arq, ArqOutcome};
use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::channel::{self, Channel, Transmission};
use crate::discipline::Discipline;
use crate::element::{Element, Output, lacks};
use crate::propagation::VariableDelay;
use crate::queue::{Dropped, Queue};
use crate::service::{Served, Server, Service};
use lasthop_base::{Duration, Rate, Time};
use lasthop_wire::{Backlog, LossReason, Packet};

/// A link direction that serves one packet at a time, from its queue to the channel and the propagation delay.
pub struct ScheduledLink {
    queue: Box<dyn Queue>,
    server: Server,
    delay: Duration,
    variable_delay: Option<Box<VariableDelay>>,
    keeps_order: bool,
    draws_rate: bool,
    channel: Box<dyn Channel>,
    arq: Box<dyn Arq>,
    is_lossless: bool,
    reports_failures: bool,
    waiting: u32,
    /// Whether the rate was set to 0.
    is_stopped: bool,
    frees_at: Time,
    /// Time of the next dequeue; [`Time::NEVER`] if the queue is empty or the rate is 0.
    dequeues_at: Time,
    last_arrival: Time,
    dropped: Dropped,
}

impl ScheduledLink {
    /// Builds a direction of this rate and one-way delay.
    pub fn new(
        service: &Service,
        delay: Duration,
        queue: Box<dyn Queue>,
        channel: Box<dyn Channel>,
        arq: Box<dyn Arq>,
    ) -> ScheduledLink {
        ScheduledLink {
            queue,
            is_lossless: channel.is_perfect(),
            reports_failures: false,
            waiting: 0,
            channel,
            keeps_order: arq.keeps_order(),
            draws_rate: service.draws(),
            variable_delay: None,
            arq,
            server: Server::new(service),
            delay,
            is_stopped: false,
            frees_at: Time::ZERO,
            dequeues_at: Time::NEVER,
            last_arrival: Time::ZERO,
            dropped: Dropped::new(),
        }
    }

    /// Adds planned delay and jitter.
    pub(crate) fn with_variable_delay(mut self, variable_delay: Option<Box<VariableDelay>>) -> ScheduledLink {
        self.keeps_order &= !variable_delay.as_ref().is_some_and(|variable_delay| variable_delay.reorders());
        self.variable_delay = variable_delay;
        self
    }

    fn serve(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.is_stopped {
            self.dequeues_at = Time::NEVER;
            return;
        }
        if now < self.frees_at {
            self.dequeues_at = self.frees_at;
            return;
        }
        let packet = self.queue.dequeue(now, &mut self.dropped);
        if !self.dropped.is_empty() {
            self.report_drops(now, out);
        }
        match &packet {
            Some(packet) => self.transmit(now, packet, out),
            None => self.dequeues_at = self.queue.ready_at(now),
        }
    }

    #[inline(never)]
    fn transmit(&mut self, now: Time, packet: &Packet, out: &mut Vec<Output>) {
        debug_assert_eq!(self.queue.backlog().waiting + 1, self.waiting);
        let served = self.server.serve(now, packet.wire_bytes);
        self.propagate(served, packet, out);
        self.waiting -= 1;
        self.dequeues_at = if self.waiting > 0 { self.frees_at } else { Time::NEVER };
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn propagate(&mut self, served: Served, packet: &Packet, out: &mut Vec<Output>) {
        if !self.is_lossless {
            return self.propagate_lossy(served, packet, out);
        }
        self.frees_at = served.ends;
        let at = self.arrival(served.ends, served.ends);
        out.push(Output::Arrives { packet: *packet, at });
    }

    #[inline(never)]
    fn propagate_lossy(&mut self, served: Served, packet: &Packet, out: &mut Vec<Output>) {
        let transmission = Transmission {
            start: served.begins,
            end: served.ends,
            bytes: packet.wire_bytes,
            priority: packet.priority,
            attempt: 0,
        };
        let outcome = arq::transmit(&transmission, &mut *self.channel, &mut *self.arq);
        self.frees_at = served.ends + outcome.occupancy;
        let at = self.arrival(served.ends, served.ends + outcome.delay);
        if self.reports_failures && outcome != ArqOutcome::FIRST_TRY {
            out.push(Output::TransmissionFailed { packet: *packet, failures: outcome.failures(served.ends) });
        }
        out.push(if outcome.is_delivered {
            Output::Arrives { packet: *packet, at }
        } else {
            let readable = outcome.is_readable(&transmission, &*self.channel);
            Output::Lost { packet: *packet, at, reason: LossReason::Channel, readable }
        });
    }

    /// Returns the arrival time of a packet, or the time at which a lost packet is given up. The packet's first
    /// transmission ends at `ends`, its last transmission at `done`.
    #[inline(always)]
    fn arrival(&mut self, ends: Time, done: Time) -> Time {
        let mut at = done + self.delay;
        if let Some(variable_delay) = &mut self.variable_delay {
            at += variable_delay.delay(ends);
        }
        if self.keeps_order {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        at
    }

    #[cold]
    fn report_drops(&mut self, now: Time, out: &mut Vec<Output>) {
        self.waiting -= self.dropped.len() as u32;
        out.extend(self.dropped.drain(..).map(|(packet, reason)| Output::lost(packet, now, reason)));
    }
}

impl Element for ScheduledLink {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.waiting += 1;
        self.queue.enqueue(now, packet, &mut self.dropped);
        if !self.dropped.is_empty() {
            self.report_drops(now, out);
        }
        self.serve(now, out);
    }

    fn handle_bypass(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.propagate(Served { begins: now, ends: now }, &packet, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.dequeues_at {
            self.dequeues_at = Time::NEVER;
            self.serve(now, out);
        }
    }

    fn poll_timeout(&self) -> Time {
        self.dequeues_at
    }

    fn report_failures(&mut self) -> bool {
        self.reports_failures = true;
        true
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        let backlog = self.queue.backlog();
        debug_assert_eq!(backlog.waiting, self.waiting);
        Backlog { in_service: self.frees_at > now, ..backlog }
    }

    fn draws(&self) -> bool {
        self.queue.draws()
            || self.channel.draws()
            || self.draws_rate
            || self.variable_delay.as_ref().is_some_and(|variable_delay| variable_delay.draws())
    }

    fn settings(&self) -> Option<LinkSettings> {
        let bps = match &self.server {
            Server::Rate { rate, .. } => Some(if self.is_stopped { 0 } else { rate.bps() }),
            Server::Plan(_) | Server::Trace(_) => None,
        };
        Some(LinkSettings { bps, delay: self.delay, loss: self.channel.loss_probability() })
    }

    fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused> {
        let by_rate = match (&self.server, change.bps) {
            (_, None) | (Server::Rate { .. }, _) => None,
            (Server::Plan(_), Some(_)) => {
                Some(ChangeRefused("it was not built for changes, and its rate follows a plan"))
            }
            (Server::Trace(_), Some(_)) => {
                Some(ChangeRefused("it was not built for changes, and its rate is recorded"))
            }
        };
        by_rate.or_else(|| channel::refusal(&*self.channel, change))
    }

    /// Applies a change. The packet in transmission keeps its rate.
    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        self.delay = change.delay.unwrap_or(self.delay);
        if let Some(share) = change.loss {
            self.channel.set_loss_probability(share);
        }
        if let Some(bps) = change.bps {
            self.server = Server::new(&Service::Rate(Rate::from_bps(bps)));
            self.is_stopped = bps == 0;
            self.serve(now, out);
        }
    }

    fn queue_refusal(&self) -> Option<ChangeRefused> {
        Some(ChangeRefused("it was not built for changes, and keeps its queue"))
    }

    fn set_queue(&mut self, _: Time, _: Discipline, _: &mut Vec<Output>) {}

    fn queueing_delay(&mut self, _: Time) -> Option<Duration> {
        None
    }

    lacks!(copies, peer, pdus, average);
}
