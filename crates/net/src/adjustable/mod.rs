//! One direction of a link whose rate, delay, losses and queue may change at run time, for emulation with real traffic
//! and for runs that a caller steers.
//!
//! * This file: a direction without a link layer of its own. `rate`: its rate, and the packet in transmission.
//! * `ordered`: a direction with a link layer.
//!
//! Without changes, packets arrive and are lost exactly as on a [`crate::Link`] or a
//! [`crate::scheduled::ScheduledLink`] of the same configuration. Loss and arrival time of a packet are determined when
//! its last bit is sent. A change of a setting therefore affects queued packets and the packet in transmission, but no
//! packet sent earlier.

mod ordered;
mod rate;

pub(crate) use ordered::OrderedLayer;

use crate::arq::{self, Arq, ArqOutcome};
use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::channel::{self, Channel, Transmission};
use crate::discipline::Discipline;
use crate::element::{Element, Output, lacks};
use crate::link_queue::LinkQueue;
use crate::propagation::VariableDelay;
use crate::service::Service;
use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, LossReason, Packet};
use rate::{LinkRate, Sending};

pub(crate) struct AdjustableLink {
    delay: Duration,
    variable_delay: Option<Box<VariableDelay>>,
    channel: Box<dyn Channel>,
    arq: Box<dyn Arq>,
    rate: LinkRate,
    queue: LinkQueue,
    sending: Option<Sending>,
    /// Earliest start of the next transmission. With a stop-and-wait ARQ, this time may be later than the end of the
    /// current transmission.
    held_until: Time,
    /// Time of the next dequeue if no packet is in transmission; [`Time::NEVER`] if the queue is empty.
    dequeues_at: Time,
    keeps_order: bool,
    draws_rate: bool,
    last_arrival: Time,
    reports_failures: bool,
}

pub(crate) struct AdjustableParts {
    pub(crate) service: Service,
    pub(crate) delay: Duration,
    pub(crate) variable_delay: Option<Box<VariableDelay>>,
    pub(crate) queue: Discipline,
    pub(crate) channel: Box<dyn Channel>,
    pub(crate) arq: Box<dyn Arq>,
}

impl AdjustableLink {
    pub(crate) fn new(parts: AdjustableParts) -> AdjustableLink {
        AdjustableLink {
            keeps_order: parts.arq.keeps_order()
                && !parts.variable_delay.as_ref().is_some_and(|variable_delay| variable_delay.reorders()),
            draws_rate: parts.service.draws(),
            rate: LinkRate::new(&parts.service),
            queue: LinkQueue::new(parts.queue),
            delay: parts.delay,
            variable_delay: parts.variable_delay,
            channel: parts.channel,
            arq: parts.arq,
            sending: None,
            held_until: Time::ZERO,
            dequeues_at: Time::NEVER,
            last_arrival: Time::ZERO,
            reports_failures: false,
        }
    }

    /// Ends the transmissions that are complete by `now`, and starts the next ones.
    fn advance(&mut self, now: Time, out: &mut Vec<Output>) {
        loop {
            if self.sending.as_ref().is_some_and(|sending| sending.ends > now) {
                return;
            }
            if let Some(sending) = self.sending.take() {
                self.send(&sending, out);
            }
            self.dequeues_at = Time::NEVER;
            if self.queue.is_empty() {
                return;
            }
            if self.held_until > now {
                self.dequeues_at = self.held_until;
                return;
            }
            let Some(packet) = self.queue.pop(now, out) else {
                self.dequeues_at = if self.queue.is_empty() { Time::NEVER } else { self.queue.ready_at(now) };
                return;
            };
            // The transmitter became free at `held_until`, possibly before `now`. The next packet started at that time.
            self.sending = Some(self.rate.begin(self.held_until, packet));
        }
    }

    fn is_busy(&self, now: Time) -> bool {
        self.sending.is_some() || self.held_until > now
    }

    /// Starts to send at `now` if the transmitter is idle and a packet waits.
    fn resume(&mut self, now: Time, out: &mut Vec<Output>) {
        if !self.is_busy(now) && !self.queue.is_empty() {
            self.held_until = now;
        }
        self.advance(now, out);
    }

