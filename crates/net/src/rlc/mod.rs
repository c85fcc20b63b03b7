//! RLC in acknowledged mode: selective repeat of PDUs in transport blocks (3GPP TS 25.322, as far as koga §4.2 and
//! §5.2.1 use it).
//!
//! * `segmentation`: segmentation of SDUs into PDUs. `transmitter`: contents of a block, retransmissions and discards.
//! * `receiver`: delivery of complete SDUs, in order or after the reordering timer.
//! * `status`: polls and status reports. `change`: changes at run time.
//!
//! Each transmission time interval (TTI) carries a block, whose size is the link's rate times the interval. The block
//! is decoded at the interval's end. The simulation has one event per block, not one event per PDU. When a block is
//! sent, the receiver is therefore simulated up to the block's arrival. If an interval is too short for a PDU, a block
//! has one PDU and takes as many whole intervals as needed.
//!
//! With `status = "constant"` (the default), the outcome of each block is reported without errors. The report arrives
//! one propagation delay and a constant time after the block, and does not use capacity of the opposite direction. With
//! `status = "polled"`, the sender polls for status reports. The reports travel in the opposite direction's blocks,
//! before data.
//!
//! Packets are segmented at arrival, and the queue limit counts unsent data. A queue discipline of the kind
//! [`Discipline::Scheduled`], such as `tag_drop` or `cbq`, instead keeps packets until a block has room for them. A
//! packet's `discard` lifetime then begins at its dequeue.
//!
//! # Not modelled
//! Loss of a discard's announcement is not modelled: the announcement arrives with the next block, even if that block
//! is lost. A block has at most one poll, on its last data PDU. A status report is one PDU. Missing PDUs for which the
//! report's list has no room wait for the next report. Each report has the exact time at which the receiver made the
//! report. If a PDU was retransmitted after that time, the report does not cause another retransmission of the PDU.
//! Sequence numbers do not wrap (TS 25.322 has 4096, and its sender may stall). For a recorded rate (`trace`), the mean
//! rate applies.

mod change;
mod parameters;
mod receiver;
mod segmentation;
mod status;
mod transmitter;

pub use parameters::MECHANISM;

use crate::admission::{ArrivalState, Verdict};
use crate::arq::{Build, DirectionParts, Layer, Partner};
use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::channel::{self, Channel, Reception, Transmission};
use crate::counters::RlcCounters;
use crate::discipline::Discipline;
use crate::element::{Element, Output, lacks};
use crate::peer_message::{PeerMessage, Status};
use crate::queue::Dropped;
use crate::service::Service;
use lasthop_base::{Duration, Mechanism, Rate, Time, Values};
use lasthop_wire::{Backlog, LinkReport, Packet, Priority};
use receiver::RlcReceiver;
use segmentation::{Pdus, Segmentation};
use status::Polling;
use std::collections::VecDeque;
use transmitter::{Discard, PduRange, RlcTransmitter};

struct RlcLayer {
    values: Values,
}

impl Layer for RlcLayer {
    fn build_direction(self: Box<Self>, parts: DirectionParts) -> Box<dyn Element> {
        Box::new(Rlc::new(&self.values, parts))
    }

    fn reports_failures(&self) -> bool {
        false
    }

    fn partner(&self) -> Option<Partner> {
        (self.values.word("status") == "polled").then_some(Partner {
            why: "status = \"polled\" needs RLC in the other direction, which carries the status reports",
            remedy: "leave status = \"constant\"",
        })
    }
}

/// List of this module's link layers: `rlc`.
pub const ALL: &[Mechanism<Build>] = &[MECHANISM];

