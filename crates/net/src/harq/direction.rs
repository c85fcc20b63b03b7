//! One direction of a link, slot by slot.

use super::delivery::{Delivery, Order};
use super::processes::Processes;
use super::reassembly::Reassembly;
use super::sender::{Receiving, Sender};
use super::status::Statuses;
use crate::across::{Across, Status};
use crate::arq::Parts;
use crate::channel::Channel;
use crate::counters::Counters;
use crate::element::{Element, Output, lacks};
use crate::service::Service;
use crate::span::Span;
use crate::store::Store;
use lasthop_base::{Duration, Time, Values};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::collections::VecDeque;

/// Bytes of a status in a block: a header, three NACKs with ranges (our choice).
pub(super) const STATUS: u64 = 16;
/// Smallest payload of a block, bytes; at a low rate a block waits for several slots.
const LEAST: u64 = 16;

pub(super) struct Direction {
    slot: Duration,
    least: u64,
    service: Service,
    channel: Box<dyn Channel>,
    draws: bool,
    processes: Processes,
    sender: Sender,
    reassembly: Reassembly,
    delivery: Delivery,
    statuses: Statuses,
    /// Status reports for the other direction.
    carried: VecDeque<Status>,
    /// Time at which the transmitter is free, and the next slot used.
    free_at: Time,
    next_slot: Time,
    /// Saved bits of slots too small for a block.
    saved: u64,
    new: Vec<Span>,
}

impl Direction {
    pub(super) fn new(values: &Values, parts: Parts) -> Direction {
        let order = match values.word("order") {
            "pdcp" => Order::Pdcp(values.duration("t_reordering")),
            "none" => Order::None,
            _ => Order::Rlc,
        };
        Direction {
            slot: values.duration("slot"),
            least: (values.bytes("header") + LEAST).max(STATUS),
            draws: parts.queue.draws() || parts.channel.draws() || parts.service.draws(),
            service: parts.service,
            channel: parts.channel,
            processes: Processes::new(values, parts.random),
            sender: Sender::new(values, Store::new(parts.queue)),
            reassembly: Reassembly::new(values.duration("t_reassembly")),
            delivery: Delivery::new(order, parts.delay),
            statuses: Statuses::new(values.duration("t_status_prohibit")),
            carried: VecDeque::new(),
            free_at: Time::ZERO,
            next_slot: Time::NEVER,
            saved: 0,
            new: Vec::new(),
        }
    }

    fn plan(&mut self, now: Time) {
        let [repeat, free] = self.processes.due();
        let wanted = if self.carried.is_empty() { self.sender.wants(now, &self.delivery) } else { now };
        let fresh = wanted.max(free).max(self.free_at);
        self.next_slot = match fresh {
            Time::NEVER => repeat,
            fresh => repeat.min(self.in_service(fresh.round_up(self.slot))),
        };
    }

    /// First slot from `slot` on outside planned outages; after 100 rate changes a slot to check again.
    fn in_service(&self, mut slot: Time) -> Time {
        for _ in 0..100 {
            if slot == Time::NEVER || self.service.rate_at(slot).bps() > 1 {
                break;
            }
            slot = self.service.change_after(slot).round_up(self.slot);
        }
        slot
    }

    fn room(&mut self, now: Time) -> u64 {
        let end = now + self.slot;
        self.saved += match &self.service {
            Service::Trace(_) => 8 * (self.service.bytes_until(end) - self.service.bytes_until(now)) as u64,
            _ => {
                let bits = u128::from(self.service.rate_at(now).bps()) * u128::from(self.slot.as_nanos());
                (bits / 1_000_000_000) as u64
            }
        };
        self.saved / 8
    }

    fn use_slot(&mut self, now: Time, out: &mut Vec<Output>) {
        if now > self.free_at {
            self.saved = 0;
        }
        self.free_at = now + self.slot;
        if self.processes.repeat(now) {
            self.delivery.counters.blocks += 1;
            self.delivery.counters.blocks_retransmitted += 1;
            return;
        }
        let Some(index) = self.processes.free(now) else { return };
        let bytes = self.room(now);
        if bytes < self.least {
            return;
        }
        let mut block = self.processes.take(index);
        let mut room = bytes;
        while room >= STATUS
            && let Some(status) = self.carried.pop_front()
        {
            room -= STATUS;
            block.statuses.push(status);
            self.delivery.counters.status_pdus += 1;
        }
        let mut to = Receiving { reassembly: &mut self.reassembly, delivery: &mut self.delivery };
        let room = self.sender.fill(now, room, &mut to, &mut block, out);
        self.saved = if room == 0 { self.saved % 8 } else { 0 };
        let sent = bytes - room;
        match self.processes.begin(index, now, sent, block, &self.service, &mut *self.channel) {
            None => self.free_at = now,
            Some(fate) => {
                self.delivery.counters.blocks += 1;
                self.delivery.counters.blocks_lost += fate.failures;
                if !fate.arrives {
                    self.lose(index, out);
                }
            }
        }
        self.delivery.forget(self.sender.released());
    }

