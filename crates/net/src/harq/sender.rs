//! The sending side of RLC: contents of a block, and retransmissions.

use super::delivery::Delivery;
use super::polling::Polling;
use super::processes::TransportBlock;
use super::reassembly::Reassembly;
use crate::element::Output;
use crate::link_queue::LinkQueue;
use crate::peer_message::Status;
use crate::span::Span;
use lasthop_base::{Time, Values};
use std::collections::VecDeque;

pub(super) struct RlcSender {
    is_acknowledged: bool,
    header: u64,
    window: usize,
    max_retransmissions: u32,
    queue: LinkQueue,
    dequeues_at: Time,
    /// Unsent bytes of the SDU in transmission.
    fresh: Span,
    /// Bytes to retransmit. Each range lies within one SDU.
    retransmissions: VecDeque<Span>,
    /// Number of bytes at the start of the stream that are acknowledged or given up.
    acknowledged: u64,
    polling: Polling,
    scratch: Vec<Span>,
}

/// State of the receiving end. The sender uses only the parts of this state that a status report covers.
pub(super) struct ReceivingEnd<'a> {
    pub(super) reassembly: &'a mut Reassembly,
    pub(super) delivery: &'a mut Delivery,
}

impl RlcSender {
    pub(super) fn new(values: &Values, queue: LinkQueue) -> RlcSender {
        RlcSender {
            is_acknowledged: values.word("mode") == "am",
            header: values.bytes("header"),
            window: values.count("window") as usize,
            max_retransmissions: values.count("retransmissions") as u32,
            queue,
            dequeues_at: Time::NEVER,
            fresh: Span::default(),
            retransmissions: VecDeque::new(),
            acknowledged: 0,
            polling: Polling::new(values),
            scratch: Vec::new(),
        }
    }

    pub(super) fn is_acknowledged(&self) -> bool {
        self.is_acknowledged
    }

    pub(super) fn queue(&mut self) -> &mut LinkQueue {
        &mut self.queue
    }

    pub(super) fn average(&self) -> Option<f64> {
        self.queue.average()
    }

    /// Handles the enqueuing of a packet. Returns true if no dequeue was due at `now`.
    pub(super) fn on_enqueued(&mut self, now: Time) -> bool {
        let was_idle = self.dequeues_at > now;
        self.dequeues_at = self.dequeues_at.min(now);
        was_idle
    }

    /// Whether part of an SDU remains to be sent.
    pub(super) fn has_partial_sdu(&self) -> bool {
        !self.fresh.is_empty()
    }

    fn has_outstanding(&self) -> bool {
        self.is_acknowledged && self.acknowledged < self.fresh.start
    }

    /// Returns the first byte that the sender may still have to send.
    pub(super) fn released(&self) -> u64 {
        if self.is_acknowledged { self.acknowledged } else { self.fresh.start }
    }

    /// Returns the time at which there is data to send, or [`Time::NEVER`].
    pub(super) fn next_data_at(&self, now: Time, delivery: &Delivery) -> Time {
        if !self.retransmissions.is_empty() || !self.fresh.is_empty() {
            return now;
        }
        let dequeues_at = if self.is_stalled(delivery) { Time::NEVER } else { self.dequeues_at };
        let polls_at = if self.has_outstanding() { self.polling.expires() } else { Time::NEVER };
        dequeues_at.min(polls_at).max(now)
    }

    fn is_stalled(&self, delivery: &Delivery) -> bool {
        self.is_acknowledged
            && delivery.count() >= self.window
            && delivery.count() - delivery.find(self.acknowledged) >= self.window
    }

    /// Fills a block of `room` bytes, with retransmissions first. Returns the number of unused bytes.
    pub(super) fn fill(
        &mut self,
        now: Time,
        mut room: u64,
        to: &mut ReceivingEnd<'_>,
        block: &mut TransportBlock,
        out: &mut Vec<Output>,
    ) -> u64 {
        self.retransmit_unanswered(now, to, out);
        let (all, mut pdus, mut retransmissions) = (room, 0, 0);
        while room > self.header
            && let Some(span) = self.retransmissions.front_mut()
        {
            let end = span.end.min(span.start + room - self.header);
            block.spans.push(Span { end, ..*span });
            room -= self.header + end - span.start;
            span.start = end;
            retransmissions += 1;
            if span.is_empty() {
                self.retransmissions.pop_front();
            }
        }
        while room > self.header && (!self.fresh.is_empty() || self.take_next_sdu(now, to.delivery, out)) {
            let start = self.fresh.start;
            let end = self.fresh.end.min(start + room - self.header);
            match block.spans.last_mut().filter(|last| last.end == start) {
                Some(last) => last.end = end,
                None => block.spans.push(Span { start, end }),
            }
            room -= self.header + end - start;
            self.fresh.start = end;
            pdus += 1;
        }
        pdus += retransmissions;
        to.delivery.counters.pdus += pdus;
        to.delivery.counters.retransmissions += retransmissions;
        if self.is_acknowledged {
            let is_last = self.retransmissions.is_empty()
                && self.fresh.is_empty()
                && (self.dequeues_at == Time::NEVER || self.is_stalled(to.delivery));
            block.polls = self.polling.should_poll(now, [pdus, all - room], is_last, self.fresh.start);
            to.delivery.counters.polls += u64::from(block.polls);
        }
        room
    }