/// One direction of a link with RLC in acknowledged mode.
pub struct Rlc {
    tti: Duration,
    pdu: u64,
    service: Service,
    delay: Duration,
    status_delay: Duration,
    announces: bool,
    loses_blocks: bool,
    numbers_overflow: bool,
    size: BlockSize,
    queue: Discipline,
    /// Time of the next dequeue; [`Time::NEVER`] if the queue is empty.
    dequeues_at: Time,
    channel: Box<dyn Channel>,
    segmentation: Segmentation,
    transmitter: RlcTransmitter,
    receiver: RlcReceiver,
    polling: Option<Polling>,
    /// Status reports about the opposite direction's data, which this direction has to send.
    status_queue: VecDeque<Status>,
    counters: RlcCounters,
    /// End of the last block; [`Time::NEVER`] while the rate is 0.
    free_at: Time,
    /// End of the last block, if the rate was set to 0.
    free_before_stop: Option<Time>,
    /// Arrival of the last block.
    arrives_at: Time,
    /// Time at which the outcome of the last block is reported, if status is not polled.
    reports_at: Time,
    /// Start of the next block; [`Time::NEVER`] if no block is planned.
    next_block: Time,
    changes_at: Time,
    block: Vec<PduRange>,
    discarded: Vec<u64>,
    dropped: Dropped,
}

impl Rlc {
    /// Builds a direction with these parameters.
    pub fn new(values: &Values, parts: DirectionParts) -> Rlc {
        let discard = match values.word("discard") {
            "retransmissions" => Discard::Retransmissions(values.count("retransmissions") as u32),
            "timer" => Discard::Timer(values.duration("lifetime")),
            _ => Discard::Never,
        };
        let polls = values.word("status") == "polled";
        let payload = values.bytes("pdu").saturating_sub(values.bytes("header"));
        Rlc {
            tti: values.duration("tti"),
            pdu: values.bytes("pdu"),
            delay: parts.delay,
            status_delay: values.duration("status_delay"),
            announces: values.flag("announce"),
            loses_blocks: values.word("loses") == "block",
            numbers_overflow: values.flag("number_overflow"),
            queue: parts.queue,
            size: BlockSize::of(Rate::from_bps(0), values.duration("tti"), values.bytes("pdu")),
            dequeues_at: Time::NEVER,
            channel: parts.channel,
            segmentation: Segmentation::new(payload, values.flag("concatenate")),
            transmitter: RlcTransmitter::new(discard, values.word("holds") == "unacknowledged", polls),
            receiver: RlcReceiver::new(values.duration("wait")),
            polling: polls.then(|| Polling::new(values)),
            status_queue: VecDeque::new(),
            counters: RlcCounters::default(),
            free_at: Time::ZERO,
            free_before_stop: None,
            arrives_at: Time::ZERO,
            reports_at: Time::ZERO,
            next_block: Time::NEVER,
            changes_at: parts.service.change_after(Time::ZERO),
            service: parts.service,
            block: Vec::new(),
            discarded: Vec::new(),
            dropped: Dropped::new(),
        }
    }

    fn rate(&self, now: Time) -> Rate {
        self.service.rate_at(now)
    }

    #[inline]
    fn block_size(&mut self, now: Time) -> BlockSize {
        let rate = self.rate(now);
        if rate != self.size.rate {
            self.size = BlockSize::of(rate, self.tti, self.pdu);
        }
        self.size
    }

    /// Returns the end of a block that starts at `now`, if one interval is too short for a PDU. The block then has one
    /// PDU and takes several intervals.
    #[cold]
    fn end_of_long_block(&self, now: Time) -> Time {
        let tti = u128::from(self.tti.as_nanos());
        // `left` has the unit 10^-9 bits, so that all numbers are whole.
        let mut left = u128::from(self.pdu) * 8 * 1_000_000_000;
        let mut at = now;
        while at < Time::NEVER {
            let an_interval = u128::from(self.rate(at).bps()) * tti;
            let needed = left.div_ceil(an_interval.max(1));
            // The rate at the beginning of an interval applies to the whole interval.
            let change = u128::from(self.service.change_after(at).since(at).as_nanos());
            let intervals = needed.min(change.div_ceil(tti).max(1));
            at += Duration::from_nanos(u64::try_from(intervals * tti).unwrap_or(u64::MAX));
            left = left.saturating_sub(intervals * an_interval);
            if left == 0 {
                break;
            }
        }
        at
    }

