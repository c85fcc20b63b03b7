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

    /// Handles the replacement of the queue.
    pub(super) fn on_queue_replaced(&mut self, now: Time) {
        self.dequeues_at = if self.queue.is_empty() { Time::NEVER } else { now };
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

#[cfg(test)]
mod tests {
    use super::super::delivery::DeliveryOrder;
    use super::super::parameters::MECHANISM;
    use super::*;
    use crate::discipline::QueueContext;
    use crate::testing::{Fate, MS, at, fates, packet};
    use lasthop_base::{Duration, Rate, Stream, Value};
    use lasthop_wire::LossReason;

    struct Fixture {
        sender: RlcSender,
        reassembly: Reassembly,
        delivery: Delivery,
        out: Vec<Output>,
    }

    impl Fixture {
        /// A sender with headers of 2 bytes, no polls except with the last data, and `count` packets of 100 bytes.
        fn new(settings: &[(&'static str, Value)], count: u64) -> Fixture {
            let mut values = MECHANISM.info.defaults();
            let own = [
                ("header", Value::Bytes(2)),
                ("poll_pdus", Value::Count(0)),
                ("poll_bytes", Value::Bytes(0)),
            ];
            own.iter().chain(settings).for_each(|(name, value)| values.set(name, value.clone()));
            let queue = crate::admission::DEFAULT;
            let rate = Rate::from_bps(1_000_000);
            let context = QueueContext { rate, random: Stream::named(1, "queue"), hosts: None };
            let queue = LinkQueue::new((queue.build)(&queue.info.defaults(), context));
            let mut one = Fixture {
                sender: RlcSender::new(&values, queue),
                reassembly: Reassembly::new(MS * 50),
                delivery: Delivery::new(DeliveryOrder::Rlc, Duration::ZERO),
                out: Vec::new(),
            };
            for number in 0..count {
                one.sender.queue().push(at(0), packet(number, 100), false, Duration::ZERO, &mut one.out);
                assert_eq!(one.sender.on_enqueued(at(0)), number == 0, "no dequeue was due before");
            }
            one
        }

        fn fill(&mut self, now: u64, room: u64) -> (Vec<Span>, u64, bool) {
            let mut block = TransportBlock::default();
            let mut to = ReceivingEnd { reassembly: &mut self.reassembly, delivery: &mut self.delivery };
            let left = self.sender.fill(at(now), room, &mut to, &mut block, &mut self.out);
            (block.spans, left, block.polls)
        }

        fn report(&mut self, now: u64, made: u64, until: u64, missing: &[Span]) {
            let status = Status { made: at(made), until };
            let mut to = ReceivingEnd { reassembly: &mut self.reassembly, delivery: &mut self.delivery };
            self.sender.on_status(at(now), &status, missing, &mut to, &mut self.out);
        }
    }

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    /// A block of 60 bytes carries 58 bytes of the first SDU. The next block carries the rest, and then the second SDU
    /// with a header of its own. The last block polls.
    #[test]
    fn blocks_are_filled_with_headers_and_data() {
        let mut one = Fixture::new(&[], 2);
        assert_eq!(
            (one.sender.next_data_at(at(5), &one.delivery), one.sender.has_partial_sdu()),
            (at(5), false)
        );
        assert_eq!(one.fill(0, 2), (vec![], 2, false), "a header alone does not fit");
        assert_eq!(one.fill(0, 60), (vec![span(0, 58)], 0, false));
        assert!(one.sender.has_partial_sdu());
        assert_eq!(one.fill(1, 200), (vec![span(58, 200)], 200 - 44 - 102, true));
        assert!(!one.sender.has_partial_sdu());
        let counters = one.delivery.counters;
        assert_eq!((counters.pdus, counters.retransmissions, counters.polls), (3, 0, 1));
        // Without data, only the poll timer of 120 ms is left.
        assert_eq!(one.sender.next_data_at(at(5), &one.delivery), at(121));
        assert_eq!(one.sender.released(), 0);
        one.report(10, 9, 200, &[]);
        assert_eq!(
            (one.sender.next_data_at(at(11), &one.delivery), one.sender.released()),
            (Time::NEVER, 200)
        );
    }

    /// In unacknowledged mode, sent bytes are released at once, and no block polls.
    #[test]
    fn unacknowledged_mode_releases_sent_bytes() {
        let mut one = Fixture::new(&[("mode", Value::Word("um"))], 1);
        assert!(!one.sender.is_acknowledged());
        assert_eq!(one.fill(0, 52), (vec![span(0, 50)], 0, false));
        assert_eq!(one.sender.released(), 50);
        assert_eq!(one.fill(1, 500), (vec![span(50, 100)], 448, false));
        assert_eq!((one.sender.released(), one.delivery.counters.polls), (100, 0));
        assert_eq!(one.sender.next_data_at(at(2), &one.delivery), Time::NEVER);
    }

    /// A report on bytes below 150 lists 20 to 40 and 90 to 130 as missing. The second range lies in two SDUs, and each
    /// range within an SDU is retransmitted separately, before new data.
    #[test]
    fn missing_bytes_are_retransmitted_first() {
        let mut one = Fixture::new(&[], 3);
        one.fill(0, 102);
        one.fill(1, 102);
        one.report(10, 9, 150, &[span(20, 40), span(90, 130)]);
        assert_eq!(one.sender.released(), 20);
        assert_eq!(one.sender.retransmissions, [span(20, 40), span(90, 100), span(100, 130)]);
        assert_eq!(one.sender.next_data_at(at(11), &one.delivery), at(11));
        assert_eq!(one.fill(11, 12), (vec![span(20, 30)], 0, false));
        assert_eq!(one.fill(12, 24), (vec![span(30, 40), span(90, 100)], 0, false));
        assert_eq!(one.fill(13, 36), (vec![span(100, 130), span(200, 202)], 0, false));
        let counters = one.delivery.counters;
        assert_eq!((counters.pdus, counters.retransmissions), (7, 4));
        // An older report does not move the acknowledged bytes back.
        one.report(20, 8, 10, &[]);
        assert_eq!(one.sender.released(), 20);
    }

    /// Bytes that wait for retransmission are not scheduled twice. A report counts once for an SDU. With one
    /// retransmission at most, the second report gives the SDU up.
    #[test]
    fn an_sdu_is_given_up_after_too_many_reports() {
        let mut one = Fixture::new(&[("retransmissions", Value::Count(1))], 2);
        one.fill(0, 150);
        one.report(10, 9, 100, &[span(20, 40)]);
        one.report(11, 10, 100, &[span(30, 50)]);
        assert_eq!(one.sender.retransmissions, [span(20, 40)]);
        assert_eq!(one.delivery.at(0).map(|sdu| sdu.requests), Some(1));
        one.sender.retransmissions.clear();
        one.report(12, 9, 100, &[span(20, 40)]);
        assert_eq!(
            (one.sender.retransmissions.len(), one.delivery.at(0).map(|sdu| sdu.requests)),
            (1, Some(1))
        );
        one.sender.retransmissions.clear();
        one.report(20, 19, 100, &[span(20, 40)]);
        assert_eq!(fates(&mut one.out), [Fate::Lost(0, at(20), LossReason::Discarded)]);
        assert!(one.sender.retransmissions.is_empty());
        assert_eq!(one.reassembly.known(), 100, "the receiver does not wait for the SDU");
        // The SDU that is in transmission is given up, too: its unsent bytes are not sent.
        one.report(30, 29, 146, &[span(110, 120)]);
        one.sender.retransmissions.clear();
        one.report(40, 39, 146, &[span(110, 120)]);
        assert_eq!(fates(&mut one.out), [Fate::Lost(1, at(40), LossReason::Discarded)]);
        assert!(!one.sender.has_partial_sdu());
    }

    /// A window of two SDUs stalls the sender until the first SDU is acknowledged.
    #[test]
    fn a_full_window_stalls_the_sender() {
        let mut one = Fixture::new(&[("window", Value::Count(2))], 4);
        let (spans, left, polls) = one.fill(0, 1000);
        assert_eq!((spans, left, polls), (vec![span(0, 200)], 796, true), "the full window polls");
        assert_eq!(one.sender.next_data_at(at(5), &one.delivery), at(120), "only the poll timer is left");
        one.report(10, 9, 100, &[]);
        assert_eq!(one.sender.next_data_at(at(10), &one.delivery), at(10));
        assert_eq!(one.fill(10, 1000).0, [span(200, 300)]);
    }

    /// After t-PollRetransmit (120 ms) without a report, the last unacknowledged SDU is retransmitted to carry a poll.
    #[test]
    fn the_last_sdu_carries_a_poll() {
        let mut one = Fixture::new(&[], 2);
        one.fill(0, 1000);
        assert_eq!(one.fill(119, 1000), (vec![], 1000, false));
        assert_eq!(one.fill(120, 1000), (vec![span(100, 200)], 898, true));
        assert_eq!(one.delivery.counters.retransmissions, 1);
    }
}
