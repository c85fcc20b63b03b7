//! Helper functions for the tests of several queues.

use super::{Dropped, Queue};
use lasthop_base::{Duration, Time};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Packet, Priority};

pub(super) fn packet(number: u64, flow: u32, ecn: Ecn) -> Packet {
    Packet {
        number,
        flow: FlowId(flow),
        route: 0,
        wire_bytes: 1000,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn,
        priority: Priority::NORMAL,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

pub(super) fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// Dequeues all packets at `now`. Returns each packet's flow and number.
pub(super) fn all(queue: &mut dyn Queue, now: Time) -> Vec<(u32, u64)> {
    let mut dropped = Dropped::new();
    std::iter::from_fn(|| queue.dequeue(now, &mut dropped)).map(|one| (one.flow.0, one.number)).collect()
}

pub(super) fn fates(dropped: &Dropped) -> Vec<(u32, u64, LossReason)> {
    dropped.iter().map(|(packet, reason)| (packet.flow.0, packet.number, *reason)).collect()
}
