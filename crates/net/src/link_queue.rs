//! Queue before a link layer that is an element, such as RLC. The queue is first in, first out, or a [`Queue`].

use crate::admission::{Admission, ArrivalState, Verdict};
use crate::discipline::Discipline;
use crate::element::Output;
use crate::queue::{Dropped, Queue};
use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, Packet};
use std::collections::VecDeque;

pub(crate) struct LinkQueue {
    kind: QueueKind,
    dropped: Dropped,
}

enum QueueKind {
    Fifo { admission: Box<dyn Admission>, packets: VecDeque<Packet>, bytes: u64 },
    Scheduled(Box<dyn Queue>),
}

impl LinkQueue {
    pub(crate) fn new(queue: Discipline) -> LinkQueue {
        let kind = match queue {
            Discipline::Fifo(admission) => QueueKind::Fifo { admission, packets: VecDeque::new(), bytes: 0 },
            Discipline::Scheduled(queue) => QueueKind::Scheduled(queue),
        };
        LinkQueue { kind, dropped: Dropped::new() }
    }

    /// Admits or drops a packet. `busy` is whether a transmission is in progress. `idle` is the time since the last
    /// transmission ended.
    pub(crate) fn push(
        &mut self,
        now: Time,
        mut packet: Packet,
        busy: bool,
        idle: Duration,
        out: &mut Vec<Output>,
    ) {
        match &mut self.kind {
            QueueKind::Fifo { admission, packets, bytes } => {
                let waiting = packets.len() as u32;
                let backlog = Backlog { waiting, in_service: busy, bytes: *bytes };
                match admission.admit(now, &mut packet, &ArrivalState { backlog, idle }) {
                    Verdict::Admit => {
                        *bytes += u64::from(packet.wire_bytes);
                        packets.push_back(packet);
                    }
                    Verdict::Drop(reason) => out.push(Output::lost(packet, now, reason)),
                }
            }
            QueueKind::Scheduled(queue) => queue.enqueue(now, packet, &mut self.dropped),
        }
        self.report_drops(now, out);
    }

    pub(crate) fn pop(&mut self, now: Time, out: &mut Vec<Output>) -> Option<Packet> {
        let packet = match &mut self.kind {
            QueueKind::Fifo { packets, bytes, .. } => {
                let packet = packets.pop_front();
                *bytes -= packet.map_or(0, |packet| u64::from(packet.wire_bytes));
                packet
            }
            QueueKind::Scheduled(queue) => queue.dequeue(now, &mut self.dropped),
        };
        self.report_drops(now, out);
        packet
    }

    /// Returns the time at which `pop` may return a packet, if the last `pop` returned `None`.
    pub(crate) fn ready_at(&self, now: Time) -> Time {
        match &self.kind {
            QueueKind::Fifo { .. } => Time::NEVER,
            QueueKind::Scheduled(queue) => queue.ready_at(now),
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        match &self.kind {
            QueueKind::Fifo { packets, bytes, .. } => {
                Backlog { waiting: packets.len() as u32, in_service: false, bytes: *bytes }
            }
            QueueKind::Scheduled(queue) => queue.backlog(),
        }
    }

    pub(crate) fn average(&self) -> Option<f64> {
        match &self.kind {
            QueueKind::Fifo { admission, .. } => admission.average(),
            QueueKind::Scheduled(_) => None,
        }
    }

    fn report_drops(&mut self, now: Time, out: &mut Vec<Output>) {
        out.extend(self.dropped.drain(..).map(|(packet, reason)| Output::lost(packet, now, reason)));
    }
}
