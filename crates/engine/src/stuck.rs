//! Detection of a stuck run: a timer or deadline is due again and again at the same instant.
//!
//! Packets take time on links. Only timers and deadlines of queueing elements can therefore repeat endlessly at one
//! instant. One counter covers all sources of events. After 2^20 events at one instant, the events of each source are
//! counted separately.

use crate::flow::FlowSide;
use crate::node::NodeId;
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_wire::FlowId;
use std::collections::BTreeMap;

const COUNT_BY_SOURCE_FROM: u64 = 1 << 20;
/// Limit of events of one source at one instant, counted separately by source. A run that reaches the limit is
/// considered stuck. A datagram source has at most 10,000 events at an instant.
const MAX_EVENTS_OF_SOURCE: u64 = 1 << 20;

/// Source of an event that is not a packet's arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EventSource {
    /// Timer of a flow's endpoint, application or datagram source.
    Host(FlowId, FlowSide),
    /// Timer of a node's middlebox.
    Node(NodeId),
    /// Planned rate changes.
    Plans,
    /// Deadline of a pipe's queueing element: queue or link layer.
    Element(PipeId),
}

/// A stuck run, in which time no longer advances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// Instant at which the events repeat.
    pub at: Time,
    /// Source whose events repeat at this instant.
    pub source: EventSource,
    /// Lower bound of the number of the source's events at this instant: events before the separate counting are not
    /// included.
    pub events: u64,
}

pub(crate) struct StuckDetector {
    at: Time,
    events: u64,
    by_source: BTreeMap<EventSource, u64>,
    stuck: Option<Stuck>,
}

impl Default for StuckDetector {
    fn default() -> StuckDetector {
        StuckDetector { at: Time::ZERO, events: 0, by_source: BTreeMap::new(), stuck: None }
    }
}

impl StuckDetector {
    /// Counts an event at `now`. Returns true if this instant has so many events that the caller must also count them
    /// by source.
    pub(crate) fn tick(&mut self, now: Time) -> bool {
        if now != self.at {
            (self.at, self.events) = (now, 0);
            return false;
        }
        self.events += 1;
        self.events >= COUNT_BY_SOURCE_FROM
    }

    /// Counts an event of this source; returns whether the source has too many events at this instant.
    pub(crate) fn exceeds_limit(&mut self, source: EventSource) -> bool {
        if self.events == COUNT_BY_SOURCE_FROM {
            self.by_source.clear();
        }
        let events = self.by_source.entry(source).or_default();
        *events += 1;
        if *events < MAX_EVENTS_OF_SOURCE {
            return false;
        }
        self.stuck = Some(Stuck { at: self.at, source, events: *events });
        true
    }

    pub(crate) fn stuck(&self) -> Option<Stuck> {
        self.stuck
    }
}
