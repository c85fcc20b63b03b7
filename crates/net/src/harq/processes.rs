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

#[cfg(test)]
mod tests {
    use super::super::parameters::MECHANISM;
    use super::*;
    use crate::service::RatePlan;
    use crate::testing::{Losing, MS, at};
    use lasthop_base::{Rate, Value};
    use std::sync::Arc;

    /// Slots of 1 ms, a round trip of 8 ms, and as many transmissions and as much combining as given. NACKs are never
    /// misread.
    fn processes(count: u64, transmissions: u64, combining: f64) -> Processes {
        let values = MECHANISM.info.defaults();
        let values = values.with("processes", Value::Count(count)).with("misread", Value::Number(0.0));
        let values = values.with("transmissions", Value::Count(transmissions));
        Processes::new(&values.with("combining", Value::Number(combining)), Stream::named(1, "arq"))
    }

    fn block() -> TransportBlock {
        TransportBlock { spans: vec![Span { start: 0, end: 90 }], ..TransportBlock::default() }
    }

    fn rate() -> Service {
        Service::Rate(Rate::from_bps(1_000_000))
    }

    /// The channel destroys two transmissions, and without combining the receiver cannot decode them. The third
    /// transmission begins at 100 + 2 x 8 ms and is decoded 1 ms later.
    #[test]
    fn a_block_is_retransmitted_every_round_trip() {
        let mut one = processes(1, 4, 1.0);
        let mut channel = Losing::new(&[0, 1]);
        assert_eq!((one.free(at(0)), one.due()), (Some(0), [Time::NEVER, Time::ZERO]));
        let fate = one.send_block(0, at(100), 125, block(), &rate(), &mut channel);
        assert_eq!(fate, Some(Fate { arrives: true, failures: 2 }));
        let seen: Vec<_> = channel.seen.iter().map(|it| (it.start, it.end, it.bytes, it.attempt)).collect();
        let expected = [(at(100), at(101), 125, 0), (at(108), at(109), 125, 1), (at(116), at(117), 125, 2)];
        assert_eq!(seen, expected);
        assert_eq!(one.decodes_at(), at(117));
        assert_eq!(one.due(), [at(108), Time::NEVER]);
        assert_eq!([one.retransmit_due(at(107)), one.retransmit_due(at(108))], [false, true]);
        assert_eq!(one.due(), [at(116), Time::NEVER]);
        assert_eq!((one.free(at(115)), one.retransmit_due(at(116))), (None, true));
        // The last transmission is acknowledged at 124 ms. Only then is the process free.
        assert_eq!(one.due(), [Time::NEVER, at(124)]);
        assert_eq!((one.free(at(123)), one.free(at(124))), (None, Some(0)));
        assert!(!one.retransmit_due(at(200)));
        assert!(one.decode(at(116)).is_none());
        let (index, time, decoded) = one.decode(at(117)).expect("a block");
        assert_eq!((index, time, decoded.spans.len()), (0, at(117), 1));
        assert_eq!(one.decodes_at(), Time::NEVER);
        one.put_back(0, decoded);
        assert!(one.take_block(0).is_empty(), "the block of a free process is empty");
    }

    /// A block with three transmissions, all of them destroyed, is given up. Its process stays busy for all three.
    #[test]
    fn a_block_is_given_up_after_its_last_transmission() {
        let mut one = processes(1, 3, 1.0);
        let fate = one.send_block(0, at(0), 125, block(), &rate(), &mut Losing::new(&[0, 1, 2, 3]));
        assert_eq!(fate, Some(Fate { arrives: false, failures: 3 }));
        assert_eq!((one.decodes_at(), one.due()), (Time::NEVER, [at(8), Time::NEVER]));
        assert!(one.retransmit_due(at(8)) && one.retransmit_due(at(16)) && !one.retransmit_due(at(24)));
        assert_eq!(one.free(at(24)), Some(0));
    }

    /// With perfect combining (0), any second transmission is decoded. If each NACK is misread, no second transmission
    /// follows.
    #[test]
    fn combining_and_misread_nacks() {
        let mut one = processes(1, 4, 0.0);
        let all: Vec<usize> = (0..9).collect();
        let fate = one.send_block(0, at(0), 125, block(), &rate(), &mut Losing::new(&all));
        assert_eq!(fate, Some(Fate { arrives: true, failures: 1 }));
        assert_eq!(one.decodes_at(), at(9));
        let mut one = processes(1, 4, 0.0);
        one.misread = 1.0;
        let fate = one.send_block(0, at(0), 125, block(), &rate(), &mut Losing::new(&all));
        assert_eq!(fate, Some(Fate { arrives: false, failures: 1 }));
        assert_eq!(one.due(), [Time::NEVER, at(8)]);
    }

    /// The rate is 0 from 5 to 15 ms, so the retransmission at 8 ms fails, and that at 16 ms arrives.
    #[test]
    fn retransmissions_in_an_outage_fail() {
        let plan = RatePlan::parse("1 Mbit/s for 5 ms, 0 bit/s for 10 ms").expect("a plan");
        let service = Service::Plan(Arc::new(plan));
        let mut one = processes(1, 4, 0.0);
        let fate = one.send_block(0, at(0), 125, block(), &service, &mut Losing::new(&[0]));
        assert_eq!(fate, Some(Fate { arrives: true, failures: 2 }));
        // A first transmission is not judged by the rate: the caller sends no block in an outage.
        let fate = processes(1, 4, 0.0).send_block(0, at(8), 125, block(), &service, &mut Losing::new(&[]));
        assert_eq!(fate, Some(Fate { arrives: true, failures: 0 }));
    }

    /// The round trip of 7.5 ms takes 8 slots of 1 ms.
    #[test]
    fn the_round_trip_is_a_whole_number_of_slots() {
        let values = MECHANISM.info.defaults();
        let round_trip = Value::Duration(Duration::from_micros(7500));
        let one = Processes::new(&values.with("round_trip", round_trip), Stream::named(1, "arq"));
        assert_eq!(one.round_trip, MS * 8);
    }

    /// Two blocks are decoded in the order of their arrival. An empty block uses no process.
    #[test]
    fn blocks_are_decoded_in_order_of_arrival() {
        let mut one = processes(3, 4, 1.0);
        assert_eq!(
            one.send_block(0, at(0), 125, TransportBlock::default(), &rate(), &mut Losing::new(&[])),
            None
        );
        assert_eq!((one.free(at(0)), one.decodes_at()), (Some(0), Time::NEVER));
        one.send_block(0, at(0), 125, block(), &rate(), &mut Losing::new(&[0]));
        assert_eq!(one.free(at(1)), Some(1));
        one.send_block(1, at(1), 125, block(), &rate(), &mut Losing::new(&[]));
        assert_eq!((one.free(at(2)), one.due()), (Some(2), [at(8), Time::ZERO]));
        let mut order = Vec::new();
        while let Some((index, time, block)) = one.decode(at(100)) {
            order.push((index, time));
            one.put_back(index, block);
        }
        assert_eq!(order, [(1, at(2)), (0, at(9))]);
        let statuses = vec![Status { made: at(0), until: 0 }];
        assert!(!TransportBlock { statuses, ..TransportBlock::default() }.is_empty());
    }
}
