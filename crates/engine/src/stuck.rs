//! A run whose time stands still: events due again and again at the same instant.
//!
//! Counting costs nothing for an event: the loop of [`Engine::advance`](crate::Engine::advance) asks once a call whether
//! time has moved. If time stood still for [`MANY`] events, each further event at that instant is counted by its source.

use crate::flow::Side;
use crate::node::NodeId;
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_wire::FlowId;
use std::collections::BTreeMap;

/// Events at one instant from which on events are counted by source.
const MANY: u64 = 1 << 20;
/// Further events of one source at that instant with which a run is stuck. A source of datagrams, or a pipe that carries
/// them, has at most 10,000 of each flow at one instant.
const MOST: u64 = 1 << 20;
/// A timer with more than this part of [`MOST`] is the cause, in the place of the packets that it sends.
const PART: u64 = 16;

/// Source of an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Source {
    /// Timer of a flow's endpoint, of its application, or of its source of datagrams.
    Host(FlowId, Side),
    /// Timer of the middlebox at a node.
    Node(NodeId),
    /// Changes of rates by plan.
    Plans,
    /// Deadline of a pipe's element: its queue, its link layer.
    Element(PipeId),
    /// Arrival of a packet at a pipe's end.
    Arrival(PipeId),
}

/// A run that does not go on: its time stands still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// Instant at which it stands.
    pub at: Time,
    /// Source that was due again and again.
    pub source: Source,
    /// Times that the source was due at this instant, at least.
    pub events: u64,
}

/// Events since time moved last.
#[derive(Default)]
pub(crate) struct Still {
    events: u64,
    by_source: BTreeMap<Source, u64>,
    stuck: Option<Stuck>,
}

impl Still {
    /// Notes that time has moved.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.events > 0 {
            *self = Still::default();
        }
    }

    /// Notes events in which time did not move.
    pub(crate) fn add(&mut self, events: u64) {
        self.events += events;
    }

    /// Whether events are to be counted by source.
    #[inline]
    pub(crate) fn is_suspect(&self) -> bool {
        self.events >= MANY
    }

    /// Counts an event of a source.
    pub(crate) fn count(&mut self, at: Time, source: Source) {
        let count = self.by_source.entry(source).or_default();
        *count += 1;
        if *count < MOST {
            return;
        }
        let busiest = (source, *count);
        let is_timer =
            |(source, count): &(Source, u64)| !matches!(source, Source::Arrival(_)) && *count > MOST / PART;
        let timers = self.by_source.iter().map(|(source, count)| (*source, *count)).filter(is_timer);
        let (source, events) = timers.max_by_key(|(_, count)| *count).unwrap_or(busiest);
        self.stuck = Some(Stuck { at, source, events });
    }

    /// Why the run does not go on, if it does not.
    pub(crate) fn stuck(&self) -> Option<Stuck> {
        self.stuck
    }
}
