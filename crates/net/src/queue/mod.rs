//! Queues that may drop a packet at dequeue, or that remove packets from their middle. When a packet is enqueued, it is
//! therefore not known whether the packet will be dropped.

mod cake;
mod cbq;
mod codel;
mod dual_pi2;
mod fifo;
mod flows;
mod fq_codel;
mod law;
mod low_first;
mod pie;
mod sfq;
mod tag_drop;
mod tbf;
#[cfg(test)]
mod testing;

pub use crate::discipline::{Build, Hosts, QueueContext};
use lasthop_base::{Mechanism, Time};
use lasthop_wire::{Backlog, LossReason, Packet};

/// Dropped packets, each with the reason for the drop.
pub type Dropped = Vec<(Packet, LossReason)>;

/// A queue in front of a transmitter. Each enqueued packet leaves the queue once: either `dequeue` returns the packet,
/// or a call appends the packet to `dropped`.
pub trait Queue: Send {
    /// Enqueues or drops a packet. May also drop other packets.
    fn enqueue(&mut self, now: Time, packet: Packet, dropped: &mut Dropped);

    /// Returns the next packet; `None` if no packet may be sent now.
    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Packet>;

    /// Returns the time at which `dequeue` may return a packet, if the last `dequeue` returned `None`. [`Time::NEVER`]
    /// means that `dequeue` returns no packet before the next arrival.
    fn ready_at(&self, now: Time) -> Time {
        let _ = now;
        Time::NEVER
    }

    /// Number of packets and bytes that wait.
    fn backlog(&self) -> Backlog;

    /// Whether the queue may mark packets (ECN).
    fn marks(&self) -> bool {
        false
    }

    /// Whether the queue needs [`QueueContext::hosts`].
    fn needs_hosts(&self) -> bool {
        false
    }

    /// Whether the queue draws random numbers, so that repetitions may differ. The default is true.
    fn draws(&self) -> bool {
        true
    }
}

/// All queues that may drop a packet at dequeue, or that remove packets from their middle.
pub const ALL: &[Mechanism<Build>] = &[
    tag_drop::MECHANISM,
    cbq::MECHANISM,
    sfq::MECHANISM,
    tbf::MECHANISM,
    codel::MECHANISM,
    fq_codel::MECHANISM,
    pie::MECHANISM,
    cake::MECHANISM,
    dual_pi2::MECHANISM,
    low_first::MECHANISM,
];
