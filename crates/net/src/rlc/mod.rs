//! RLC in acknowledged mode (3GPP TS 25.322 as far as koga §4.2 and §5.2.1 use it): selective repeat over transport
//! blocks.
//!
//! * `segmentation`: SDUs into PDUs. `transmitter`: contents of a block, retransmissions, discards.
//! * `receiver`: delivery of complete SDUs in order, or after the reordering timer.
//! * `status`: polls and status reports.
//!
//! Every transmission time interval carries a block of the link's rate times the interval, decoded at its end. One
//! event per block, none per PDU: the receiver runs ahead to the block's end. If an interval is too short for a PDU, a
//! block has one PDU and takes as many whole intervals as needed at the current rates.
//!
//! With `status = "constant"` (default) every block's outcome is reported, without errors, a propagation delay and a
//! constant time after its arrival, and the other direction carries no status. With `status = "polled"` the sender
//! polls, and the status travels in the other direction's blocks, before data.
//!
//! Packets are segmented at arrival, and the queue limit counts unsent data. A queue that decides at dequeue
//! (`tag_drop`, `cbq`) keeps its packets: each block dequeues as many as fit, and a packet's `discard` lifetime begins
//! then.
//!
//! # Not modelled
//! A discard is announced in the next block, even if that is lost. A block has at most one poll, on its last data PDU.
//! A status is one PDU; PDUs beyond its list wait for the next one. The sender knows which PDUs a status can cover: a
//! PDU retransmitted after the status was made is not retransmitted because of it. Numbers do not wrap (TS 25.322 has
//! 4096, and stalls). A recorded rate (`trace`) counts with its mean.

mod parameters;
mod receiver;
mod segmentation;
mod status;
mod transmitter;

pub use parameters::MECHANISM;

use crate::across::{Across, Status};
use crate::admission::{State, Verdict};
use crate::arq::{Build, Layer, Partner, Parts};
use crate::channel::{Air, Channel, Reception};
use crate::counters::Counters;
use crate::discipline::Discipline;
use crate::element::{Element, Output, lacks};
use crate::queue::Dropped;
use crate::service::Service;
use lasthop_base::{Duration, Mechanism, Rate, Time, Values};
use lasthop_wire::{Backlog, LinkReport, Packet, Priority};
use receiver::Receiver;
use segmentation::{Pdus, Segmentation};
use status::Polling;
use std::collections::VecDeque;
use transmitter::{Discard, Run, Transmitter};

struct Acknowledged {
    values: Values,
}

impl Layer for Acknowledged {
    fn element(self: Box<Self>, parts: Parts) -> Box<dyn Element> {
        Box::new(Rlc::new(&self.values, parts))
    }

    fn reports_trouble(&self) -> bool {
        false
    }

    fn partner(&self) -> Option<Partner> {
        (self.values.word("status") == "polled").then_some(Partner {
            why: "status = \"polled\" needs RLC in the other direction, which carries the status",
            remedy: "leave status = \"constant\"",
        })
    }
}

/// All link layers of this kind.
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
    /// Time of the next dequeue, [`Time::NEVER`] for an empty queue.
    asks_at: Time,
    channel: Box<dyn Channel>,
    segmentation: Segmentation,
    transmitter: Transmitter,
    receiver: Receiver,
    polling: Option<Polling>,
    /// Status reports for the other direction.
    carried: VecDeque<Status>,
    counters: Counters,
    free_at: Time,
    /// Start of the next block, [`Time::NEVER`] without one.
    next_block: Time,
    changes_at: Time,
    block: Vec<Run>,
    discarded: Vec<u64>,
    dropped: Dropped,
}

