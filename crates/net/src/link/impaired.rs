//! Duplicates and damages packets before they enter a link direction, as netem's `duplicate` and `corrupt` do
//! (tc-netem(8)). Causes residual losses after the direction.
//!
//! Duplicates and damage have random streams of their own, so that other random draws do not change. A copy has its own
//! packet number, and enters right after the original. Queue limit, channel, damage and jitter apply to the copy, but
//! this link does not duplicate the copy. A damaged packet uses capacity of this link and of later links, and the
//! receiving host discards the packet. As in netem, damage happens before the queue, and link layers do not repair the
//! damage.
//!
//! A residual loss destroys a packet after the link layer has delivered the packet, so the link layer does not
//! retransmit. Random numbers are drawn in the order of delivery.

use super::{Config, LinkDirection};
use crate::change::LinkChange;
use crate::channel::{Channel, Reception, Transmission};
use crate::discipline::Discipline;
use crate::element::{Element, Output, forwards, lacks};
use lasthop_base::{Stream, Time};
use lasthop_wire::{LossReason, Packet};

pub(crate) struct ImpairedLink {
    inner: LinkDirection,
    duplicates: Chance,
    corrupts: Chance,
    residual: Option<Box<dyn Channel>>,
    /// Latest arrival so far. The channel of residual losses needs its transmissions in time order.
    last_arrival: Time,
}

struct Chance {
    share: f64,
    random: Stream,
}

impl Chance {
    fn happens(&mut self) -> bool {
        self.share > 0.0 && self.random.uniform() < self.share
    }

    fn draws(&self) -> bool {
        self.share > 0.0 && self.share < 1.0
    }
}

impl ImpairedLink {
    /// Wraps `inner` with duplicates, damage and residual losses, if configured. `random` is a copy of the channel's
    /// stream.
    pub(crate) fn wrap(config: &Config, mut inner: LinkDirection, random: Stream) -> LinkDirection {
        let residual = config.residual_with(Stream::named(random.clone().draw(), "residual"));
        if config.duplicate <= 0.0 && config.corrupt <= 0.0 && residual.is_none() {
            return inner;
        }
        inner.track_backlog();
        let chance = |share, name| Chance { share, random: Stream::named(random.clone().draw(), name) };
        let [duplicates, corrupts] =
            [chance(config.duplicate, "duplicate"), chance(config.corrupt, "corrupt")];
        let last_arrival = Time::ZERO;
        LinkDirection::Element(Box::new(ImpairedLink { inner, duplicates, corrupts, residual, last_arrival }))
    }

    fn join(&mut self, now: Time, mut packet: Packet, out: &mut Vec<Output>) {
        packet.damaged |= self.corrupts.happens();
        let from = out.len();
        self.inner.carry(now, packet, out);
        self.apply_residual_losses(from, out);
    }

    /// Applies residual losses to all arrivals in `out[from..]`.
    fn apply_residual_losses(&mut self, from: usize, out: &mut [Output]) {
        let Some(channel) = &mut self.residual else { return };
        for output in &mut out[from..] {
            let Output::Arrives { packet, at } = *output else { continue };
            self.last_arrival = self.last_arrival.max(at);
            let time = self.last_arrival;
            let transmission = Transmission {
                start: time,
                end: time,
                bytes: packet.wire_bytes,
                priority: packet.priority,
                attempt: 0,
            };
            if channel.transmit(&transmission) == Reception::Lost {
                *output = Output::lost(packet, at, LossReason::Channel);
            }
        }
    }
}

impl Element for ImpairedLink {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.join(now, packet, out);
        if self.duplicates.happens() {
            out.push(Output::Duplicate { packet });
        }
    }

    fn handle_copy(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.join(now, packet, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.handle_timeout(now, out);
        self.apply_residual_losses(from, out);
    }

    fn draws(&self) -> bool {
        let residual = self.residual.as_ref().is_some_and(|channel| channel.draws());
        residual || self.duplicates.draws() || self.corrupts.draws() || self.inner.draws()
    }

    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.change(now, change, out);
        self.apply_residual_losses(from, out);
    }

    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        let from = out.len();
        self.inner.set_queue(now, queue, out);
        self.apply_residual_losses(from, out);
    }

    forwards!(inner: deadline, backlog, peer, pdus, average, failures, settings);
    lacks!(bypass);
}
