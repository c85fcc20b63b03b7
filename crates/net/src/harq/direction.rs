//! One direction of an LTE or NR link, simulated slot by slot.

use super::delivery::{Delivery, DeliveryOrder};
use super::processes::Processes;
use super::reassembly::Reassembly;
use super::sender::{ReceivingEnd, RlcSender};
use super::status::StatusReports;
use crate::arq::DirectionParts;
use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::channel::{self, Channel};
use crate::counters::RlcCounters;
use crate::discipline::Discipline;
use crate::element::{Element, Output, lacks};
use crate::link_queue::LinkQueue;
use crate::peer_message::{PeerMessage, Status};
use crate::service::Service;
use crate::span::Span;
use lasthop_base::{Duration, Rate, Time, Values};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::collections::VecDeque;

/// Size of a status report in a block, bytes: a header and three NACKs with ranges (our choice).
pub(super) const STATUS_BYTES: u64 = 16;
/// Smallest payload of a block, bytes. If one slot offers fewer bytes, the bits of several slots together carry one
/// block.
const MIN_PAYLOAD: u64 = 16;

pub(super) struct HarqDirection {
    slot: Duration,
    min_block: u64,
    service: Service,
    /// Whether the rate was set to 0. The rate of `service` is then 1 bit/s, as in a planned outage.
    is_stopped: bool,
    channel: Box<dyn Channel>,
    draws: bool,
    processes: Processes,
    sender: RlcSender,
    reassembly: Reassembly,
    delivery: Delivery,
    statuses: StatusReports,
    /// Status reports about the opposite direction's data, which this direction has to send.
    status_queue: VecDeque<Status>,
    free_at: Time,
    /// Start of the next slot in which a block will be sent.
    next_slot: Time,
    /// Bits saved from slots that were too small for a block.
    saved_bits: u64,
    new: Vec<Span>,
}

impl HarqDirection {
    pub(super) fn new(values: &Values, parts: DirectionParts) -> HarqDirection {
        let order = match values.word("order") {
            "pdcp" => DeliveryOrder::Pdcp(values.duration("t_reordering")),
            "none" => DeliveryOrder::None,
            _ => DeliveryOrder::Rlc,
        };
        HarqDirection {
            slot: values.duration("slot"),
            min_block: (values.bytes("header") + MIN_PAYLOAD).max(STATUS_BYTES),
            draws: parts.queue.draws() || parts.channel.draws() || parts.service.draws(),
            service: parts.service,
            is_stopped: false,
            channel: parts.channel,
            processes: Processes::new(values, parts.random),
            sender: RlcSender::new(values, LinkQueue::new(parts.queue)),
            reassembly: Reassembly::new(values.duration("t_reassembly")),
            delivery: Delivery::new(order, parts.delay),
            statuses: StatusReports::new(values.duration("t_status_prohibit")),
            status_queue: VecDeque::new(),
            free_at: Time::ZERO,
            next_slot: Time::NEVER,
            saved_bits: 0,
            new: Vec::new(),
        }
    }

    fn schedule_slot(&mut self, now: Time) {
        let [repeat, free] = self.processes.due();
        let wanted =
            if self.status_queue.is_empty() { self.sender.next_data_at(now, &self.delivery) } else { now };
        let fresh = wanted.max(free).max(self.free_at);
        self.next_slot = match fresh {
            Time::NEVER => repeat,
            fresh => repeat.min(self.first_usable_slot(fresh.round_up(self.slot))),
        };
    }

    /// Returns the first slot at or after `slot` that is not in a planned outage. Checks at most 100 rate changes. If
    /// the outage lasts longer, returns a slot within the outage, at which the caller must call this function again.
    fn first_usable_slot(&self, mut slot: Time) -> Time {
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
        self.saved_bits += match &self.service {
            Service::Trace(_) => 8 * (self.service.bytes_until(end) - self.service.bytes_until(now)) as u64,
            _ => {
                let bits = u128::from(self.service.rate_at(now).bps()) * u128::from(self.slot.as_nanos());
                (bits / 1_000_000_000) as u64
            }
        };
        self.saved_bits / 8
    }

    fn use_slot(&mut self, now: Time, out: &mut Vec<Output>) {
        if now > self.free_at {
            self.saved_bits = 0;
        }
        self.free_at = now + self.slot;
        if self.processes.retransmit_due(now) {
            self.delivery.counters.blocks += 1;
            self.delivery.counters.blocks_retransmitted += 1;
            return;
        }
        let Some(index) = self.processes.free(now) else { return };
        let bytes = self.room(now);
        if bytes < self.min_block {
            return;
        }
        let mut block = self.processes.take_block(index);
        let mut room = bytes;
        while room >= STATUS_BYTES
            && let Some(status) = self.status_queue.pop_front()
        {
            room -= STATUS_BYTES;
            block.statuses.push(status);
            self.delivery.counters.status_pdus += 1;
        }
        let mut to = ReceivingEnd { reassembly: &mut self.reassembly, delivery: &mut self.delivery };
        let room = self.sender.fill(now, room, &mut to, &mut block, out);
        self.saved_bits = if room == 0 { self.saved_bits % 8 } else { 0 };
        let sent = bytes - room;
        match self.processes.send_block(index, now, sent, block, &self.service, &mut *self.channel) {
            None => self.free_at = now,
            Some(fate) => {
                self.delivery.counters.blocks += 1;
                self.delivery.counters.blocks_lost += fate.failures;
                if !fate.arrives {
                    self.on_block_lost(index, out);
                }
            }
        }
        self.delivery.remove_finished(self.sender.released());
    }

