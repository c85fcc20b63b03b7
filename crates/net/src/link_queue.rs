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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::QueueContext;
    use crate::testing::{Fate, at, fates, packet};
    use lasthop_base::{Choice, Rate, Stream, Value};
    use lasthop_wire::LossReason;

    fn queue(name: &str, packets: u64) -> LinkQueue {
        let list = if name == "drop_tail" { crate::admission::ALL } else { crate::queue::ALL };
        let mut choice = Choice::named(list, name);
        choice.values.set("packets", Value::Count(packets));
        let rate = Rate::from_bps(1_000_000);
        let context = QueueContext { rate, random: Stream::named(1, "queue"), hosts: None };
        LinkQueue::new((choice.build)(&choice.values, context))
    }

    /// A queue of two packets drops the third, unless the transmitter is idle and the queue is empty.
    #[test]
    fn packets_leave_in_order_and_drops_are_reported() {
        for name in ["drop_tail", "low_first"] {
            let (mut queue, mut out) = (queue(name, 2), Vec::new());
            for number in 0..3 {
                queue.push(at(1), packet(number, 100 + number as u32), true, Duration::ZERO, &mut out);
            }
            assert_eq!(fates(&mut out), [Fate::Lost(2, at(1), LossReason::QueueFull)], "{name}");
            assert_eq!(queue.backlog(), Backlog { waiting: 2, in_service: false, bytes: 201 });
            let mut pop = || queue.pop(at(2), &mut out).map(|packet| packet.number);
            assert_eq!([pop(), pop(), pop()], [Some(0), Some(1), None]);
            assert_eq!(queue.backlog(), Backlog::default());
            assert_eq!(queue.ready_at(at(2)), Time::NEVER);
            assert_eq!(queue.average(), None);
        }
    }

    /// A token bucket of 8 kbit/s holds a packet back. The queue then names the time of the next packet.
    #[test]
    fn a_shaper_names_the_time_of_its_next_packet() {
        let mut choice = Choice::named(crate::queue::ALL, "tbf");
        choice.values.set("rate", Value::Rate(Rate::from_bps(8_000)));
        choice.values.set("burst", Value::Bytes(1000));
        let rate = Rate::from_bps(1_000_000);
        let context = QueueContext { rate, random: Stream::named(1, "queue"), hosts: None };
        let mut queue = LinkQueue::new((choice.build)(&choice.values, context));
        let mut out = Vec::new();
        for number in 0..2 {
            queue.push(at(0), packet(number, 1000), false, Duration::ZERO, &mut out);
        }
        assert!(queue.pop(at(0), &mut out).is_some() && queue.pop(at(0), &mut out).is_none());
        // 1000 bytes at 8 kbit/s take one second.
        assert_eq!(queue.ready_at(at(0)), at(1000));
    }
}
