//! The sending side of RLC: contents of a block, and retransmissions.

use super::delivery::Delivery;
use super::polling::Polling;
use super::processes::Block;
use super::reassembly::Reassembly;
use crate::across::Status;
use crate::element::Output;
use crate::span::Span;
use crate::store::Store;
use lasthop_base::{Time, Values};
use std::collections::VecDeque;

pub(super) struct Sender {
    is_acknowledged: bool,
    header: u64,
    window: usize,
    most_repeats: u32,
    store: Store,
    asks_at: Time,
    /// Rest of the SDU in transmission.
    fresh: Span,
    /// Bytes to retransmit, each range within one SDU.
    again: VecDeque<Span>,
    /// All bytes before have arrived or are given up.
    acknowledged: u64,
    polling: Polling,
    scratch: Vec<Span>,
}

/// The receiving end; the sender uses only what a status reports.
pub(super) struct Receiving<'a> {
    pub(super) reassembly: &'a mut Reassembly,
    pub(super) delivery: &'a mut Delivery,
}

impl Sender {
    pub(super) fn new(values: &Values, store: Store) -> Sender {
        Sender {
            is_acknowledged: values.word("mode") == "am",
            header: values.bytes("header"),
            window: values.count("window") as usize,
            most_repeats: values.count("retransmissions") as u32,
            store,
            asks_at: Time::NEVER,
            fresh: Span::default(),
            again: VecDeque::new(),
            acknowledged: 0,
            polling: Polling::new(values),
            scratch: Vec::new(),
        }
    }

    pub(super) fn is_acknowledged(&self) -> bool {
        self.is_acknowledged
    }

    pub(super) fn store(&mut self) -> &mut Store {
        &mut self.store
    }

    pub(super) fn average(&self) -> Option<f64> {
        self.store.average()
    }

    /// Notes a packet in the store; returns whether the store was idle.
    pub(super) fn joined(&mut self, now: Time) -> bool {
        let is_news = self.asks_at > now;
        self.asks_at = self.asks_at.min(now);
        is_news
    }

    /// Whether part of an SDU remains to be sent.
    pub(super) fn is_within(&self) -> bool {
        !self.fresh.is_empty()
    }

    fn is_outstanding(&self) -> bool {
        self.is_acknowledged && self.acknowledged < self.fresh.start
    }

    /// Bytes before this are finished at the sender.
    pub(super) fn released(&self) -> u64 {
        if self.is_acknowledged { self.acknowledged } else { self.fresh.start }
    }

    /// Time of the next data to send, or [`Time::NEVER`].
    pub(super) fn wants(&self, now: Time, delivery: &Delivery) -> Time {
        if !self.again.is_empty() || !self.fresh.is_empty() {
            return now;
        }
        let asks_at = if self.is_stalled(delivery) { Time::NEVER } else { self.asks_at };
        let polls_at = if self.is_outstanding() { self.polling.expires() } else { Time::NEVER };
        asks_at.min(polls_at).max(now)
    }

    fn is_stalled(&self, delivery: &Delivery) -> bool {
        self.is_acknowledged
            && delivery.count() >= self.window
            && delivery.count() - delivery.find(self.acknowledged) >= self.window
    }

