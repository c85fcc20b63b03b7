//! Light traces ([`crate::service::Light`]) before a direction's queue. Each packet waits for its base delay and for a
//! transmission opportunity of its packet train. If the train has no opportunity left, the packet enters the queue.
//! While another packet is in the queue or in transmission, all packets enter the queue.
//!
//! Packets that use an opportunity of their train bypass queue and service. Channel, retransmission, jitter and the
//! link's delay apply to all packets. The backlog does not count packets that wait for their train.
//!
//! A rate that is set at run time replaces the opportunities of trains, too: all packets then wait for their base delay
//! and enter the queue.

use super::{Config, LinkDirection};
use crate::change::LinkChange;
use crate::discipline::Discipline;
use crate::element::{Element, Output, forwards, lacks};
use crate::service::{Released, TrainCursor};
use lasthop_base::Time;
use lasthop_wire::Packet;
use std::collections::VecDeque;

pub(super) struct TrainGate {
    inner: LinkDirection,
    trains: TrainCursor,
    waiting: VecDeque<(Released, Packet)>,
    /// Whether the trains have opportunities: false after a change of the rate.
    has_opportunities: bool,
}

impl TrainGate {
    /// Wraps `inner` with the light trace, if configured.
    pub(super) fn wrap(config: &Config, mut inner: LinkDirection) -> LinkDirection {
        let Some(light) = &config.light else { return inner };
        inner.track_backlog();
        LinkDirection::Element(Box::new(TrainGate {
            inner,
            trains: TrainCursor::new(light),
            waiting: VecDeque::new(),
            has_opportunities: true,
        }))
    }

    fn release(&mut self, now: Time, bypasses_queue: bool, packet: Packet, out: &mut Vec<Output>) {
        let queue = self.inner.backlog(now);
        if bypasses_queue && queue.waiting == 0 && !queue.in_service {
            self.inner.carry_bypass(now, packet, out);
        } else {
            self.inner.carry(now, packet, out);
        }
    }
}

impl Element for TrainGate {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let released = match self.has_opportunities {
            true => self.trains.release(now, packet.wire_bytes),
            false => self.trains.release_to_queue(now),
        };
        self.waiting.push_back((released, packet));
        self.handle_timeout(now, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.inner.poll_timeout() <= now {
            self.inner.handle_timeout(now, out);
        }
        while let Some((released, packet)) = self.waiting.front().copied()
            && released.at <= now
        {
            self.waiting.pop_front();
            self.release(now, released.bypasses_queue, packet, out);
        }
    }

    fn poll_timeout(&self) -> Time {
        let inner = self.inner.poll_timeout();
        self.waiting.front().map_or(inner, |(released, _)| released.at.min(inner))
    }

    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        if change.bps.is_some() {
            self.has_opportunities = false;
            self.waiting.iter_mut().for_each(|(released, _)| released.bypasses_queue = false);
        }
        self.inner.change(now, change, out);
    }

    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        self.inner.set_queue(now, queue, out);
    }

    forwards!(inner: backlog, peer, draws, pdus, average, failures, settings);
    // Packets do not bypass the trains, and only the outer element ([`super::impaired`]) handles copies of packets.
    lacks!(copies, bypass);
}
