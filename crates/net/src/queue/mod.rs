//! Queues that decide on leaving, or remove from the middle. They cannot tell a packet's passage when it joins.

mod cake;
mod cbq;
mod codel;
mod dual_pi2;
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
mod waiting;

pub use crate::discipline::{Build, Hosts, Place};
use lasthop_base::{Mechanism, Time};
use lasthop_wire::{Backlog, LossReason, Packet};

/// Packets that a queue has dropped, with the reason.
pub type Dropped = Vec<(Packet, LossReason)>;

/// A queue in front of a transmitter. Who asks it counts what waits: each packet that joins comes out once, from `dequeue` or
/// among those dropped.
pub trait Queue: Send {
    /// A packet joins, or is dropped; others may be dropped for it.
    fn enqueue(&mut self, now: Time, packet: Packet, dropped: &mut Dropped);

    /// The transmitter is free: the packet to send now, if one may be sent.
    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Packet>;

    /// If `dequeue` has just given none although packets wait: when to ask again ([`Time::NEVER`]: at the next arrival).
    fn ready_at(&self, now: Time) -> Time {
        let _ = now;
        Time::NEVER
    }

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// Whether it ever marks a packet (ECN).
    fn marks(&self) -> bool {
        false
    }

    /// Whether it wants to know who talks to whom ([`Place::hosts`]).
    fn wants_hosts(&self) -> bool {
        false
    }

    /// Whether it draws random numbers, so that repetitions may differ. Whoever does not has to say so.
    fn draws(&self) -> bool {
        true
    }
}

/// All such queues.
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
