//! Queue before a link layer that is an element, such as RLC. The queue is first in, first out, or a [`Queue`]. Another
//! queue may replace this queue at run time.

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
        LinkQueue { kind: QueueKind::of(queue), dropped: Dropped::new() }
    }

    /// Admits or drops a packet. `busy` is whether a transmission is in progress. `idle` is the time since the last
    /// transmission ended.
    pub(crate) fn push(
        &mut self,
        now: Time,
        packet: Packet,
        busy: bool,
        idle: Duration,
        out: &mut Vec<Output>,
    ) {
        self.push_behind(now, packet, &Backlog { waiting: 0, in_service: busy, bytes: 0 }, idle, out);
    }

    /// Admits or drops a packet, like [`LinkQueue::push`]. `ahead` counts the packets ahead of this queue: the admission
    /// rule of a first-in-first-out queue counts these packets as packets of the queue.
    #[inline(always)]
    pub(crate) fn push_behind(
        &mut self,
        now: Time,
        mut packet: Packet,
        ahead: &Backlog,
        idle: Duration,
        out: &mut Vec<Output>,
    ) {
        match &mut self.kind {
            QueueKind::Fifo { admission, packets, bytes } => {
                let waiting = packets.len() as u32 + ahead.waiting;
                let backlog = Backlog { waiting, bytes: *bytes + ahead.bytes, ..*ahead };
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

    /// Replaces the queue. The waiting packets enter the new queue at `now`, in the order in which the old queue would
    /// have sent them. `ahead` has the meaning that [`LinkQueue::push_behind`] describes.
    #[cold]
    pub(crate) fn replace(&mut self, now: Time, queue: Discipline, ahead: &Backlog, out: &mut Vec<Output>) {
        let before = std::mem::replace(&mut self.kind, QueueKind::of(queue));
        for packet in before.into_packets(now) {
            self.push_behind(now, packet, ahead, Duration::ZERO, out);
        }
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

    pub(crate) fn is_empty(&self) -> bool {
        match &self.kind {
            QueueKind::Fifo { packets, .. } => packets.is_empty(),
            QueueKind::Scheduled(queue) => queue.backlog().waiting == 0,
        }
    }

    /// Returns the waiting packets if the queue is first in, first out.
    pub(crate) fn fifo(&self) -> Option<&VecDeque<Packet>> {
        match &self.kind {
            QueueKind::Fifo { packets, .. } => Some(packets),
            QueueKind::Scheduled(_) => None,
        }
    }

    pub(crate) fn draws(&self) -> bool {
        match &self.kind {
            QueueKind::Fifo { admission, .. } => admission.draws(),
            QueueKind::Scheduled(queue) => queue.draws(),
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

impl QueueKind {
    fn of(queue: Discipline) -> QueueKind {
        match queue {
            Discipline::Fifo(admission) => QueueKind::Fifo { admission, packets: VecDeque::new(), bytes: 0 },
            Discipline::Scheduled(queue) => QueueKind::Scheduled(queue),
        }
    }

    fn into_packets(self, now: Time) -> VecDeque<Packet> {
        match self {
            QueueKind::Fifo { packets, .. } => packets,
            QueueKind::Scheduled(queue) => drained(queue, now),
        }
    }
}

/// Returns the packets of a queue that is no longer used, in the order in which the packets leave the queue. The queue
/// does not delay or drop packets any more: packets that a shaper would delay, and packets that the queue drops at
/// dequeue, are among the returned packets.
pub(crate) fn drained(mut queue: Box<dyn Queue>, mut now: Time) -> VecDeque<Packet> {
    let (mut packets, mut dropped) = (VecDeque::new(), Dropped::new());
    while queue.backlog().waiting > 0 {
        let first = queue.dequeue(now, &mut dropped);
        let is_held_back = first.is_none() && dropped.is_empty();
        packets.extend(dropped.drain(..).map(|(packet, _)| packet).chain(first));
        if is_held_back {
            // The old queue sees a later time, at which the queue may release the next packet.
            match queue.ready_at(now) {
                later if later > now && later < Time::NEVER => now = later,
                _ => break,
            }
        }
    }
    packets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::QueueContext;
    use crate::testing::{Fate, at, fates, packet};
    use lasthop_base::{Choice, Rate, Stream, Value};
    use lasthop_wire::LossReason;

    fn discipline(name: &str, packets: u64) -> Discipline {
        let list = if name == "drop_tail" { crate::admission::ALL } else { crate::queue::ALL };
        let mut choice = Choice::named(list, name);
        choice.values.set("packets", Value::Count(packets));
        let rate = Rate::from_bps(1_000_000);
        let context = QueueContext { rate, random: Stream::named(1, "queue"), hosts: None };
        (choice.build)(&choice.values, context)
    }

    /// A queue of two packets drops the third, unless the transmitter is idle and the queue is empty.
    #[test]
    fn packets_leave_in_order_and_drops_are_reported() {
        for name in ["drop_tail", "low_first"] {
            let (mut queue, mut out) = (LinkQueue::new(discipline(name, 2)), Vec::new());
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

    /// Each queue must pass all its packets on, in order. A queue of two packets keeps the first two of ten packets and
    /// loses the others. `tbf` would release the last packet only after 9 s.
    #[test]
    fn another_queue_gets_the_packets_in_order() {
        let names = crate::admission::ALL.iter().chain(crate::queue::ALL).map(|one| one.info.name);
        for name in names.filter(|name| !["policer"].contains(name)) {
            let mut choice = Choice::of(
                crate::admission::ALL
                    .iter()
                    .chain(crate::queue::ALL)
                    .find(|one| one.info.name == name)
                    .expect("a queue"),
            );
            if name == "tbf" {
                choice.values.set("rate", Value::Rate(Rate::from_bps(8_000)));
                choice.values.set("burst", Value::Bytes(1000));
            }
            let rate = Rate::from_bps(1_000_000);
            let context = QueueContext { rate, random: Stream::named(1, "queue"), hosts: None };
            let (mut queue, mut out) = (LinkQueue::new((choice.build)(&choice.values, context)), Vec::new());
            for number in 0..10 {
                queue.push(at(1), packet(number, 1000), true, Duration::ZERO, &mut out);
            }
            let busy = Backlog { in_service: true, ..Backlog::default() };
            queue.replace(at(500), discipline("low_first", 100), &busy, &mut out);
            assert_eq!((queue.backlog().waiting, &out[..]), (10, &[][..]), "{name}");
            queue.replace(at(600), discipline("drop_tail", 2), &busy, &mut out);
            let lost = |number| Fate::Lost(number, at(600), LossReason::QueueFull);
            assert_eq!(fates(&mut out), (2..10).map(lost).collect::<Vec<Fate>>(), "{name}");
            let mut pop = || queue.pop(at(601), &mut out).map(|packet| packet.number);
            assert_eq!([pop(), pop(), pop()], [Some(0), Some(1), None], "{name}");
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
