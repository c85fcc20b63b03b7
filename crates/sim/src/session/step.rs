//! Steps of a session: their ends, and conditions that end a step.

use super::id;
use crate::run::Progress;
use lasthop_base::Time;
use lasthop_engine::Engine;

/// End of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// This time.
    Time(Time),
    /// This many further ACKs of data that the source of a flow receives.
    Acks {
        /// Index of the flow.
        flow: usize,
        /// Number of ACKs, at least 1.
        count: u64,
    },
    /// The next loss that the source of a flow detects.
    Loss {
        /// Index of the flow.
        flow: usize,
    },
    /// The end of the next response of a flow.
    Response {
        /// Index of the flow.
        flow: usize,
    },
}

/// A step under way ([`crate::Session::begin`]).
pub struct Step {
    pub(super) limit: Time,
    condition: Option<Condition>,
}

/// Condition that ends a step, with the counts that the condition compares.
enum Condition {
    Acks { flow: usize, last: [u64; 2], left: u64 },
    Loss { flow: usize, before: u64 },
    Response { flow: usize, before: usize },
}

/// Reason why a step, or a part of a step, has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// The condition is met, or the time of [`Until::Time`] is reached.
    Met,
    /// The step's limit is reached, and the condition is not met.
    Limit,
    /// The run has ended: the scenario's duration has passed.
    Ended,
}

impl Step {
    pub(super) fn new(engine: &Engine, until: Until, limit: Time) -> Step {
        let condition = match until {
            Until::Time(_) => None,
            Until::Acks { flow, count } => {
                Some(Condition::Acks { flow, last: acks_of(engine, flow), left: count.max(1) })
            }
            Until::Loss { flow } => Some(Condition::Loss { flow, before: marked_lost(engine, flow) }),
            Until::Response { flow } => Some(Condition::Response { flow, before: responses(engine, flow) }),
        };
        let limit = match until {
            Until::Time(time) => time.min(limit),
            _ => limit,
        };
        Step { limit, condition }
    }

    /// Test after each event; `None` if only the time ends the step.
    pub(super) fn test(&mut self) -> Option<impl FnMut(&Engine) -> bool> {
        self.condition.as_mut().map(|condition| |engine: &Engine| condition.is_met(engine))
    }

    pub(super) fn stopped(&self, progress: Progress) -> Option<Stopped> {
        match progress {
            Progress::More => None,
            Progress::Met => Some(Stopped::Met),
            Progress::Reached if self.condition.is_none() => Some(Stopped::Met),
            Progress::Reached => Some(Stopped::Limit),
            Progress::Ended => Some(Stopped::Ended),
        }
    }
}

impl Condition {
    fn is_met(&mut self, engine: &Engine) -> bool {
        match self {
            Condition::Acks { flow, last, left } => {
                let now = acks_of(engine, *flow);
                if std::mem::replace(last, now) != now {
                    *left = left.saturating_sub(1);
                }
                *left == 0
            }
            Condition::Loss { flow, before } => marked_lost(engine, *flow) > *before,
            Condition::Response { flow, before } => responses(engine, *flow) > *before,
        }
    }
}

fn marked_lost(engine: &Engine, flow: usize) -> u64 {
    engine.endpoints(id(flow)).map_or(0, |(source, _)| source.sender().scoreboard().lost_total())
}

fn responses(engine: &Engine, flow: usize) -> usize {
    engine.application(id(flow)).map_or(0, |application| application.completed())
}

/// Numbers that change with each ACK of data: SND.UNA, and the number of duplicate ACKs.
fn acks_of(engine: &Engine, flow: usize) -> [u64; 2] {
    engine
        .endpoints(id(flow))
        .map_or([0; 2], |(source, _)| [source.sender().scoreboard().una(), source.counters().duplicate_acks])
}
