//! One direction of a link whose rate, delay and losses may change at run time, for emulation with real traffic.
//!
//! Without changes, packets arrive and are lost exactly as on a [`crate::Link`] of the same configuration. Loss and
//! arrival time of a packet are determined when its last bit is sent. A change of a setting therefore affects queued
//! packets and the packet in transmission, but no packet sent earlier.

use crate::admission::{Admission, ArrivalState, Verdict};
use crate::arq::{self, Arq, ArqOutcome};
use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::channel::{self, Channel, Transmission};
use crate::element::{Element, Output, lacks};
use crate::propagation::VariableDelay;
use lasthop_base::{Duration, Rate, Time};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::collections::VecDeque;

pub(crate) struct AdjustableLink {
    parts: AdjustableParts,
    bps: u64,
    waiting: VecDeque<Packet>,
    bytes: u64,
    sending: Option<Sending>,
    /// Earliest start of the next transmission. With a stop-and-wait ARQ, this time may be later than the end of the
    /// current transmission.
    held_until: Time,
    keeps_order: bool,
    last_arrival: Time,
    reports_failures: bool,
}

pub(crate) struct AdjustableParts {
    pub(crate) delay: Duration,
    pub(crate) variable_delay: Option<Box<VariableDelay>>,
    pub(crate) admission: Box<dyn Admission>,
    pub(crate) channel: Box<dyn Channel>,
    pub(crate) arq: Box<dyn Arq>,
}

struct Sending {
    packet: Packet,
    begins: Time,
    /// Part of the packet that was unsent at the time `since`, in units of 10^-9 bits. `since` is the time of the last
    /// rate change, or the start of the transmission.
    left: u128,
    since: Time,
    ends: Time,
}

const NANOS: u128 = 1_000_000_000;

impl AdjustableLink {
    pub(crate) fn new(rate: Rate, parts: AdjustableParts) -> AdjustableLink {
        AdjustableLink {
            keeps_order: parts.arq.keeps_order()
                && !parts.variable_delay.as_ref().is_some_and(|variable_delay| variable_delay.reorders()),
            parts,
            bps: rate.bps(),
            waiting: VecDeque::new(),
            bytes: 0,
            sending: None,
            held_until: Time::ZERO,
            last_arrival: Time::ZERO,
            reports_failures: false,
        }
    }

    /// Returns the time at which a transmission ends if its part `left` is unsent at the time `since`; [`Time::NEVER`]
    /// at rate 0.
    fn ends(&self, since: Time, left: u128) -> Time {
        match u64::try_from(left.div_ceil(u128::from(self.bps.max(1)))) {
            Ok(nanos) if self.bps > 0 => Time::from_nanos(since.as_nanos().saturating_add(nanos)),
            _ => Time::NEVER,
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
            if self.held_until > now {
                return;
            }
            // The transmitter became free at `held_until`, possibly before `now`. The next packet started at that time.
            let Some(packet) = self.waiting.pop_front() else { return };
            self.bytes -= u64::from(packet.wire_bytes);
            self.begin(self.held_until, packet);
        }
    }

    fn begin(&mut self, now: Time, packet: Packet) {
        let left = u128::from(packet.wire_bytes) * 8 * NANOS;
        self.sending = Some(Sending { packet, begins: now, left, since: now, ends: self.ends(now, left) });
    }

    fn send(&mut self, sending: &Sending, out: &mut Vec<Output>) {
        let Sending { packet, begins, ends, .. } = *sending;
        let transmission = Transmission {
            start: begins,
            end: ends,
            bytes: packet.wire_bytes,
            priority: packet.priority,
            attempt: 0,
        };
        let outcome = arq::transmit(&transmission, &mut *self.parts.channel, &mut *self.parts.arq);
        self.held_until = ends + outcome.occupancy;
        if self.reports_failures && outcome != ArqOutcome::FIRST_TRY {
            out.push(Output::TransmissionFailed { packet, failures: outcome.failures(ends) });
        }
        let mut at = ends + outcome.delay + self.parts.delay;
        if let Some(variable_delay) = &mut self.parts.variable_delay {
            at += variable_delay.delay(ends);
        }
        if self.keeps_order {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        out.push(if outcome.is_delivered {
            Output::Arrives { packet, at }
        } else {
            let readable = outcome.is_readable(&transmission, &*self.parts.channel);
            Output::Lost { packet, at, reason: LossReason::Channel, readable }
        });
    }
}

impl Element for AdjustableLink {
    fn handle_packet(&mut self, now: Time, mut packet: Packet, out: &mut Vec<Output>) {
        self.advance(now, out);
        let busy = self.sending.is_some() || self.held_until > now;
        let idle = if busy { Duration::ZERO } else { now.since(self.held_until) };
        let queue = ArrivalState { backlog: self.backlog(now), idle };
        if let Verdict::Drop(reason) = self.parts.admission.admit(now, &mut packet, &queue) {
            out.push(Output::lost(packet, now, reason));
            return;
        }
        if busy {
            self.bytes += u64::from(packet.wire_bytes);
            self.waiting.push_back(packet);
        } else {
            self.begin(now, packet)
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        self.advance(now, out);
    }

    fn poll_timeout(&self) -> Time {
        match &self.sending {
            Some(sending) => sending.ends,
            None if self.waiting.is_empty() => Time::NEVER,
            None => self.held_until,
        }
    }

    fn report_failures(&mut self) -> bool {
        self.reports_failures = true;
        true
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        Backlog {
            waiting: self.waiting.len() as u32,
            in_service: self.sending.is_some() || self.held_until > now,
            bytes: self.bytes,
        }
    }

    fn draws(&self) -> bool {
        self.parts.admission.draws()
            || self.parts.channel.draws()
            || self.parts.variable_delay.as_ref().is_some_and(|variable_delay| variable_delay.draws())
    }

    fn average(&self) -> Option<f64> {
        self.parts.admission.average()
    }

    fn settings(&self) -> Option<LinkSettings> {
        Some(LinkSettings {
            bps: Some(self.bps),
            delay: self.parts.delay,
            loss: self.parts.channel.loss_probability(),
        })
    }

    fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused> {
        channel::refusal(&*self.parts.channel, change)
    }

    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        self.advance(now, out);
        if let Some(delay) = change.delay {
            self.parts.delay = delay;
        }
        if let Some(share) = change.loss {
            self.parts.channel.set_loss_probability(share);
        }
        let Some(bps) = change.bps else { return };
        let before = std::mem::replace(&mut self.bps, bps);
        if let Some(mut sending) = self.sending.take() {
            let sent = u128::from(before) * u128::from(now.since(sending.since).as_nanos());
            (sending.left, sending.since) = (sending.left.saturating_sub(sent), now);
            sending.ends = self.ends(now, sending.left);
            self.sending = Some(sending);
        }
    }

    fn queueing_delay(&mut self, now: Time) -> Option<Duration> {
        let free = self.sending.as_ref().map_or(Time::ZERO, |sending| sending.ends).max(self.held_until);
        if free == Time::NEVER || self.bps == 0 {
            return None;
        }
        Some(free.since(now) + Rate::from_bps(self.bps).time_for(self.bytes))
    }

    lacks!(copies, bypass, peer, pdus);
}
