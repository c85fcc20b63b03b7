//! RLC in acknowledged mode (3GPP TS 25.322 as far as koga §4.2 and §5.2.1 use it): selective repeat under transport blocks.
//!
//! * `segmentation`: SDUs cut into PDUs.
//! * `transmitter`: what goes into the next block, what is sent again, what is given up.
//! * `receiver`: whole SDUs in order, or after the waiting timer.
//! * `counters`: what is counted at both ends.
//! * `parameters`: what can be set.
//!
//! Every transmission time interval carries a block as large as the link's rate times the interval; it is decoded at
//! its end. One event a block, none for a PDU: the receiving side runs ahead to the block's end.
//!
//! # What is not modelled
//! Polling and status PDUs: every block's outcome is reported, without errors, a propagation delay and a constant time
//! after it arrived. The reverse direction carries no status, so that its ACKs have the whole rate. A discard is
//! announced in the next block, whatever becomes of that. The host behind the link hears of a discarded SDU even if
//! the receiving side is not told. A recorded rate (`trace`) counts with its mean.

mod counters;
mod parameters;
mod receiver;
mod segmentation;
mod transmitter;

pub use counters::Counters;
pub use parameters::MECHANISM;

use crate::admission::{self, Admission, Place, State, Verdict};
use crate::channel::{self, Air, Channel, Fate};
use crate::element::{Element, Output};
use crate::link::Config;
use crate::service::Service;
use lasthop_base::{Duration, Mechanism, Rate, Stream, Time};
use lasthop_wire::{Backlog, LinkReport, Packet, Priority};
use receiver::Receiver;
use segmentation::{Pdus, Segmentation};
use transmitter::{Discard, Run, Transmitter};

/// How such a link is built.
pub type Build = fn(&Config, Stream) -> Rlc;

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
    admission: Box<dyn Admission>,
    channel: Box<dyn Channel>,
    segmentation: Segmentation,
    transmitter: Transmitter,
    receiver: Receiver,
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
}

impl Rlc {
    /// The direction that a configuration describes; a queue that decides on leaving counts as unlimited.
    pub fn new(config: &Config, random: Stream) -> Rlc {
        let queue_random = Stream::named(random.clone().draw(), "queue");
        let channel = (config.channel.mechanism(channel::ALL).build)(&config.channel.values, random);
        Rlc::made_of(config, channel, queue_random)
    }

    /// The same with any channel, whatever the configuration says of it; a queue that draws does so from one stream.
    pub fn with_channel(config: &Config, channel: Box<dyn Channel>) -> Rlc {
        Rlc::made_of(config, channel, Stream::named(0, "queue"))
    }

    fn made_of(config: &Config, channel: Box<dyn Channel>, random: Stream) -> Rlc {
        let values = &config.arq.values;
        let discard = match values.word("discard") {
            "retransmissions" => Discard::Retransmissions(values.count("retransmissions") as u32),
            "timer" => Discard::Timer(values.duration("lifetime")),
            _ => Discard::Never,
        };
        let place = Place { rate: config.service.rate_at(Time::ZERO), random };
        let admission = match lasthop_base::mechanism::find(admission::ALL, config.queue.info.name) {
            Some(admission) => (admission.build)(&config.queue.values, place),
            None => {
                let unlimited = lasthop_base::Choice::named(admission::ALL, "drop_tail");
                (unlimited.mechanism(admission::ALL).build)(&unlimited.values, place)
            }
        };
        let payload = values.bytes("pdu").saturating_sub(values.bytes("header"));
        Rlc {
            tti: values.duration("tti"),
            pdu: values.bytes("pdu"),
            delay: config.delay,
            status_delay: values.duration("status_delay"),
            announces: values.flag("announce"),
            loses_blocks: values.word("loses") == "block",
            numbers_overflow: values.flag("number_overflow"),
            admission,
            channel,
            segmentation: Segmentation::new(payload, values.flag("concatenate")),
            transmitter: Transmitter::new(discard, values.word("holds") == "unacknowledged"),
            receiver: Receiver::new(values.duration("wait")),
            counters: Counters::default(),
            free_at: Time::ZERO,
            next_block: Time::NEVER,
            changes_at: config.service.change_after(Time::ZERO),
            service: config.service.clone(),
            block: Vec::new(),
            discarded: Vec::new(),
        }
    }

