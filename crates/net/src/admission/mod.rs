//! Rules of admission to a first-in-first-out queue, including active queue management that acts at a packet's arrival,
//! such as RED.

mod average;
mod drop_tail;
mod policer;
mod red;
mod warn;

pub use crate::discipline::{Build, QueueContext};
use lasthop_base::{Duration, Mechanism, Time};
use lasthop_wire::{Backlog, Ecn, LossReason, Packet};

/// Admission decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The packet is enqueued.
    Admit,
    /// The packet is dropped for this reason.
    Drop(LossReason),
}

/// Admission rule: decides whether an arriving packet is enqueued, and may mark the packet (ECN).
pub trait Admission: Send {
    /// Decides whether `packet` is enqueued. `queue` is the state of the queue at the arrival.
    fn admit(&mut self, now: Time, packet: &mut Packet, queue: &ArrivalState) -> Verdict;

    /// Average queue length in packets after the last arrival; `None` if the admission rule computes no average.
    fn average(&self) -> Option<f64> {
        None
    }

    /// Whether the admission rule may mark packets (ECN).
    fn marks(&self) -> bool {
        false
    }

    /// Returns the queue limit if admission depends only on this limit. A caller may then apply the limit itself
    /// instead of calling [`Admission::admit`].
    fn limit(&self) -> Option<QueueLimit> {
        None
    }

    /// Whether the admission rule draws random numbers, so that repetitions may differ. The default is true.
    fn draws(&self) -> bool {
        true
    }
}

/// Limit of a queue's length. A packet must fit within both limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueLimit {
    /// Limit in packets; [`u64::MAX`]: unlimited.
    pub packets: u64,
    /// Limit in bytes; [`u64::MAX`]: unlimited.
    pub bytes: u64,
}

impl QueueLimit {
    /// Whether the queue is unlimited. Callers need not count the backlog of an unlimited queue.
    pub fn is_unlimited(&self) -> bool {
        self.packets == u64::MAX && self.bytes == u64::MAX
    }

    /// Decides whether a packet of `bytes` is admitted. An idle transmitter with an empty queue admits a packet of any
    /// size.
    #[inline]
    pub fn admit(&self, bytes: u32, backlog: &Backlog) -> Verdict {
        let is_idle = backlog.waiting == 0 && !backlog.in_service;
        let fits =
            u64::from(backlog.waiting) < self.packets && backlog.bytes + u64::from(bytes) <= self.bytes;
        if is_idle || fits { Verdict::Admit } else { Verdict::Drop(LossReason::QueueFull) }
    }
}

/// State of a queue at an arrival.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArrivalState {
    /// Backlog without the packet in transmission.
    pub backlog: Backlog,
    /// Time for which the transmitter has been idle; zero while it is sending.
    pub idle: Duration,
}

/// All admission rules for a first-in-first-out queue.
pub const ALL: &[Mechanism<Build>] =
    &[drop_tail::MECHANISM, red::MECHANISM, warn::MECHANISM, policer::MECHANISM];

/// The default: a queue without limit.
pub const DEFAULT: Mechanism<Build> = drop_tail::MECHANISM;

/// Marks an ECN-capable packet (RFC 3168 §5). Returns false if the packet is not ECN-capable.
pub(crate) fn mark(packet: &mut Packet) -> bool {
    if packet.ecn != Ecn::NotEct {
        packet.ecn = Ecn::Ce;
    }
    packet.ecn == Ecn::Ce
}