    fn plan_block(&mut self, now: Time) {
        let at_once = !self.status_queue.is_empty() || (self.polling.is_some() && !self.discarded.is_empty());
        let mut wanted = if at_once { now } else { self.transmitter.next_data_at(now).min(self.dequeues_at) };
        if let Some(polling) = &mut self.polling {
            if self.transmitter.has_outstanding() {
                wanted = wanted.min(polling.expires().max(now))
            } else {
                polling.stop_timer()
            }
        }
        self.next_block = match wanted {
            Time::NEVER => Time::NEVER,
            wanted => wanted.max(self.free_at).round_up(self.tti),
        };
    }

    /// Admits a packet to a first-in-first-out queue, or drops the packet. `joined` is the time at which the packet
    /// entered the direction. Returns whether the packet was admitted.
    #[inline(always)]
    fn admit(&mut self, now: Time, joined: Time, mut packet: Packet, out: &mut Vec<Output>) -> bool {
        let backlog = self.backlog(now);
        let idle = if backlog.waiting == 0 { now.since(self.free_at) } else { Duration::ZERO };
        let queue = ArrivalState { backlog, idle };
        if let Discipline::Fifo(admission) = &mut self.queue
            && let Verdict::Drop(reason) = admission.admit(now, &mut packet, &queue)
        {
            self.counters.overflowed += 1;
            out.push(Output::lost(packet, now, reason));
            if self.numbers_overflow {
                self.push_dropped(joined, packet);
            }
            return false;
        }
        let pdus = self.segmentation.cut(packet.wire_bytes, self.transmitter.fresh());
        self.transmitter.push(joined, packet.wire_bytes, pdus, &mut self.counters);
        self.receiver.push(packet, pdus);
        true
    }

    /// Gives a sequence number to a packet that the queue dropped.
    fn push_dropped(&mut self, joined: Time, packet: Packet) {
        let none = self.segmentation.skip();
        self.transmitter.push(joined, packet.wire_bytes, none, &mut self.counters);
        self.receiver.push(packet, none);
    }

    /// Starts an interval: handles reports, fills and sends a block, and passes the block's outcome to the receiver.
    fn send_block(&mut self, now: Time, out: &mut Vec<Output>) {
        let BlockSize { bytes, pdus: room, .. } = self.block_size(now);
        let ends = if bytes < self.pdu { self.end_of_long_block(now) } else { now + self.tti };
        // After a reduction of the delay, a block does not overtake the previous block.
        let arrives = (ends + self.delay).max(self.arrives_at);
        self.transmitter.apply_reports(now);
        self.transmitter.retransmit_lost(now, &mut self.discarded);
        self.fill_from_queue(now, room, out);
        let poll_only = self.poll_after_timeout(now);
        self.receiver.run_until(arrives, &mut self.counters, out);
        for number in self.discarded.drain(..) {
            self.receiver.discard(arrives, number, self.announces, &mut self.counters, out);
        }
        let mut block = std::mem::take(&mut self.block);
        let status = (self.status_queue.len() as u64).min(room);
        let poll_only = poll_only && status < room;
        let left = room - status - u64::from(poll_only);
        let last = self.transmitter.fill(left, self.dequeues_at < Time::NEVER, &mut block);
        if status > 0 || poll_only || !block.is_empty() {
            (self.free_at, self.arrives_at) = (ends, arrives);
            self.reports_at = (arrives + self.delay + self.status_delay).max(self.reports_at);
            self.counters.blocks += 1;
            let data = block.iter().map(|range| range.pdus.len()).sum::<u64>() + u64::from(poll_only);
            let has_poll = self.polling.as_mut().is_some_and(|polling| polling.should_poll(now, data, last));
            self.counters.polls += u64::from(has_poll);
            let bytes = bytes.max(self.pdu).min(u64::from(u32::MAX)) as u32;
            let transmission =
                Transmission { start: now, end: ends, bytes, attempt: 0, priority: Priority::NORMAL };
            self.send(&transmission, &BlockContents { status, ranges: &block, poll_only, has_poll }, out);
        }
        block.clear();
        self.block = block;
        self.plan_block(now);
    }