    /// Fills a block, retransmissions first; returns the bytes left.
    pub(super) fn fill(
        &mut self,
        now: Time,
        mut room: u64,
        to: &mut Receiving<'_>,
        block: &mut Block,
        out: &mut Vec<Output>,
    ) -> u64 {
        self.repeat_unanswered(now, to, out);
        let (all, mut pdus, mut again) = (room, 0, 0);
        while room > self.header
            && let Some(span) = self.again.front_mut()
        {
            let end = span.end.min(span.start + room - self.header);
            block.spans.push(Span { end, ..*span });
            room -= self.header + end - span.start;
            span.start = end;
            again += 1;
            if span.is_empty() {
                self.again.pop_front();
            }
        }
        while room > self.header && (!self.fresh.is_empty() || self.begin_next(now, to.delivery, out)) {
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
        pdus += again;
        to.delivery.counters.pdus += pdus;
        to.delivery.counters.retransmissions += again;
        if self.is_acknowledged {
            let rests = self.again.is_empty()
                && self.fresh.is_empty()
                && (self.asks_at == Time::NEVER || self.is_stalled(to.delivery));
            block.polls = self.polling.asks(now, [pdus, all - room], rests, self.fresh.start);
            to.delivery.counters.polls += u64::from(block.polls);
        }
        room
    }

    fn begin_next(&mut self, now: Time, delivery: &mut Delivery, out: &mut Vec<Output>) -> bool {
        if self.asks_at > now || self.is_stalled(delivery) {
            return false;
        }
        let packet = self.store.pop(now, out);
        self.asks_at = match (self.store.backlog().waiting, packet) {
            (0, _) => Time::NEVER,
            (_, None) => self.store.ready_at(now),
            _ => now,
        };
        if let Some(packet) = packet {
            self.fresh = delivery.push(packet);
        }
        packet.is_some()
    }

    /// After t-PollRetransmit without other data, retransmits the last unacknowledged SDU with a poll.
    fn repeat_unanswered(&mut self, now: Time, to: &mut Receiving<'_>, out: &mut Vec<Output>) {
        if !self.is_outstanding()
            || self.polling.expires() > now
            || !self.again.is_empty()
            || !self.fresh.is_empty()
            || (self.asks_at <= now && !self.is_stalled(to.delivery))
        {
            return;
        }
        let (first, mut place) = (to.delivery.find(self.acknowledged), to.delivery.count());
        while place > first {
            place -= 1;
            let sdu = to.delivery.at(place).filter(|sdu| sdu.repeats <= self.most_repeats);
            if let Some(bytes) = sdu.map(|sdu| sdu.bytes) {
                self.consider(now, now, place, bytes, to, out);
                if !self.again.is_empty() {
                    return;
                }
            }
        }
        self.acknowledged = self.fresh.start;
        self.polling.postpone(now);
    }

    pub(super) fn hear(
        &mut self,
        now: Time,
        status: &Status,
        missing: &[Span],
        to: &mut Receiving<'_>,
        out: &mut Vec<Output>,
    ) {
        let first = missing.first().map_or(status.until, |span| span.start);
        self.acknowledged = self.acknowledged.max(first.min(self.fresh.start));
        self.polling.answered(status.until);
        for span in missing {
            let mut place = to.delivery.find(span.start);
            while let Some(sdu) = to.delivery.at(place)
                && sdu.bytes.start < span.end
            {
                let bytes = sdu.bytes.common(*span);
                // A late status lists bytes that arrived meanwhile.
                if bytes.end > self.acknowledged {
                    self.consider(now, status.made, place, bytes, to, out);
                }
                place += 1;
            }
        }
    }

    /// Schedules a retransmission, unless one is pending or the SDU had too many.
    fn consider(
        &mut self,
        now: Time,
        asked: Time,
        place: usize,
        bytes: Span,
        to: &mut Receiving<'_>,
        out: &mut Vec<Output>,
    ) {
        let Some(sdu) = to.delivery.at(place) else { return };
        let is_pending = self.again.iter().any(|span| !span.common(bytes).is_empty());
        if is_pending {
            return;
        }
        if sdu.repeats > self.most_repeats {
            // Given up before the status was made known: another status has to report later bytes.
            if self.polling.expires() == Time::NEVER {
                self.polling.postpone(now);
            }
            return;
        }
        if sdu.asked != asked {
            (sdu.repeats, sdu.asked) = (sdu.repeats + 1, asked);
        }
        let sdu = sdu.bytes;
        if to.delivery.at(place).is_some_and(|sdu| sdu.repeats <= self.most_repeats) {
            return self.again.push_back(Span { end: bytes.end.min(self.fresh.start), ..bytes });
        }
        // Given up: the rest is not sent, and the receiver stops waiting. A poll will report later bytes, unless a
        // status comes earlier.
        self.polling.postpone(now);
        self.again.retain(|span| span.common(sdu).is_empty());
        if self.fresh.start < sdu.end {
            self.fresh.start = self.fresh.end;
        }
        to.delivery.discard(place, now, out);
        to.reassembly.take(now, sdu, &mut self.scratch);
        self.scratch.clear();
    }
}