    fn rate(&self, now: Time) -> Rate {
        self.service.rate_at(now)
    }

    /// When the next block begins, at the beginning of an interval.
    fn plan_block(&mut self, now: Time) {
        self.next_block = match self.transmitter.wants(now) {
            Time::NEVER => Time::NEVER,
            wanted => wanted.max(self.free_at).round_up(self.tti),
        };
    }

    /// An interval begins: reports are heeded, a block is filled and sent, and its outcome goes to the other end.
    fn send_block(&mut self, now: Time, out: &mut Vec<Output>) {
        let ends = now + self.tti;
        let arrives = ends + self.delay;
        self.transmitter.settle(now);
        self.transmitter.repeat(now, &mut self.discarded);
        self.receiver.run_until(arrives, &mut self.counters, out);
        for number in self.discarded.drain(..) {
            self.receiver.discard(arrives, number, self.announces, &mut self.counters, out);
        }
        let bits = u128::from(self.rate(now).bps()) * u128::from(self.tti.as_nanos()) / 1_000_000_000;
        let bytes = (bits / 8) as u64;
        let mut block = std::mem::take(&mut self.block);
        self.transmitter.fill((bytes / self.pdu).max(1), &mut block);
        if !block.is_empty() {
            self.free_at = ends;
            self.counters.blocks += 1;
            let bytes = bytes.min(u64::from(u32::MAX)) as u32;
            let air = Air { start: now, end: ends, bytes, attempt: 0, priority: Priority::Normal };
            match self.loses_blocks {
                true => self.send_whole(&air, &block, out),
                false => self.send_apart(&air, &block, out),
            }
        }
        block.clear();
        self.block = block;
        self.plan_block(now);
    }

    fn send_whole(&mut self, air: &Air, block: &[Run], out: &mut Vec<Output>) {
        let lost = self.channel.fate(air) == Fate::Lost;
        self.counters.blocks_lost += u64::from(lost);
        for run in block {
            self.send_run(air, *run, lost, out);
        }
    }

    fn send_apart(&mut self, air: &Air, block: &[Run], out: &mut Vec<Output>) {
        let mut any_lost = false;
        for run in block {
            let mut from = run.pdus.start;
            while from < run.pdus.end {
                let lost = self.channel.fate(&Air { bytes: self.pdu as u32, ..*air }) == Fate::Lost;
                any_lost |= lost;
                self.send_run(air, Run { pdus: Pdus { start: from, end: from + 1 }, ..*run }, lost, out);
                from += 1;
            }
        }
        self.counters.blocks_lost += u64::from(any_lost);
    }

    fn send_run(&mut self, air: &Air, run: Run, lost: bool, out: &mut Vec<Output>) {
        let arrives = air.end + self.delay;
        self.counters.pdus += run.pdus.len();
        self.counters.retransmissions += if run.attempt > 0 { run.pdus.len() } else { 0 };
        if !lost {
            self.receiver.take(arrives, run.pdus, &mut self.counters, out);
        }
        self.transmitter.report(arrives + self.delay + self.status_delay, run, lost);
    }
}

impl Element for Rlc {
    fn handle_packet(&mut self, now: Time, mut packet: Packet, out: &mut Vec<Output>) {
        self.transmitter.settle(now);
        let backlog = self.backlog(now);
        let idle = if backlog.waiting == 0 { now.since(self.free_at) } else { Duration::ZERO };
        let queue = State { backlog, idle };
        if let Verdict::Drop(reason) = self.admission.admit(now, &mut packet, &queue) {
            self.counters.overflowed += 1;
            out.push(Output::Lost { packet, at: now, reason });
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
        if now >= self.next_block {
            self.send_block(now, out);
        }
    }

    fn poll_timeout(&self) -> Time {
        self.next_block.min(self.receiver.deadline()).min(self.changes_at)
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        self.transmitter.settle(now);
        let (waiting, bytes) = self.transmitter.held();
        Backlog { waiting, in_service: false, bytes }
    }

    fn rlc(&self) -> Option<&Counters> {
        Some(&self.counters)
    }
}