    fn lose(&mut self, index: usize, out: &mut Vec<Output>) {
        self.delivery.counters.blocks_given_up += 1;
        let block = self.processes.take(index);
        out.extend(block.statuses.iter().map(|status| Output::Across(Across::Lost(*status))));
        if !self.sender.is_acknowledged() {
            for span in &block.spans {
                self.delivery.miss(*span, LossReason::Channel, out);
            }
        }
        self.processes.put_back(index, block);
    }

    fn decode(&mut self, now: Time, out: &mut Vec<Output>) {
        while let Some((index, at, block)) = self.processes.decode(now) {
            let arrives = |status: &Status| Output::Across(Across::Arrives { status: *status, at });
            out.extend(block.statuses.iter().map(arrives));
            for span in &block.spans {
                self.reassembly.take(at, *span, &mut self.new);
            }
            for span in self.new.drain(..) {
                self.delivery.receive(at, span, out);
            }
            if let Some(last) = block.spans.last().filter(|_| block.polls) {
                self.statuses.polled(last.end);
            }
            self.processes.put_back(index, block);
            self.statuses.look(now, self.reassembly.known());
        }
    }

    fn reassemble(&mut self, now: Time, out: &mut Vec<Output>) {
        while self.reassembly.deadline() <= now {
            let at = self.reassembly.deadline();
            self.reassembly.expire();
            if self.sender.is_acknowledged() {
                self.statuses.trigger(now);
                self.statuses.look(now, self.reassembly.known());
                continue;
            }
            self.delivery.counters.reordering_timeouts += 1;
            while let Some(gone) = self.reassembly.give_up() {
                self.delivery.give_up(at, gone, out);
            }
        }
    }

    /// Makes a status if due, and handles received ones.
    fn converse(&mut self, now: Time, out: &mut Vec<Output>) {
        if let Some(status) = self.statuses.make(now, &self.reassembly) {
            self.delivery.counters.statuses += 1;
            out.push(Output::Across(Across::Send(status)));
        }
        let mut to = Receiving { reassembly: &mut self.reassembly, delivery: &mut self.delivery };
        while let Some((status, missing)) = self.statuses.hear(now) {
            self.sender.hear(now, &status, &missing, &mut to, out);
            self.statuses.forget(missing);
        }
    }
}

impl Element for Direction {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let before = out.len();
        let is_busy = self.sender.is_within() || self.free_at > now;
        self.sender.store().push(now, packet, is_busy, now.since(self.free_at), out);
        self.delivery.counters.overflowed += (out.len() - before) as u64;
        let waiting = self.sender.store().backlog().waiting;
        self.delivery.counters.largest_sending = self.delivery.counters.largest_sending.max(waiting);
        if self.sender.joined(now) {
            self.plan(now);
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        self.decode(now, out);
        self.reassemble(now, out);
        while self.delivery.deadline() <= now {
            self.delivery.expire(out);
        }
        self.converse(now, out);
        if self.next_slot <= now {
            self.use_slot(now, out);
        }
        self.plan(now);
    }

    fn poll_timeout(&self) -> Time {
        let [block, status] = [self.processes.decodes_at(), self.statuses.deadline()];
        let [rlc, pdcp] = [self.reassembly.deadline(), self.delivery.deadline()];
        self.next_slot.min(block).min(status).min(rlc).min(pdcp)
    }

    fn handle_across(&mut self, now: Time, across: Across) {
        match across {
            Across::Send(status) => {
                self.carried.push_back(status);
                self.plan(now);
            }
            Across::Arrives { status, at } => self.statuses.come(at.max(now), status),
            Across::Lost(status) => {
                self.delivery.counters.statuses_lost += 1;
                self.statuses.lost(&status);
            }
            Across::Air { .. } => {}
        }
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        let in_service = self.sender.is_within() || self.free_at > now;
        Backlog { in_service, ..self.sender.store().backlog() }
    }

    fn rlc(&self) -> Option<&Counters> {
        Some(&self.delivery.counters)
    }

    fn draws(&self) -> bool {
        self.draws
    }

    fn average(&self) -> Option<f64> {
        self.sender.average()
    }

    lacks!(copies, passing, trouble, settings, changes);
}
