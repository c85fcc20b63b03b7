//! May a packet join the queue?

mod drop_tail;

use lasthop_base::{Mechanism, Time, Values};
use lasthop_wire::{Backlog, Packet};

/// The answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It joins.
    Admit,
    /// It is dropped.
    Drop,
}

/// Decides when a packet arrives. It may mark the packet (ECN).
pub trait Admission: Send {
    /// A packet arrives at a queue in this state; the packet in transmission is not part of it.
    fn admit(&mut self, now: Time, packet: &mut Packet, backlog: &Backlog) -> Verdict;

    /// Whether it admits everything: the link then need not count what waits.
    fn is_unlimited(&self) -> bool {
        false
    }
}

/// How an admission is built.
pub type Build = fn(&Values) -> Box<dyn Admission>;

/// All admissions.
pub const ALL: &[Mechanism<Build>] = &[drop_tail::MECHANISM];
