//! Hybrid ARQ: parallel stop-and-wait processes with a block each (TS 36.321 §5.3.2, 38.321 §5.3.2). Retransmissions
//! follow after a whole number of slots, so two blocks never use the same slot.

use crate::across::Status;
use crate::channel::{Air, Channel, Reception};
use crate::service::Service;
use crate::span::Span;
use lasthop_base::random::{derive, unit_interval};
use lasthop_base::{Duration, Stream, Time, Values};
use lasthop_wire::Priority;

#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) spans: Vec<Span>,
    pub(super) statuses: Vec<Status>,
    /// Whether the last data PDU has a poll.
    pub(super) polls: bool,
}

impl Block {
    fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.statuses.is_empty()
    }
}

struct Process {
    /// Time of the next transmission, or time at which the process is free.
    due: Time,
    left: u32,
    /// Time of decoding, [`Time::NEVER`] if past or never.
    decoded: Time,
    block: Block,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) arrives: bool,
    pub(super) failures: u64,
}

pub(super) struct Processes {
    slot: Duration,
    round_trip: Duration,
    transmissions: u32,
    combining: f64,
    misread: f64,
    random: Stream,
    list: Vec<Process>,
    decodes_at: Time,
}

impl Processes {
    pub(super) fn new(values: &Values, random: Stream) -> Processes {
        let slot = values.duration("slot");
        let process = || Process { due: Time::ZERO, left: 0, decoded: Time::NEVER, block: Block::default() };
        Processes {
            slot,
            round_trip: (Time::ZERO + values.duration("round_trip")).round_up(slot).since(Time::ZERO),
            transmissions: values.count("transmissions") as u32,
            combining: values.number("combining"),
            misread: values.number("misread"),
            random,
            list: (0..values.count("processes")).map(|_| process()).collect(),
            decodes_at: Time::NEVER,
        }
    }

    pub(super) fn decodes_at(&self) -> Time {
        self.decodes_at
    }

    /// Time of the next retransmission, and time at which a process is free, as far as known.
    pub(super) fn due(&self) -> [Time; 2] {
        self.list.iter().fold([Time::NEVER; 2], |[repeat, free], process| match process.left {
            0 => [repeat, free.min(process.due)],
            _ => [repeat.min(process.due), free],
        })
    }

    /// Retransmits a block if one is due in this slot.
    pub(super) fn repeat(&mut self, now: Time) -> bool {
        let round_trip = self.round_trip;
        let due = self.list.iter_mut().find(|process| process.left > 0 && process.due <= now);
        due.map(|process| (process.left, process.due) = (process.left - 1, now + round_trip)).is_some()
    }

    pub(super) fn free(&self, now: Time) -> Option<usize> {
        self.list.iter().position(|process| process.left == 0 && process.due <= now)
    }

    /// Takes a process's block, empty if the process is free. [`Processes::begin`] or [`Processes::put_back`] returns
    /// it.
    pub(super) fn take(&mut self, index: usize) -> Block {
        std::mem::take(&mut self.list[index].block)
    }

    pub(super) fn begin(
        &mut self,
        index: usize,
        now: Time,
        bytes: u64,
        block: Block,
        service: &Service,
        channel: &mut dyn Channel,
    ) -> Option<Fate> {
        self.list[index].block = block;
        if self.list[index].block.is_empty() {
            return None;
        }
        let bytes = bytes.min(u64::from(u32::MAX)) as u32;
        let (mut start, mut attempt, mut share) = (now, 0, 1.0);
        let draw = self.random.draw();
        let arrives = channel.is_perfect()
            || loop {
                let air = Air { start, end: start + self.slot, bytes, attempt, priority: Priority::Normal };
                let destroyed = channel.transmit(&air) == Reception::Lost;
                let is_out = attempt > 0 && service.rate_at(start).bps() <= 1;
                if !(is_out || destroyed && self.happens(draw, 2 * attempt, share)) {
                    break true;
                }
                let misread = self.happens(draw, 2 * attempt + 1, self.misread);
                if misread || attempt + 1 == self.transmissions {
                    break false;
                }
                (start, attempt, share) = (start + self.round_trip, attempt + 1, share * self.combining);
            };
        let decoded = if arrives { start + self.slot } else { Time::NEVER };
        let process = &mut self.list[index];
        (process.due, process.left, process.decoded) = (now + self.round_trip, attempt, decoded);
        self.decodes_at = self.decodes_at.min(decoded);
        Some(Fate { arrives, failures: u64::from(attempt + u32::from(!arrives)) })
    }

    fn happens(&self, draw: u64, which: u32, probability: f64) -> bool {
        probability >= 1.0 || unit_interval(derive(draw, which)) < probability
    }

    /// The earliest block decoded by now. Call [`Processes::put_back`] afterwards.
    pub(super) fn decode(&mut self, now: Time) -> Option<(usize, Time, Block)> {
        if self.decodes_at > now {
            return None;
        }
        let at = self.decodes_at;
        let index = self.list.iter().position(|process| process.decoded == at)?;
        self.list[index].decoded = Time::NEVER;
        self.decodes_at = self.list.iter().map(|process| process.decoded).min().unwrap_or(Time::NEVER);
        Some((index, at, self.take(index)))
    }

    /// Returns a block's storage.
    pub(super) fn put_back(&mut self, index: usize, mut block: Block) {
        block.spans.clear();
        block.statuses.clear();
        self.list[index].block = block;
    }
}
