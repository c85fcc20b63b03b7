//! A run whose time stands still: a timer that is due again and again at the same instant.
//!
//! Packets take time, so that only timers and the deadlines of elements can come up for ever at one instant. Two numbers
//! are kept for all of them; behind 2^20 events at an instant each source is counted by itself.

use crate::flow::Side;
use crate::node::NodeId;
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_wire::FlowId;
use std::collections::BTreeMap;

/// Events at one instant from which on events are counted by source.
const MANY: u64 = 1 << 20;
/// Further events of one source at that instant with which a run is stuck. A source of datagrams has at most 10,000.
const MOST: u64 = 1 << 20;

/// Source of an event that is no packet's arrival.
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

/// Events of timers and elements at the present instant.
pub(crate) struct Still {
    at: Time,
    events: u64,
    by_source: BTreeMap<Source, u64>,
    stuck: Option<Stuck>,
}

impl Default for Still {
    fn default() -> Still {
        Still { at: Time::ZERO, events: 0, by_source: BTreeMap::new(), stuck: None }
    }
}

impl Still {
    /// Notes an event; whether there were very many at this instant.
    pub(crate) fn tick(&mut self, now: Time) -> bool {
        if now != self.at {
            (self.at, self.events) = (now, 0);
            return false;
        }
        self.events += 1;
        self.events >= MANY
    }

    /// Counts an event by its source; whether this source was due too often.
    pub(crate) fn is_too_many(&mut self, source: Source) -> bool {
        if self.events == MANY {
            self.by_source.clear();
        }
        let events = self.by_source.entry(source).or_default();
        *events += 1;
        if *events < MOST {
            return false;
        }
        self.stuck = Some(Stuck { at: self.at, source, events: *events });
        true
    }

    /// Why the run does not go on, if it does not.
    pub(crate) fn stuck(&self) -> Option<Stuck> {
        self.stuck
    }
}
