//! Admission and active queue management: may a packet join the queue?

mod average;
mod drop_tail;
mod policer;
mod red;
mod warn;

pub use crate::discipline::{Build, Place};
use lasthop_base::{Duration, Mechanism, Time};
use lasthop_wire::{Backlog, Ecn, LossReason, Packet};

/// The answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It joins.
    Admit,
    /// It is dropped, for this reason.
    Drop(LossReason),
}

/// Decides when a packet arrives. It may mark the packet (ECN).
pub trait Admission: Send {
    /// A packet arrives at a queue in this state.
    fn admit(&mut self, now: Time, packet: &mut Packet, queue: &State) -> Verdict;

    /// The average queue by which it decides, if it does, as of the last arrival, packets.
    fn average(&self) -> Option<f64> {
        None
    }

    /// Whether it ever marks a packet (ECN).
    fn marks(&self) -> bool {
        false
    }

    /// The room of the queue, if that alone decides: then nobody need ask [`Admission::admit`].
    fn room(&self) -> Option<Room> {
        None
    }

    /// Whether it draws random numbers, so that repetitions may differ. Whoever does not has to say so.
    fn draws(&self) -> bool {
        true
    }
}

/// The most that may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Packets; [`u64::MAX`]: any number.
    pub packets: u64,
    /// Bytes, likewise.
    pub bytes: u64,
}

impl Room {
    /// Whether it has no end: the link then need not count what waits.
    pub fn is_unlimited(&self) -> bool {
        self.packets == u64::MAX && self.bytes == u64::MAX
    }

    /// Whether a packet of so many bytes joins. An idle transmitter takes it whatever its size.
    #[inline]
    pub fn admit(&self, bytes: u32, backlog: &Backlog) -> Verdict {
        let is_idle = backlog.waiting == 0 && !backlog.in_service;
        let fits =
            u64::from(backlog.waiting) < self.packets && backlog.bytes + u64::from(bytes) <= self.bytes;
        if is_idle || fits { Verdict::Admit } else { Verdict::Drop(LossReason::QueueFull) }
    }
}

/// A queue when a packet arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// What waits; the packet in transmission is not part of it.
    pub backlog: Backlog,
    /// How long the transmitter has had nothing to send; zero while it sends.
    pub idle: Duration,
}

/// All admissions.
pub const ALL: &[Mechanism<Build>] =
    &[drop_tail::MECHANISM, red::MECHANISM, warn::MECHANISM, policer::MECHANISM];

/// What holds if nobody says: a queue without a limit.
pub const DEFAULT: Mechanism<Build> = drop_tail::MECHANISM;

/// Marks a packet whose transport can be told so (RFC 3168 §5); false if it cannot.
pub(crate) fn mark(packet: &mut Packet) -> bool {
    if packet.ecn != Ecn::NotEct {
        packet.ecn = Ecn::Ce;
    }
    packet.ecn == Ecn::Ce
}