    fn fill_from_queue(&mut self, now: Time, room: u64, out: &mut Vec<Output>) {
        let Discipline::Scheduled(queue) = &mut self.queue else { return };
        let mut refused = false;
        while self.transmitter.ready() < room && !refused {
            match queue.dequeue(now, &mut self.dropped) {
                Some(packet) => {
                    let pdus = self.segmentation.cut(packet.wire_bytes, self.transmitter.fresh());
                    self.transmitter.push(now, packet.wire_bytes, pdus, &mut self.counters);
                    self.receiver.push(packet, pdus);
                }
                None => refused = true,
            }
        }
        self.dequeues_at = match queue.backlog().waiting {
            0 => Time::NEVER,
            _ if refused => queue.ready_at(now),
            _ => now,
        };
        self.report_drops(now, out);
    }

    fn report_drops(&mut self, now: Time, out: &mut Vec<Output>) {
        self.counters.overflowed += self.dropped.len() as u64;
        out.extend(self.dropped.drain(..).map(|(packet, reason)| Output::lost(packet, now, reason)));
    }

    /// If the poll timer has expired and there is no other data, retransmits the last PDU to carry a poll. Returns true
    /// if that PDU had already arrived, so that only the poll matters to the receiver.
    fn poll_after_timeout(&mut self, now: Time) -> bool {
        let expired = self.polling.as_ref().is_some_and(|polling| polling.expires() <= now);
        expired
            && self.transmitter.next_data_at(now) == Time::NEVER
            && self.transmitter.retransmit_last(&mut self.discarded)
    }

    /// Sends a block. The channel decides either on the loss of the whole block, or on the loss of each PDU separately.
    fn send(&mut self, transmission: &Transmission, contents: &BlockContents<'_>, out: &mut Vec<Output>) {
        let whole = self.loses_blocks.then(|| self.channel.transmit(transmission) == Reception::Lost);
        let mut any_lost = whole == Some(true);
        for _ in 0..contents.status {
            let lost = self.is_lost(transmission, whole);
            any_lost |= lost;
            self.send_status(lost, out);
        }
        let mut last_lost = false;
        for range in contents.ranges {
            // If the channel decides for the whole block, all PDUs of a range have the same outcome.
            let step = if whole.is_some() { range.pdus.len() } else { 1 };
            let mut from = range.pdus.start;
            while from < range.pdus.end {
                last_lost = self.is_lost(transmission, whole);
                any_lost |= last_lost;
                self.send_range(
                    transmission,
                    PduRange { pdus: Pdus { start: from, end: from + step }, ..*range },
                    last_lost,
                    out,
                );
                from += step;
            }
        }
        if contents.poll_only {
            last_lost = self.is_lost(transmission, whole);
            any_lost |= last_lost;
            self.counters.pdus += 1;
            self.counters.retransmissions += 1;
        }
        self.counters.blocks_lost += u64::from(any_lost);
        if let Some(polling) = &mut self.polling
            && contents.has_poll
            && !last_lost
        {
            polling.on_poll(self.arrives_at + self.status_delay);
        }
    }

    fn is_lost(&mut self, transmission: &Transmission, whole: Option<bool>) -> bool {
        whole.unwrap_or_else(|| {
            self.channel.transmit(&Transmission { bytes: self.pdu as u32, ..*transmission })
                == Reception::Lost
        })
    }

    fn send_range(
        &mut self,
        transmission: &Transmission,
        range: PduRange,
        lost: bool,
        out: &mut Vec<Output>,
    ) {
        let arrives = self.arrives_at;
        self.counters.pdus += range.pdus.len();
        self.counters.retransmissions += if range.attempt > 0 { range.pdus.len() } else { 0 };
        if !lost {
            self.receiver.on_pdus(arrives, range.pdus, &mut self.counters, out);
        }
        let Some(polling) = &mut self.polling else {
            return self.transmitter.report(self.reports_at, range, lost);
        };
        if !lost {
            polling.on_pdus_sent(transmission.start, arrives, range.pdus.end);
        }
        self.transmitter.report(arrives, range, lost);
    }

    fn send_status(&mut self, lost: bool, out: &mut Vec<Output>) {
        let Some(status) = self.status_queue.pop_front() else { return };
        self.counters.status_pdus += 1;
        out.push(Output::ToPeer(if lost {
            PeerMessage::StatusLost(status)
        } else {
            PeerMessage::StatusArrives { status, at: self.arrives_at }
        }));
    }

