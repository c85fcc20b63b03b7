//! Hybrid ARQ: parallel stop-and-wait processes, each with one block (TS 36.321 §5.3.2, 38.321 §5.3.2). The HARQ round
//! trip is a whole number of slots, so two retransmissions never use the same slot.

use crate::channel::{Channel, Reception, Transmission};
use crate::peer_message::Status;
use crate::service::Service;
use crate::span::Span;
use lasthop_base::random::{derive, unit_interval};
use lasthop_base::{Duration, Stream, Time, Values};
use lasthop_wire::Priority;

#[derive(Debug, Default)]
pub(super) struct TransportBlock {
    pub(super) spans: Vec<Span>,
    pub(super) statuses: Vec<Status>,
    /// Whether the block's last data PDU polls for a status report.
    pub(super) polls: bool,
}

impl TransportBlock {
    fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.statuses.is_empty()
    }
}

struct Process {
    /// Time of the next retransmission. If no retransmission is left, time at which the process is free for a new
    /// block.
    due: Time,
    retransmissions_left: u32,
    /// Time at which the receiver decodes the block; [`Time::NEVER`] if the block is already decoded, or if decoding
    /// fails.
    decoded: Time,
    block: TransportBlock,
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
    processes: Vec<Process>,
    decodes_at: Time,
}

impl Processes {
    pub(super) fn new(values: &Values, random: Stream) -> Processes {
        let slot = values.duration("slot");
        let process = || Process {
            due: Time::ZERO,
            retransmissions_left: 0,
            decoded: Time::NEVER,
            block: TransportBlock::default(),
        };
        Processes {
            slot,
            round_trip: (Time::ZERO + values.duration("round_trip")).round_up(slot).since(Time::ZERO),
            transmissions: values.count("transmissions") as u32,
            combining: values.number("combining"),
            misread: values.number("misread"),
            random,
            processes: (0..values.count("processes")).map(|_| process()).collect(),
            decodes_at: Time::NEVER,
        }
    }

    pub(super) fn decodes_at(&self) -> Time {
        self.decodes_at
    }

    /// Returns the time of the earliest retransmission, and the earliest time at which a process is free. A time is
    /// [`Time::NEVER`] if no process qualifies.
    pub(super) fn due(&self) -> [Time; 2] {
        self.processes.iter().fold([Time::NEVER; 2], |[repeat, free], process| {
            match process.retransmissions_left {
                0 => [repeat, free.min(process.due)],
                _ => [repeat.min(process.due), free],
            }
        })
    }

    /// Retransmits a block if a retransmission is due in this slot. Returns whether a retransmission was due.
    pub(super) fn retransmit_due(&mut self, now: Time) -> bool {
        let round_trip = self.round_trip;
        let due =
            self.processes.iter_mut().find(|process| process.retransmissions_left > 0 && process.due <= now);
        due.map(|process| {
            (process.retransmissions_left, process.due) = (process.retransmissions_left - 1, now + round_trip)
        })
        .is_some()
    }

    pub(super) fn free(&self, now: Time) -> Option<usize> {
        self.processes.iter().position(|process| process.retransmissions_left == 0 && process.due <= now)
    }

    /// Takes the block out of a process. The block of a free process is empty. Give the block back with
    /// [`Processes::send_block`] or [`Processes::put_back`].
    pub(super) fn take_block(&mut self, index: usize) -> TransportBlock {
        std::mem::take(&mut self.processes[index].block)
    }

    pub(super) fn send_block(
        &mut self,
        index: usize,
        now: Time,
        bytes: u64,
        block: TransportBlock,
        service: &Service,
        channel: &mut dyn Channel,
    ) -> Option<Fate> {
        self.processes[index].block = block;
        if self.processes[index].block.is_empty() {
            return None;
        }
        let bytes = bytes.min(u64::from(u32::MAX)) as u32;
        let (mut start, mut attempt, mut share) = (now, 0, 1.0);
        let draw = self.random.draw();
        let arrives = channel.is_perfect()
            || loop {
                let transmission = Transmission {
                    start,
                    end: start + self.slot,
                    bytes,
                    attempt,
                    priority: Priority::NORMAL,
                };
                let destroyed = channel.transmit(&transmission) == Reception::Lost;
                let is_outage = attempt > 0 && service.rate_at(start).bps() <= 1;
                if !(is_outage || destroyed && self.happens(draw, 2 * attempt, share)) {
                    break true;
                }
                let misread = self.happens(draw, 2 * attempt + 1, self.misread);
                if misread || attempt + 1 == self.transmissions {
                    break false;
                }
                (start, attempt, share) = (start + self.round_trip, attempt + 1, share * self.combining);
            };
        let decoded = if arrives { start + self.slot } else { Time::NEVER };
        let process = &mut self.processes[index];
        (process.due, process.retransmissions_left, process.decoded) =
            (now + self.round_trip, attempt, decoded);
        self.decodes_at = self.decodes_at.min(decoded);
        Some(Fate { arrives, failures: u64::from(attempt + u32::from(!arrives)) })
    }

    fn happens(&self, draw: u64, draw_index: u32, probability: f64) -> bool {
        probability >= 1.0 || unit_interval(derive(draw, draw_index)) < probability
    }

    /// Takes the block that is decoded next, if the time of decoding is at most `now`. Returns the index of the block's
    /// process, the time of decoding and the block. Call [`Processes::put_back`] afterwards.
    pub(super) fn decode(&mut self, now: Time) -> Option<(usize, Time, TransportBlock)> {
        if self.decodes_at > now {
            return None;
        }
        let at = self.decodes_at;
        let index = self.processes.iter().position(|process| process.decoded == at)?;
        self.processes[index].decoded = Time::NEVER;
        self.decodes_at = self.processes.iter().map(|process| process.decoded).min().unwrap_or(Time::NEVER);
        Some((index, at, self.take_block(index)))
    }

    /// Gives the block back to its process, so that the process can reuse the block's memory.
    pub(super) fn put_back(&mut self, index: usize, mut block: TransportBlock) {
        block.spans.clear();
        block.statuses.clear();
        self.processes[index].block = block;
    }
}