    /// Packets ahead of the queue. In a first-in-first-out queue, a packet that waits for an opportunity of a recorded
    /// rate counts as a packet of the queue.
    fn ahead(&self, now: Time) -> Backlog {
        let in_service = self.is_busy(now);
        match &self.sending {
            Some(sending) if sending.begins > now && self.queue.fifo().is_some() => {
                Backlog { waiting: 1, in_service, bytes: u64::from(sending.packet.wire_bytes) }
            }
            _ => Backlog { waiting: 0, in_service, bytes: 0 },
        }
    }

    fn send(&mut self, sending: &Sending, out: &mut Vec<Output>) {
        self.propagate(sending.begins, sending.ends, sending.packet, out);
    }

    fn propagate(&mut self, begins: Time, ends: Time, packet: Packet, out: &mut Vec<Output>) {
        let transmission = Transmission {
            start: begins,
            end: ends,
            bytes: packet.wire_bytes,
            priority: packet.priority,
            attempt: 0,
        };
        let outcome = arq::transmit(&transmission, &mut *self.channel, &mut *self.arq);
        self.held_until = ends + outcome.occupancy;
        if self.reports_failures && outcome != ArqOutcome::FIRST_TRY {
            out.push(Output::TransmissionFailed { packet, failures: outcome.failures(ends) });
        }
        let mut at = ends + outcome.delay + self.delay;
        if let Some(variable_delay) = &mut self.variable_delay {
            at += variable_delay.delay(ends);
        }
        if self.keeps_order {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        out.push(if outcome.is_delivered {
            Output::Arrives { packet, at }
        } else {
            let readable = outcome.is_readable(&transmission, &*self.channel);
            Output::Lost { packet, at, reason: LossReason::Channel, readable }
        });
    }
}

impl Element for AdjustableLink {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        if self.queue.fifo().is_some() {
            self.advance(now, out);
        }
        let idle = if self.is_busy(now) { Duration::ZERO } else { now.since(self.held_until) };
        let ahead = self.ahead(now);
        self.queue.push_behind(now, packet, &ahead, idle, out);
        self.resume(now, out);
    }

    fn handle_bypass(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.propagate(now, now, packet, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now < self.poll_timeout() {
            return;
        }
        if self.sending.is_none() {
            self.held_until = self.held_until.max(self.dequeues_at);
        }
        self.advance(now, out);
    }

    fn poll_timeout(&self) -> Time {
        self.sending.as_ref().map_or(self.dequeues_at, |sending| sending.ends)
    }

    fn report_failures(&mut self) -> bool {
        self.reports_failures = true;
        true
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        let (queue, ahead) = (self.queue.backlog(), self.ahead(now));
        Backlog { waiting: queue.waiting + ahead.waiting, bytes: queue.bytes + ahead.bytes, ..ahead }
    }

    fn draws(&self) -> bool {
        self.queue.draws()
            || self.channel.draws()
            || self.draws_rate
            || self.variable_delay.as_ref().is_some_and(|variable_delay| variable_delay.draws())
    }

    fn average(&self) -> Option<f64> {
        self.queue.average()
    }

    fn settings(&self) -> Option<LinkSettings> {
        Some(LinkSettings { bps: self.rate.bps(), delay: self.delay, loss: self.channel.loss_probability() })
    }

    fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused> {
        channel::refusal(&*self.channel, change)
    }

    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        self.advance(now, out);
        self.delay = change.delay.unwrap_or(self.delay);
        if let Some(share) = change.loss {
            self.channel.set_loss_probability(share);
        }
        if let Some(bps) = change.bps {
            self.rate.set(now, bps, self.sending.as_mut());
        }
    }

    fn queue_refusal(&self) -> Option<ChangeRefused> {
        None
    }

    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        self.advance(now, out);
        let ahead = self.ahead(now);
        self.queue.replace(now, queue, &ahead, out);
        self.resume(now, out);
    }

    fn queueing_delay(&mut self, now: Time) -> Option<Duration> {
        let free = self.sending.as_ref().map_or(Time::ZERO, |sending| sending.ends).max(self.held_until);
        let waiting = self.queue.fifo()?;
        let start = free.max(now);
        let time = self.rate.time_for(start, waiting.iter())?;
        (free < Time::NEVER).then(|| start.since(now) + time)
    }

    lacks!(copies, peer, pdus);
}
