//! Queue disciplines, for a link's setting `queue`.

use crate::admission::Admission;
use crate::queue::Queue;
use lasthop_base::{Rate, Stream, Values};
use std::sync::Arc;

/// A queueing discipline.
pub enum Discipline {
    /// First in, first out. Whether a packet is dropped is decided at the packet's arrival.
    Fifo(Box<dyn Admission>),
    /// A queue that may drop a packet at dequeue, or that removes packets from its middle.
    Scheduled(Box<dyn Queue>),
}

/// Input for building a queue, in addition to the queue's parameters.
pub struct QueueContext {
    /// The link's rate. For a planned rate, the first rate of the plan; for a trace, the trace's mean rate.
    pub rate: Rate,
    /// Random numbers of the queue.
    pub random: Stream,
    /// Source and destination of each flow, if known.
    pub hosts: Option<Hosts>,
}

/// Source and destination node of each flow, by flow number.
pub type Hosts = Arc<[[u32; 2]]>;

/// Function that builds a queue discipline.
pub type Build = dyn Fn(&Values, QueueContext) -> Discipline + Send + Sync;

impl Discipline {
    /// Builds a first-in-first-out discipline with this admission rule.
    pub fn fifo(admission: impl Admission + 'static) -> Discipline {
        Discipline::Fifo(Box::new(admission))
    }

    /// Builds a discipline from a queue that may drop a packet at dequeue, or that removes packets from its middle.
    pub fn scheduled(queue: impl Queue + 'static) -> Discipline {
        Discipline::Scheduled(Box::new(queue))
    }

    /// Whether the discipline draws random numbers.
    pub fn draws(&self) -> bool {
        match self {
            Discipline::Fifo(admission) => admission.draws(),
            Discipline::Scheduled(queue) => queue.draws(),
        }
    }

    /// Average queue length in packets, as RED computes it; `None` if the discipline computes no average.
    pub(crate) fn average(&self) -> Option<f64> {
        match self {
            Discipline::Fifo(admission) => admission.average(),
            Discipline::Scheduled(_) => None,
        }
    }

    /// Whether the discipline needs [`QueueContext::hosts`].
    pub fn needs_hosts(&self) -> bool {
        match self {
            Discipline::Fifo(_) => false,
            Discipline::Scheduled(queue) => queue.needs_hosts(),
        }
    }

    /// Whether the discipline may mark packets (ECN).
    pub fn marks(&self) -> bool {
        match self {
            Discipline::Fifo(admission) => admission.marks(),
            Discipline::Scheduled(queue) => queue.marks(),
        }
    }
}