    fn take_next_sdu(&mut self, now: Time, delivery: &mut Delivery, out: &mut Vec<Output>) -> bool {
        if self.dequeues_at > now || self.is_stalled(delivery) {
            return false;
        }
        let packet = self.queue.pop(now, out);
        self.dequeues_at = match (self.queue.backlog().waiting, packet) {
            (0, _) => Time::NEVER,
            (_, None) => self.queue.ready_at(now),
            _ => now,
        };
        if let Some(packet) = packet {
            self.fresh = delivery.push(packet);
        }
        packet.is_some()
    }

    /// If t-PollRetransmit has expired and there is no other data, retransmits the last unacknowledged SDU to carry a
    /// poll.
    fn retransmit_unanswered(&mut self, now: Time, to: &mut ReceivingEnd<'_>, out: &mut Vec<Output>) {
        if !self.has_outstanding()
            || self.polling.expires() > now
            || !self.retransmissions.is_empty()
            || !self.fresh.is_empty()
            || (self.dequeues_at <= now && !self.is_stalled(to.delivery))
        {
            return;
        }
        let (first, mut index) = (to.delivery.find(self.acknowledged), to.delivery.count());
        while index > first {
            index -= 1;
            let sdu = to.delivery.at(index).filter(|sdu| sdu.requests <= self.max_retransmissions);
            if let Some(bytes) = sdu.map(|sdu| sdu.bytes) {
                self.schedule_retransmission(now, now, index, bytes, to, out);
                if !self.retransmissions.is_empty() {
                    return;
                }
            }
        }
        self.acknowledged = self.fresh.start;
        self.polling.restart_timer(now);
    }

    pub(super) fn on_status(
        &mut self,
        now: Time,
        status: &Status,
        missing: &[Span],
        to: &mut ReceivingEnd<'_>,
        out: &mut Vec<Output>,
    ) {
        let first = missing.first().map_or(status.until, |span| span.start);
        self.acknowledged = self.acknowledged.max(first.min(self.fresh.start));
        self.polling.on_status(status.until);
        for span in missing {
            let mut index = to.delivery.find(span.start);
            while let Some(sdu) = to.delivery.at(index)
                && sdu.bytes.start < span.end
            {
                let bytes = sdu.bytes.common(*span);
                // A late report may list bytes as missing that have arrived since the report was built.
                if bytes.end > self.acknowledged {
                    self.schedule_retransmission(now, status.made, index, bytes, to, out);
                }
                index += 1;
            }
        }
    }

    /// Schedules the retransmission of `bytes`, unless these bytes are already scheduled. Gives the SDU up if the
    /// number of its retransmissions would exceed the limit.
    fn schedule_retransmission(
        &mut self,
        now: Time,
        requested_at: Time,
        index: usize,
        bytes: Span,
        to: &mut ReceivingEnd<'_>,
        out: &mut Vec<Output>,
    ) {
        let Some(sdu) = to.delivery.at(index) else { return };
        let is_pending = self.retransmissions.iter().any(|span| !span.common(bytes).is_empty());
        if is_pending {
            return;
        }
        if sdu.requests > self.max_retransmissions {
            // This SDU was given up earlier. The poll timer must run, so that a report covers the bytes after the SDU.
            if self.polling.expires() == Time::NEVER {
                self.polling.restart_timer(now);
            }
            return;
        }
        if sdu.requested_at != requested_at {
            (sdu.requests, sdu.requested_at) = (sdu.requests + 1, requested_at);
        }
        let sdu = sdu.bytes;
        if to.delivery.at(index).is_some_and(|sdu| sdu.requests <= self.max_retransmissions) {
            return self.retransmissions.push_back(Span { end: bytes.end.min(self.fresh.start), ..bytes });
        }
        // The SDU is given up. Its remaining bytes are not sent, and the receiver stops waiting for them. The poll
        // timer ensures that a report on later bytes arrives.
        self.polling.restart_timer(now);
        self.retransmissions.retain(|span| span.common(sdu).is_empty());
        if self.fresh.start < sdu.end {
            self.fresh.start = self.fresh.end;
        }
        to.delivery.discard(index, now, out);
        to.reassembly.on_bytes(now, sdu, &mut self.scratch);
        self.scratch.clear();
    }
}