impl Rlc {
    /// A direction with these parameters.
    pub fn new(values: &Values, parts: Parts) -> Rlc {
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
            asks_at: Time::NEVER,
            channel: parts.channel,
            segmentation: Segmentation::new(payload, values.flag("concatenate")),
            transmitter: Transmitter::new(discard, values.word("holds") == "unacknowledged", polls),
            receiver: Receiver::new(values.duration("wait")),
            polling: polls.then(|| Polling::new(values)),
            carried: VecDeque::new(),
            counters: Counters::default(),
            free_at: Time::ZERO,
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

    /// End of a block from `now` if an interval is too short for one PDU.
    #[cold]
    fn end_of_long_block(&self, now: Time) -> Time {
        let tti = u128::from(self.tti.as_nanos());
        // Bits times nanoseconds per second: whole numbers throughout.
        let mut left = u128::from(self.pdu) * 8 * 1_000_000_000;
        let mut at = now;
        while at < Time::NEVER {
            let an_interval = u128::from(self.rate(at).bps()) * tti;
            let needed = left.div_ceil(an_interval.max(1));
            // An interval has the rate of its beginning.
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
        let at_once = !self.carried.is_empty() || (self.polling.is_some() && !self.discarded.is_empty());
        let mut wanted = if at_once { now } else { self.transmitter.wants(now).min(self.asks_at) };
        if let Some(polling) = &mut self.polling {
            if self.transmitter.is_outstanding() {
                wanted = wanted.min(polling.expires().max(now))
            } else {
                polling.rest()
            }
        }
        self.next_block = match wanted {
            Time::NEVER => Time::NEVER,
            wanted => wanted.max(self.free_at).round_up(self.tti),
        };
    }

    /// Starts an interval: handles reports, fills and sends a block, and passes its outcome to the receiver.
    fn send_block(&mut self, now: Time, out: &mut Vec<Output>) {
        let BlockSize { bytes, pdus: room, .. } = self.block_size(now);
        let ends = if bytes < self.pdu { self.end_of_long_block(now) } else { now + self.tti };
        let arrives = ends + self.delay;
        self.transmitter.settle(now);
        self.transmitter.repeat(now, &mut self.discarded);
        self.take_from_queue(now, room, out);
        let only_asks = self.ask_again(now);
        self.receiver.run_until(arrives, &mut self.counters, out);
        for number in self.discarded.drain(..) {
            self.receiver.discard(arrives, number, self.announces, &mut self.counters, out);
        }
        let mut block = std::mem::take(&mut self.block);
        let status = (self.carried.len() as u64).min(room);
        let only_asks = only_asks && status < room;
        let left = room - status - u64::from(only_asks);
        let last = self.transmitter.fill(left, self.asks_at < Time::NEVER, &mut block);
        if status > 0 || only_asks || !block.is_empty() {
            self.free_at = ends;
            self.counters.blocks += 1;
            let data = block.iter().map(|run| run.pdus.len()).sum::<u64>() + u64::from(only_asks);
            let asks = self.polling.as_mut().is_some_and(|polling| polling.asks(now, data, last));
            self.counters.polls += u64::from(asks);
            let bytes = bytes.max(self.pdu).min(u64::from(u32::MAX)) as u32;
            let air = Air { start: now, end: ends, bytes, attempt: 0, priority: Priority::Normal };
            self.send(&air, &Contents { status, runs: &block, only_asks, asks }, out);
        }
        block.clear();
        self.block = block;
        self.plan_block(now);
    }

    fn take_from_queue(&mut self, now: Time, room: u64, out: &mut Vec<Output>) {
        let Discipline::Scheduled(queue) = &mut self.queue else { return };
        let mut refused = false;
        while self.transmitter.ready() < room && !refused {
            match queue.dequeue(now, &mut self.dropped) {
                Some(packet) => {
                    let pdus = self.segmentation.cut(packet.wire_bytes, self.transmitter.fresh());
                    self.transmitter.push(now, packet.wire_bytes, pdus, &mut self.counters);
                    self.receiver.expect(packet, pdus);
                }
                None => refused = true,
            }
        }
        self.asks_at = match queue.backlog().waiting {
            0 => Time::NEVER,
            _ if refused => queue.ready_at(now),
            _ => now,
        };
        self.tell_dropped(now, out);
    }

    fn tell_dropped(&mut self, now: Time, out: &mut Vec<Output>) {
        self.counters.overflowed += self.dropped.len() as u64;
        out.extend(self.dropped.drain(..).map(|(packet, reason)| Output::gone(packet, now, reason)));
    }

    /// After the poll timer without other data, retransmits the last PDU with a poll. Returns whether that PDU had
    /// arrived already.
    fn ask_again(&mut self, now: Time) -> bool {
        let expired = self.polling.as_ref().is_some_and(|polling| polling.expires() <= now);
        expired
            && self.transmitter.wants(now) == Time::NEVER
            && self.transmitter.repeat_last(&mut self.discarded)
    }

    /// Sends a block; the channel decides for the block or for each PDU.
    fn send(&mut self, air: &Air, contents: &Contents<'_>, out: &mut Vec<Output>) {
        let whole = self.loses_blocks.then(|| self.channel.transmit(air) == Reception::Lost);
        let mut any_lost = whole == Some(true);
        for _ in 0..contents.status {
            let lost = self.is_lost(air, whole);
            any_lost |= lost;
            self.send_status(air, lost, out);
        }
        let mut last_lost = false;
        for run in contents.runs {
            // A block lost as a whole has one outcome.
            let step = if whole.is_some() { run.pdus.len() } else { 1 };
            let mut from = run.pdus.start;
            while from < run.pdus.end {
                last_lost = self.is_lost(air, whole);
                any_lost |= last_lost;
                self.send_run(
                    air,
                    Run { pdus: Pdus { start: from, end: from + step }, ..*run },
                    last_lost,
                    out,
                );
                from += step;
            }
        }
        if contents.only_asks {
            last_lost = self.is_lost(air, whole);
            any_lost |= last_lost;
            self.counters.pdus += 1;
            self.counters.retransmissions += 1;
        }
        self.counters.blocks_lost += u64::from(any_lost);
        if let Some(polling) = &mut self.polling
            && contents.asks
            && !last_lost
        {
            polling.polled(air.end + self.delay + self.status_delay);
        }
    }

    fn is_lost(&mut self, air: &Air, whole: Option<bool>) -> bool {
        whole.unwrap_or_else(|| {
            self.channel.transmit(&Air { bytes: self.pdu as u32, ..*air }) == Reception::Lost
        })
    }

    fn send_run(&mut self, air: &Air, run: Run, lost: bool, out: &mut Vec<Output>) {
        let arrives = air.end + self.delay;
        self.counters.pdus += run.pdus.len();
        self.counters.retransmissions += if run.attempt > 0 { run.pdus.len() } else { 0 };
        if !lost {
            self.receiver.take(arrives, run.pdus, &mut self.counters, out);
        }
        let Some(polling) = &mut self.polling else {
            return self.transmitter.report(arrives + self.delay + self.status_delay, run, lost);
        };
        if !lost {
            polling.arrives(air.start, arrives, run.pdus.end);
        }
        self.transmitter.report(arrives, run, lost);
    }

    fn send_status(&mut self, air: &Air, lost: bool, out: &mut Vec<Output>) {
        let Some(status) = self.carried.pop_front() else { return };
        self.counters.status_pdus += 1;
        out.push(Output::Across(if lost {
            Across::Lost(status)
        } else {
            Across::Arrives { status, at: air.end + self.delay }
        }));
    }

    fn converse(&mut self, now: Time, out: &mut Vec<Output>) {
        let Some(polling) = &mut self.polling else { return };
        if let Some(highest) = polling.answer(now) {
            self.counters.statuses += 1;
            let status = self.transmitter.status(now, highest, status::pairs_in(self.pdu));
            out.push(Output::Across(Across::Send(status)));
        }
        let mut heard = false;
        while let Some(status) = polling.hear(now) {
            self.transmitter.hear(&status, &mut self.discarded);
            heard = true;
        }
        if heard {
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

struct Contents<'a> {
    /// Status PDUs for the other direction.
    status: u64,
    runs: &'a [Run],
    /// Whether an additional PDU, which had arrived already, only carries the poll.
    only_asks: bool,
    /// Whether the last data PDU has a poll.
    asks: bool,
}

impl Element for Rlc {
    fn handle_packet(&mut self, now: Time, mut packet: Packet, out: &mut Vec<Output>) {
        self.transmitter.settle(now);
        if let Discipline::Scheduled(queue) = &mut self.queue {
            queue.enqueue(now, packet, &mut self.dropped);
            self.asks_at = self.asks_at.min(now);
            self.tell_dropped(now, out);
            return self.plan_block(now);
        }
        let backlog = self.backlog(now);
        let idle = if backlog.waiting == 0 { now.since(self.free_at) } else { Duration::ZERO };
        let queue = State { backlog, idle };
        if let Discipline::Fifo(admission) = &mut self.queue
            && let Verdict::Drop(reason) = admission.admit(now, &mut packet, &queue)
        {
            self.counters.overflowed += 1;
            out.push(Output::gone(packet, now, reason));
            if self.numbers_overflow {
                let none = self.segmentation.skip();
                self.transmitter.push(now, packet.wire_bytes, none, &mut self.counters);
                self.receiver.expect(packet, none);
            }
            return;
        }
        let pdus = self.segmentation.cut(packet.wire_bytes, self.transmitter.fresh());
        self.transmitter.push(now, packet.wire_bytes, pdus, &mut self.counters);
        self.receiver.expect(packet, pdus);
        self.plan_block(now);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.changes_at {
            out.push(Output::Report(LinkReport::Rate { bps: self.rate(now).bps() }));
            self.changes_at = self.service.change_after(now);
        }
        self.receiver.run_until(now, &mut self.counters, out);
        self.converse(now, out);
        if now >= self.next_block {
            self.send_block(now, out);
        }
    }

    fn draws(&self) -> bool {
        self.queue.draws() || self.channel.draws()
    }

    fn poll_timeout(&self) -> Time {
        let converse = self.polling.as_ref().map_or(Time::NEVER, Polling::deadline);
        self.next_block.min(self.receiver.deadline()).min(self.changes_at).min(converse)
    }

    fn handle_across(&mut self, now: Time, across: Across) {
        match (across, &mut self.polling) {
            (Across::Send(status), _) => {
                self.carried.push_back(status);
                self.plan_block(now);
            }
            (Across::Arrives { status, at }, Some(polling)) => polling.expect(at, status),
            (Across::Lost(_), _) => self.counters.statuses_lost += 1,
            (Across::Arrives { .. }, None) | (Across::Air { .. }, _) => {}
        }
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        self.transmitter.settle(now);
        let (held, held_bytes) = self.transmitter.held();
        let queued = match &self.queue {
            Discipline::Fifo(_) => Backlog::default(),
            Discipline::Scheduled(queue) => queue.backlog(),
        };
        Backlog { waiting: held + queued.waiting, in_service: false, bytes: held_bytes + queued.bytes }
    }

    fn rlc(&self) -> Option<&Counters> {
        Some(&self.counters)
    }

    fn average(&self) -> Option<f64> {
        self.queue.average()
    }

    lacks!(copies, passing, trouble, settings, changes);
}
