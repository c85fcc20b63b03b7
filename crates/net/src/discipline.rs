//! How do packets wait for the transmitter? The answer to a link's seam `queue`, of two kinds.

use crate::admission::Admission;
use crate::queue::Queue;
use lasthop_base::{Rate, Stream, Values};
use std::sync::Arc;

/// A queueing discipline.
pub enum Discipline {
    /// First in, first out: what becomes of a packet is decided when it comes.
    Fifo(Box<dyn Admission>),
    /// It decides when a packet leaves, or removes from the middle.
    Scheduled(Box<dyn Queue>),
}

/// Where a queue is.
pub struct Place {
    /// The link's rate: at the beginning if it changes by plan, the mean if it is recorded.
    pub rate: Rate,
    /// Draws for those that draw.
    pub random: Stream,
    /// Who talks to whom, if that is known.
    pub hosts: Option<Hosts>,
}

/// Of each flow, by its number, the nodes that are its source and its destination.
pub type Hosts = Arc<[[u32; 2]]>;

/// How a discipline is built.
pub type Build = dyn Fn(&Values, Place) -> Discipline + Send + Sync;

impl Discipline {
    /// First in, first out, with this admission.
    pub fn fifo(admission: impl Admission + 'static) -> Discipline {
        Discipline::Fifo(Box::new(admission))
    }

    /// This queue.
    pub fn scheduled(queue: impl Queue + 'static) -> Discipline {
        Discipline::Scheduled(Box::new(queue))
    }

    /// Whether it draws random numbers.
    pub fn draws(&self) -> bool {
        match self {
            Discipline::Fifo(admission) => admission.draws(),
            Discipline::Scheduled(queue) => queue.draws(),
        }
    }

    /// The average queue by which its admission decides, packets; `None` if it has none.
    pub(crate) fn average(&self) -> Option<f64> {
        match self {
            Discipline::Fifo(admission) => admission.average(),
            Discipline::Scheduled(_) => None,
        }
    }

    /// Whether it wants to know who talks to whom.
    pub fn wants_hosts(&self) -> bool {
        match self {
            Discipline::Fifo(_) => false,
            Discipline::Scheduled(queue) => queue.wants_hosts(),
        }
    }

    /// Whether it ever marks a packet (ECN).
    pub fn marks(&self) -> bool {
        match self {
            Discipline::Fifo(admission) => admission.marks(),
            Discipline::Scheduled(queue) => queue.marks(),
        }
    }
}
