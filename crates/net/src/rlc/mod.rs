//! RLC in acknowledged mode (3GPP TS 25.322 as far as koga §4.2 and §5.2.1 use it): selective repeat under transport blocks.
//!
//! * `segmentation`: SDUs cut into PDUs.
//! * `transmitter`: what goes into the next block, what is sent again, what is given up.
//! * `receiver`: whole SDUs in order, or after the waiting timer.
//! * `status`: polls and status reports, where they are modelled.
//! * `parameters`: what can be set.
//!
//! Every transmission time interval carries a block as large as the link's rate times the interval; it is decoded at
//! its end. One event a block, none for a PDU: the receiving side runs ahead to the block's end. Where an interval is too
//! short for a PDU, the block has one, and takes as many whole intervals as that needs at the rates that hold meanwhile.
//!
//! By default (`status = "constant"`) every block's outcome is reported, without errors, a propagation delay and a
//! constant time after it arrived; the other direction carries no status, and its ACKs have the whole rate. With
//! `status = "polled"` the sending side asks, and the answer travels in the other direction's blocks, before its data.
//!
//! Packets are cut as they come, and the queue (its limit) counts what is not sent yet. A queue that decides on leaving
//! (`tag_drop`, `cbq`) keeps them instead: each block takes from it what it has room for, and a packet's life in the
//! buffer (`discard`) begins then.
//!
//! # What is not modelled
//! A discard is announced in the next block, whatever becomes of that. A block has at most one poll, on its last PDU of
//! data. A status is one PDU: what its list has no room for, the next one tells. The sending side knows which PDUs a
//! status can tell of: one that was sent again after it was made is not sent a third time because of it. Numbers never run out (TS 25.322 has 4096, and stalls). A recorded rate (`trace`) counts
//! with its mean.

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

/// RLC in acknowledged mode with these parameters, before it is part of a link.
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

/// One direction of a link under RLC in acknowledged mode.
pub struct Rlc {
    tti: Duration,
    pdu: u64,
    service: Service,
    delay: Duration,
    status_delay: Duration,
    announces: bool,
    loses_blocks: bool,
    numbers_overflow: bool,
    /// Of the last block.
    size: BlockSize,
    queue: Discipline,
    /// When a queue that decides on leaving is to be asked next, [`Time::NEVER`] if it is empty.
    asks_at: Time,
    channel: Box<dyn Channel>,
    segmentation: Segmentation,
    transmitter: Transmitter,
    receiver: Receiver,
    /// Where status is polled.
    polling: Option<Polling>,
    /// Status reports about the other direction, to be sent in this one.
    carried: VecDeque<Status>,
    counters: Counters,
    /// When the next block may begin.
    free_at: Time,
    /// When the next block begins, [`Time::NEVER`] without anything to send or to hear.
    next_block: Time,
    /// When the rate changes next.
    changes_at: Time,
    /// Kept for their room.
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

    /// What a block that begins at `now` has room for.
    #[inline]
    fn block_size(&mut self, now: Time) -> BlockSize {
        let rate = self.rate(now);
        if rate != self.size.rate {
            self.size = BlockSize::of(rate, self.tti, self.pdu);
        }
        self.size
    }

    /// End of a block that begins at `now`, where an interval is too short for its one PDU.
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

    /// When the next block begins, at the beginning of an interval.
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

    /// An interval begins: reports are heeded, a block is filled and sent, and its outcome goes to the other end.
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

    /// A block of `room` PDUs is to be filled: what it has room for leaves a queue that decides on leaving.
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

    /// If the poll timer has expired and nothing else is to be sent, the last PDU goes again to carry the poll. Whether
    /// it had arrived, so that nothing but the poll is new.
    fn ask_again(&mut self, now: Time) -> bool {
        let expired = self.polling.as_ref().is_some_and(|polling| polling.expires() <= now);
        expired
            && self.transmitter.wants(now) == Time::NEVER
            && self.transmitter.repeat_last(&mut self.discarded)
    }

    /// A block on the air, one answer of the channel for all of it or for each PDU.
    fn send(&mut self, air: &Air, contents: &Contents<'_>, out: &mut Vec<Output>) {
        let whole = self.loses_blocks.then(|| self.channel.transmit(air) == Reception::Lost);
        let mut any_lost = whole == Some(true);
        for _ in 0..contents.status {
            let lost = self.is_lost(air, whole);
            any_lost |= lost;
            self.send_status(air, lost, out);
        }
        // Whether the last PDU of data, which has the poll, is lost.
        let mut last_lost = false;
        for run in contents.runs {
            // A block lost as a whole has one run's outcome for all of it.
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

    /// The first status that waits.
    fn send_status(&mut self, air: &Air, lost: bool, out: &mut Vec<Output>) {
        let Some(status) = self.carried.pop_front() else { return };
        self.counters.status_pdus += 1;
        out.push(Output::Across(if lost {
            Across::Lost(status)
        } else {
            Across::Arrives { status, at: air.end + self.delay }
        }));
    }

    /// Hears the status that has come, and answers the poll that is to be answered.
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

/// What a block has room for at a rate.
#[derive(Clone, Copy)]
struct BlockSize {
    rate: Rate,
    bytes: u64,
    /// At least one.
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

/// What a block carries.
struct Contents<'a> {
    /// Status PDUs about the other direction.
    status: u64,
    runs: &'a [Run],
    /// Whether it has one PDU beside that has arrived before and only carries the poll.
    only_asks: bool,
    /// Whether its last PDU of data has a poll.
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
