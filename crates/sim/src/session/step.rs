//! Steps of a session: their ends, and conditions that end a step.

use super::id;
use crate::applications::size_of;
use crate::run::Progress;
use lasthop_base::Time;
use lasthop_engine::Engine;
use lasthop_scenario::{Flow, Scenario};

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
    /// The end of the handshake at the source of a flow. Met at once if the connection is open.
    Open {
        /// Index of the flow.
        flow: usize,
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
    /// The destination has all data of a fed transfer that was written so far, all data of a finite transfer, or all
    /// responses that were requested so far. Met at once if nothing is outstanding. Never met for other flows.
    Complete {
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
    Open {
        flow: usize,
    },
    Acks {
        flow: usize,
        last: [u64; 2],
        left: u64,
    },
    Loss {
        flow: usize,
        before: u64,
    },
    Response {
        flow: usize,
        before: usize,
    },
    /// Bytes that must have arrived.
    Delivered {
        flow: usize,
        bytes: u64,
    },
    Never,
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
    pub(super) fn new(engine: &Engine, scenario: &Scenario, seed: u64, until: Until, limit: Time) -> Step {
        let condition = match until {
            Until::Time(_) => None,
            Until::Open { flow } => Some(Condition::Open { flow }),
            Until::Acks { flow, count } => {
                Some(Condition::Acks { flow, last: acks_of(engine, flow), left: count.max(1) })
            }
            Until::Loss { flow } => Some(Condition::Loss { flow, before: marked_lost(engine, flow) }),
            Until::Response { flow } => Some(Condition::Response { flow, before: responses(engine, flow) }),
            Until::Complete { flow } => Some(complete(engine, &scenario.flows[flow], seed, flow)),
        };
        let limit = match until {
            Until::Time(time) => time.min(limit),
            _ => limit,
        };
        Step { limit, condition }
    }

    /// Whether the condition is met before any event.
    pub(super) fn is_met(&mut self, engine: &Engine) -> bool {
        self.condition.as_mut().is_some_and(|condition| condition.is_met(engine))
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
            Condition::Open { flow } => {
                engine.endpoints(id(*flow)).is_some_and(|(source, _)| source.is_open())
            }
            Condition::Loss { flow, before } => marked_lost(engine, *flow) > *before,
            Condition::Response { flow, before } => responses(engine, *flow) > *before,
            Condition::Delivered { flow, bytes } => delivered(engine, *flow) >= *bytes,
            Condition::Never => false,
        }
    }
}

/// Condition that all data of a flow has arrived.
fn complete(engine: &Engine, described: &Flow, seed: u64, flow: usize) -> Condition {
    let application = engine.application(id(flow));
    let written = application.and_then(|it| it.fed_bytes()).or_else(|| size_of(described, seed));
    match (written, application.and_then(|it| it.requests())) {
        (Some(bytes), _) => Condition::Delivered { flow, bytes },
        (None, Some([])) => Condition::Delivered { flow, bytes: 0 },
        (None, Some(requests)) => Condition::Response { flow, before: requests.len() - 1 },
        (None, None) => Condition::Never,
    }
}

/// Payload that has arrived in order at the destination, bytes.
fn delivered(engine: &Engine, flow: usize) -> u64 {
    match engine.endpoints(id(flow)) {
        Some((_, destination)) => destination.delivered(),
        None => engine.stack_flow(id(flow)).map_or(0, |stacks| stacks.delivered()[0]),
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