    fn on_block_lost(&mut self, index: usize, out: &mut Vec<Output>) {
        self.delivery.counters.blocks_given_up += 1;
        let block = self.processes.take_block(index);
        out.extend(block.statuses.iter().map(|status| Output::ToPeer(PeerMessage::StatusLost(*status))));
        if !self.sender.is_acknowledged() {
            for span in &block.spans {
                self.delivery.lose_unnoticed(*span, LossReason::Channel, out);
            }
        }
        self.processes.put_back(index, block);
    }

    fn decode(&mut self, now: Time, out: &mut Vec<Output>) {
        while let Some((index, at, block)) = self.processes.decode(now) {
            let arrives =
                |status: &Status| Output::ToPeer(PeerMessage::StatusArrives { status: *status, at });
            out.extend(block.statuses.iter().map(arrives));
            for span in &block.spans {
                self.reassembly.on_bytes(at, *span, &mut self.new);
            }
            for span in self.new.drain(..) {
                self.delivery.receive(at, span, out);
            }
            if let Some(last) = block.spans.last().filter(|_| block.polls) {
                self.statuses.on_poll(last.end);
            }
            self.processes.put_back(index, block);
            self.statuses.answer_polls(now, self.reassembly.known());
        }
    }

    fn reassemble(&mut self, now: Time, out: &mut Vec<Output>) {
        while self.reassembly.deadline() <= now {
            let at = self.reassembly.deadline();
            self.reassembly.on_timeout();
            if self.sender.is_acknowledged() {
                self.statuses.schedule(now);
                self.statuses.answer_polls(now, self.reassembly.known());
                continue;
            }
            self.delivery.counters.reordering_timeouts += 1;
            while let Some(gone) = self.reassembly.abandon_next() {
                self.delivery.abandon(at, gone, out);
            }
        }
    }

    /// Builds a status report if a report is due, and handles received reports.
    fn exchange_status(&mut self, now: Time, out: &mut Vec<Output>) {
        if let Some(status) = self.statuses.build_due(now, &self.reassembly) {
            self.delivery.counters.statuses += 1;
            out.push(Output::ToPeer(PeerMessage::SendStatus(status)));
        }
        let mut to = ReceivingEnd { reassembly: &mut self.reassembly, delivery: &mut self.delivery };
        while let Some((status, missing)) = self.statuses.next_received(now) {
            self.sender.on_status(now, &status, &missing, &mut to, out);
            self.statuses.recycle(missing);
        }
    }
}

impl Element for HarqDirection {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let before = out.len();
        let is_busy = self.sender.has_partial_sdu() || self.free_at > now;
        self.sender.queue().push(now, packet, is_busy, now.since(self.free_at), out);
        self.delivery.counters.overflowed += (out.len() - before) as u64;
        let waiting = self.sender.queue().backlog().waiting;
        self.delivery.counters.largest_sending = self.delivery.counters.largest_sending.max(waiting);
        if self.sender.on_enqueued(now) {
            self.schedule_slot(now);
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        self.decode(now, out);
        self.reassemble(now, out);
        while self.delivery.deadline() <= now {
            self.delivery.on_timeout(out);
        }
        self.exchange_status(now, out);
        if self.next_slot <= now {
            self.use_slot(now, out);
        }
        self.schedule_slot(now);
    }

    fn poll_timeout(&self) -> Time {
        let [block, status] = [self.processes.decodes_at(), self.statuses.deadline()];
        let [rlc, pdcp] = [self.reassembly.deadline(), self.delivery.deadline()];
        self.next_slot.min(block).min(status).min(rlc).min(pdcp)
    }

    fn handle_peer_message(&mut self, now: Time, message: PeerMessage) {
        match message {
            PeerMessage::SendStatus(status) => {
                self.status_queue.push_back(status);
                self.schedule_slot(now);
            }
            PeerMessage::StatusArrives { status, at } => self.statuses.on_arrival(at.max(now), status),
            PeerMessage::StatusLost(status) => {
                self.delivery.counters.statuses_lost += 1;
                self.statuses.on_lost(&status);
            }
            PeerMessage::Medium { .. } => {}
        }
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        let in_service = self.sender.has_partial_sdu() || self.free_at > now;
        Backlog { in_service, ..self.sender.queue().backlog() }
    }

    fn rlc(&self) -> Option<&RlcCounters> {
        Some(&self.delivery.counters)
    }

    fn draws(&self) -> bool {
        self.draws
    }

    fn average(&self) -> Option<f64> {
        self.sender.average()
    }

    fn settings(&self) -> Option<LinkSettings> {
        let bps = if self.is_stopped { Some(0) } else { self.service.constant_bps() };
        Some(LinkSettings { bps, delay: self.delivery.delay(), loss: self.channel.loss_probability() })
    }

    fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused> {
        channel::refusal(&*self.channel, change)
    }

    fn change(&mut self, now: Time, change: &LinkChange, _: &mut Vec<Output>) {
        if let Some(delay) = change.delay {
            self.delivery.set_delay(delay);
        }
        if let Some(share) = change.loss {
            self.channel.set_loss_probability(share);
        }
        if let Some(bps) = change.bps {
            self.service = Service::Rate(Rate::from_bps(bps));
            self.is_stopped = bps == 0;
            self.schedule_slot(now);
        }
    }

    fn queue_refusal(&self) -> Option<ChangeRefused> {
        None
    }

    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        let before = out.len();
        let in_service = self.sender.has_partial_sdu() || self.free_at > now;
        let ahead = Backlog { in_service, ..Backlog::default() };
        self.sender.queue().replace(now, queue, &ahead, out);
        self.delivery.counters.overflowed += (out.len() - before) as u64;
        self.sender.on_queue_replaced(now);
        self.schedule_slot(now);
    }

    fn queueing_delay(&mut self, _: Time) -> Option<Duration> {
        None
    }

    lacks!(copies, bypass, failures);
}