    fn exchange_status(&mut self, now: Time, out: &mut Vec<Output>) {
        let Some(polling) = &mut self.polling else { return };
        if let Some(highest) = polling.due_status(now) {
            self.counters.statuses += 1;
            let status = self.transmitter.status(now, highest, status::pairs_in(self.pdu));
            out.push(Output::ToPeer(PeerMessage::SendStatus(status)));
        }
        let mut is_received = false;
        while let Some(status) = polling.next_received(now) {
            self.transmitter.on_status(&status, &mut self.discarded);
            is_received = true;
        }
        if is_received {
            self.plan_block(now);
        }
    }
}

#[derive(Clone, Copy)]
struct BlockSize {
    rate: Rate,
    bytes: u64,
    pdus: u64,
}

impl BlockSize {
    #[inline(never)]
    fn of(rate: Rate, tti: Duration, pdu: u64) -> BlockSize {
        let bits = u128::from(rate.bps()) * u128::from(tti.as_nanos()) / 1_000_000_000;
        let bytes = (bits / 8) as u64;
        BlockSize { rate, bytes, pdus: (bytes / pdu).max(1) }
    }
}

struct BlockContents<'a> {
    /// Number of status PDUs, which report on the opposite direction's data.
    status: u64,
    ranges: &'a [PduRange],
    /// Whether the block repeats a PDU that has already arrived, only to carry a poll.
    poll_only: bool,
    /// Whether the block's last data PDU polls for a status report.
    has_poll: bool,
}

impl Element for Rlc {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.transmitter.apply_reports(now);
        if let Discipline::Scheduled(queue) = &mut self.queue {
            queue.enqueue(now, packet, &mut self.dropped);
            self.dequeues_at = self.dequeues_at.min(now);
            self.report_drops(now, out);
            return self.plan_block(now);
        }
        if self.admit(now, now, packet, out) {
            self.plan_block(now);
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.changes_at {
            out.push(Output::Report(LinkReport::Rate { bps: self.rate(now).bps() }));
            self.changes_at = self.service.change_after(now);
        }
        self.receiver.run_until(now, &mut self.counters, out);
        self.exchange_status(now, out);
        if now >= self.next_block {
            self.send_block(now, out);
        }
    }

    fn draws(&self) -> bool {
        self.queue.draws() || self.channel.draws() || self.service.draws()
    }

    fn poll_timeout(&self) -> Time {
        let exchange_status = self.polling.as_ref().map_or(Time::NEVER, Polling::deadline);
        self.next_block.min(self.receiver.deadline()).min(self.changes_at).min(exchange_status)
    }

    fn handle_peer_message(&mut self, now: Time, message: PeerMessage) {
        match (message, &mut self.polling) {
            (PeerMessage::SendStatus(status), _) => {
                self.status_queue.push_back(status);
                self.plan_block(now);
            }
            (PeerMessage::StatusArrives { status, at }, Some(polling)) => {
                polling.schedule_arrival(at, status)
            }
            (PeerMessage::StatusLost(_), _) => self.counters.statuses_lost += 1,
            (PeerMessage::StatusArrives { .. }, None) | (PeerMessage::Medium { .. }, _) => {}
        }
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        self.transmitter.apply_reports(now);
        let (held, held_bytes) = self.transmitter.held();
        let queued = match &self.queue {
            Discipline::Fifo(_) => Backlog::default(),
            Discipline::Scheduled(queue) => queue.backlog(),
        };
        Backlog { waiting: held + queued.waiting, in_service: false, bytes: held_bytes + queued.bytes }
    }

    fn rlc(&self) -> Option<&RlcCounters> {
        Some(&self.counters)
    }

    fn average(&self) -> Option<f64> {
        self.queue.average()
    }

    fn settings(&self) -> Option<LinkSettings> {
        Some(self.current_settings())
    }

    fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused> {
        channel::refusal(&*self.channel, change)
    }

    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        self.apply_change(now, change, out);
    }

    fn queue_refusal(&self) -> Option<ChangeRefused> {
        None
    }

    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        self.replace_queue(now, queue, out);
    }

    fn queueing_delay(&mut self, _: Time) -> Option<Duration> {
        None
    }

    lacks!(copies, bypass, failures);
}
