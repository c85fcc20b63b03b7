//! Packets in front of a link layer that is an element, with either kind of queue.

use crate::admission::{Admission, State, Verdict};
use crate::discipline::Discipline;
use crate::element::Output;
use crate::queue::{Dropped, Queue};
use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, Packet};
use std::collections::VecDeque;

pub(crate) struct Store {
    kind: Kind,
    dropped: Dropped,
}

enum Kind {
    Fifo { admission: Box<dyn Admission>, packets: VecDeque<Packet>, bytes: u64 },
    Scheduled(Box<dyn Queue>),
}

impl Store {
    pub(crate) fn new(queue: Discipline) -> Store {
        let kind = match queue {
            Discipline::Fifo(admission) => Kind::Fifo { admission, packets: VecDeque::new(), bytes: 0 },
            Discipline::Scheduled(queue) => Kind::Scheduled(queue),
        };
        Store { kind, dropped: Dropped::new() }
    }

    /// Admits or drops a packet; `busy`: a transmission is in progress, `idle`: time without one.
    pub(crate) fn push(
        &mut self,
        now: Time,
        mut packet: Packet,
        busy: bool,
        idle: Duration,
        out: &mut Vec<Output>,
    ) {
        match &mut self.kind {
            Kind::Fifo { admission, packets, bytes } => {
                let waiting = packets.len() as u32;
                let backlog = Backlog { waiting, in_service: busy, bytes: *bytes };
                match admission.admit(now, &mut packet, &State { backlog, idle }) {
                    Verdict::Admit => {
                        *bytes += u64::from(packet.wire_bytes);
                        packets.push_back(packet);
                    }
                    Verdict::Drop(reason) => out.push(Output::gone(packet, now, reason)),
                }
            }
            Kind::Scheduled(queue) => queue.enqueue(now, packet, &mut self.dropped),
        }
        self.tell(now, out);
    }

    pub(crate) fn pop(&mut self, now: Time, out: &mut Vec<Output>) -> Option<Packet> {
        let packet = match &mut self.kind {
            Kind::Fifo { packets, bytes, .. } => {
                let packet = packets.pop_front();
                *bytes -= packet.map_or(0, |packet| u64::from(packet.wire_bytes));
                packet
            }
            Kind::Scheduled(queue) => queue.dequeue(now, &mut self.dropped),
        };
        self.tell(now, out);
        packet
    }

    /// Time of the next `pop` after one without packet.
    pub(crate) fn ready_at(&self, now: Time) -> Time {
        match &self.kind {
            Kind::Fifo { .. } => Time::NEVER,
            Kind::Scheduled(queue) => queue.ready_at(now),
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        match &self.kind {
            Kind::Fifo { packets, bytes, .. } => {
                Backlog { waiting: packets.len() as u32, in_service: false, bytes: *bytes }
            }
            Kind::Scheduled(queue) => queue.backlog(),
        }
    }

    pub(crate) fn average(&self) -> Option<f64> {
        match &self.kind {
            Kind::Fifo { admission, .. } => admission.average(),
            Kind::Scheduled(_) => None,
        }
    }

    fn tell(&mut self, now: Time, out: &mut Vec<Output>) {
        out.extend(self.dropped.drain(..).map(|(packet, reason)| Output::gone(packet, now, reason)));
    }
}
