//! A session: a run in steps. Between the steps, the caller reads flows and links, and acts on them.
//!
//! A session logs its acts. [`Session::fork`] repeats the acts in a new session with the same seed, which then is in the
//! same state. Without acts, a session has the results of [`crate::run`].

use crate::assemble::{assemble_for_session, pipe_of};
use crate::outcome::Outcome;
use crate::probe::Samples;
use crate::run::{Observation, SteppedRun};
use lasthop_base::{Duration, Stream, Time};
use lasthop_engine::{Engine, LinkChange};
use lasthop_net::Config;
use lasthop_scenario::{Hop, Scenario};
use lasthop_tcp::event::Counters;
use lasthop_tcp::sender::congestion::Steer;
use lasthop_wire::{Backlog, FlowId, PerReason};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// A run in steps.
pub struct Session {
    scenario: Arc<Scenario>,
    seed: u64,
    changing: Arc<[Hop]>,
    run: SteppedRun<'static>,
    takes_orders: Vec<bool>,
    log: Vec<Logged>,
    flows: Vec<FlowTotals>,
    links: Vec<LinkTotals>,
}

/// A part of a session's past, as [`Session::fork`] repeats it.
#[derive(Clone, Debug)]
enum Logged {
    /// The run went on up to and including this time.
    Run(Time),
    Act(Act),
}

/// End of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// This time.
    Time(Time),
    /// This many further ACKs that the source of a flow receives.
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

/// Reason why a step ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// The condition was met, or the time was reached.
    Met,
    /// The run has ended: the scenario's duration has passed.
    Ended,
}

/// An act between steps.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sets cwnd or the pacing rate of a flow with an external congestion control.
    Steer(usize, Steer),
    /// Adds bytes to the data of a flow's source.
    Write(usize, u64),
    /// Requests a response of this many bytes in a flow with `response = "external"`.
    Ask(usize, u64),
    /// Ends the requests of a flow with `response = "external"`.
    Close(usize),
    /// Changes rate, delay or losses of a direction.
    Change(Hop, LinkChange),
    /// Replaces the queue of a direction by the queue of this configuration.
    Queue(Hop, Box<Config>),
}

/// Reason why an act was refused. `Display` writes a clause such as `its congestion control is not external`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused(pub &'static str);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Counts of a flow since the last look, and its state now.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FlowLook {
    /// Virtual time, s.
    pub time_s: f64,
    /// Time since the last look, s.
    pub span_s: f64,
    /// Payload delivered in order to the destination since the last look, bytes.
    pub delivered_bytes: u64,
    /// Counters of the source since the last look.
    pub source: Counters,
    /// Counters of the destination since the last look.
    pub destination: Counters,
    /// Bytes that the source has marked lost since the last look.
    pub marked_lost_bytes: u64,
    /// Number of RTT samples of the source since the last look.
    pub rtt_samples: u64,
    /// Mean of these RTT samples, s; `None` without samples.
    pub mean_rtt_s: Option<f64>,
    /// Smallest RTT sample of the whole connection, s.
    pub smallest_rtt_s: Option<f64>,
    /// Smoothed RTT, s.
    pub srtt_s: Option<f64>,
    /// Retransmission timeout, s.
    pub rto_s: f64,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Slow start threshold, bytes.
    pub ssthresh_bytes: u64,
    /// Sender's estimate of the bytes in flight.
    pub in_flight_bytes: u64,
    /// Data that the source's application has written and that was not sent yet, bytes.
    pub unsent_bytes: u64,
    /// Packets of the source that were lost since the last look, by reason.
    pub lost: PerReason<u64>,
}

/// Counts of a direction of a link since the last look, and its state now.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkLook {
    /// Virtual time, s.
    pub time_s: f64,
    /// Time since the last look, s.
    pub span_s: f64,
    /// Bytes that entered the direction and were not lost, since the last look.
    pub carried_bytes: u64,
    /// Packets that were offered to the direction since the last look.
    pub offered: u64,
    /// Packets lost since the last look, by reason.
    pub lost: PerReason<u64>,
    /// Queue now: packets and bytes that wait.
    pub backlog: Backlog,
}

#[derive(Clone, Copy, Default)]
struct FlowTotals {
    time: Time,
    delivered: u64,
    source: Counters,
    destination: Counters,
    marked_lost: u64,
    rtts: (u64, Duration),
    lost: PerReason<u64>,
}

#[derive(Clone, Copy, Default)]
struct LinkTotals {
    time: Time,
    account: lasthop_engine::PipeAccount,
}

impl Session {
    /// Returns a session at time zero. Only the directions `changing` accept [`Act::Change`] and [`Act::Queue`].
    pub fn new(scenario: Arc<Scenario>, seed: u64, changing: &[Hop], observation: Observation) -> Session {
        let engine = assemble_for_session(&scenario, seed, changing);
        let count = scenario.flows.len();
        let takes_orders = (0..count).map(|flow| engine.takes_orders(id(flow))).collect();
        let links = vec![LinkTotals::default(); 2 * scenario.links.len()];
        Session {
            run: SteppedRun::on_engine(Arc::clone(&scenario), seed, engine, observation),
            scenario,
            seed,
            changing: changing.into(),
            takes_orders,
            log: Vec::new(),
            flows: vec![FlowTotals::default(); count],
            links,
        }
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Current virtual time.
    pub fn now(&self) -> Time {
        self.run.now()
    }

    /// End of the run: the scenario's duration.
    pub fn end(&self) -> Time {
        Time::ZERO + self.scenario.duration
    }

    /// Whether the run is at its end.
    pub fn has_ended(&self) -> bool {
        self.now() >= self.end()
    }

    /// Runs up to and including `until`, or to the end of the run.
    pub fn run_to(&mut self, until: Time) -> Stopped {
        let has_more = self.run.run_until(until);
        self.log_run();
        if has_more { Stopped::Met } else { Stopped::Ended }
    }

    fn log_run(&mut self) {
        let now = self.now();
        match self.log.last_mut() {
            Some(Logged::Run(until)) => *until = now,
            _ => self.log.push(Logged::Run(now)),
        }
    }

    /// Runs until a condition is met, and then all other events of the same instant. Runs at most up to and including
    /// `limit`. Returns whether the condition was met.
    pub fn run_until(&mut self, until: Until, limit: Time) -> bool {
        let met = match until {
            Until::Time(time) => {
                self.run.run_until(time.min(limit));
                time <= limit
            }
            Until::Acks { flow, count } => {
                let last = Cell::new(acks_of(self.run.engine(), flow));
                let left = Cell::new(count.max(1));
                self.run.run_until_met(limit, |engine| {
                    let now = acks_of(engine, flow);
                    if last.replace(now) != now {
                        left.set(left.get() - 1);
                    }
                    left.get() == 0
                })
            }
            Until::Loss { flow } => {
                let before = marked_lost(self.run.engine(), flow);
                self.run.run_until_met(limit, |engine| marked_lost(engine, flow) > before)
            }
            Until::Response { flow } => {
                let before = responses(self.run.engine(), flow);
                self.run.run_until_met(limit, |engine| responses(engine, flow) > before)
            }
        };
        self.run.run_until(self.now());
        self.log_run();
        met
    }

    /// Acts now.
    ///
    /// # Errors
    /// Refuses an act that is impossible. The act then has no effect.
    pub fn act(&mut self, act: Act) -> Result<(), Refused> {
        self.apply(&act)?;
        self.log.push(Logged::Act(act));
        Ok(())
    }

    fn apply(&mut self, act: &Act) -> Result<(), Refused> {
        let refused = |it: lasthop_engine::RequestRefused| Refused(it.clause());
        match act {
            Act::Steer(flow, order) => {
                if !self.takes_orders[*flow] {
                    return Err(Refused("its congestion control is not external"));
                }
                self.run.engine_mut().steer(id(*flow), order);
            }
            Act::Write(flow, bytes) => self.run.engine_mut().write(id(*flow), *bytes),
            Act::Ask(flow, bytes) => self.run.engine_mut().ask(id(*flow), *bytes).map_err(refused)?,
            Act::Close(flow) => self.run.engine_mut().close(id(*flow)).map_err(refused)?,
            Act::Change(hop, change) => {
                let pipe = self.changing_pipe(*hop)?;
                let engine = self.run.engine_mut();
                if let Some(why) = engine.refusal(pipe, change) {
                    return Err(Refused(why.0));
                }
                engine.change(pipe, change);
            }
            Act::Queue(hop, config) => {
                let pipe = self.changing_pipe(*hop)?;
                let random = Stream::named(self.seed, &format!("session.queue.{}", self.log.len()));
                let engine = self.run.engine_mut();
                if let Some(why) = engine.queue_refusal(pipe) {
                    return Err(Refused(why.0));
                }
                engine.set_queue(pipe, config.queue_with(random));
            }
        }
        Ok(())
    }

    fn changing_pipe(&self, hop: Hop) -> Result<lasthop_engine::PipeId, Refused> {
        if self.changing.contains(&hop) {
            Ok(pipe_of(hop.link, hop.is_down))
        } else {
            Err(Refused("it was not named as a link that changes"))
        }
    }

    /// Returns the counts of a flow since the last look, and its state now.
    pub fn look(&mut self, flow: usize) -> FlowLook {
        let engine = self.run.engine();
        let time = engine.now();
        let Some((source, destination)) = engine.endpoints(id(flow)) else {
            return FlowLook { time_s: time.as_secs(), ..FlowLook::default() };
        };
        let (sender, rtt) = (source.sender(), source.sender().rtt());
        let totals = FlowTotals {
            time,
            delivered: destination.delivered(),
            source: source.counters(),
            destination: destination.counters(),
            marked_lost: sender.scoreboard().lost_total(),
            rtts: rtt.total(),
            lost: engine.account(id(flow)).lost,
        };
        let before = self.flows[flow];
        let (samples, sum) =
            (totals.rtts.0 - before.rtts.0, totals.rtts.1.saturating_sub(before.rtts.1).as_secs());
        let look = FlowLook {
            time_s: time.as_secs(),
            span_s: time.since(before.time).as_secs(),
            delivered_bytes: totals.delivered - before.delivered,
            source: totals.source.since(&before.source),
            destination: totals.destination.since(&before.destination),
            marked_lost_bytes: totals.marked_lost - before.marked_lost,
            rtt_samples: samples,
            mean_rtt_s: (samples > 0).then(|| sum / samples as f64),
            smallest_rtt_s: rtt.smallest().map(|it| it.as_secs()),
            srtt_s: rtt.srtt().map(|it| it.as_secs()),
            rto_s: rtt.rto().as_secs(),
            cwnd_bytes: sender.window(),
            ssthresh_bytes: sender.ssthresh(),
            in_flight_bytes: sender.in_flight(),
            unsent_bytes: source.unsent(),
            lost: totals.lost.since(&before.lost),
        };
        self.flows[flow] = totals;
        look
    }

    /// Returns the counts of a direction since the last look, and its state now. The backlog is exact on directions that
    /// change, and on all directions if the observation records time series.
    pub fn look_at_link(&mut self, hop: Hop) -> LinkLook {
        let pipe = pipe_of(hop.link, hop.is_down);
        let backlog = self.run.engine_mut().backlog(pipe);
        let totals = LinkTotals { time: self.now(), account: *self.run.engine().pipe_account(pipe) };
        let before = std::mem::replace(&mut self.links[pipe.0 as usize], totals);
        let account = totals.account.since(&before.account);
        LinkLook {
            time_s: totals.time.as_secs(),
            span_s: totals.time.since(before.time).as_secs(),
            carried_bytes: account.carried_bytes,
            offered: account.offered,
            lost: account.lost,
            backlog,
        }
    }

    /// Returns a new session in the same state, by a repetition of all steps and acts. The observation starts anew.
    pub fn fork(&self, observation: Observation) -> Session {
        let mut fork = Session::new(Arc::clone(&self.scenario), self.seed, &self.changing, observation);
        for logged in &self.log {
            match logged {
                Logged::Run(until) => {
                    fork.run_to(*until);
                }
                // The same act in the same state is accepted again.
                Logged::Act(act) => {
                    let _accepted = fork.act(act.clone());
                }
            }
        }
        (fork.flows, fork.links) = (self.flows.clone(), self.links.clone());
        fork
    }

    /// Ends the run at its scenario's end and returns results, samples and observers.
    pub fn finish(mut self) -> (Outcome, Samples, Vec<Box<dyn lasthop_engine::Observer>>) {
        self.run.run_until(self.end());
        self.run.finish()
    }
}

fn id(flow: usize) -> FlowId {
    FlowId(flow as u32)
}

fn marked_lost(engine: &Engine, flow: usize) -> u64 {
    engine.endpoints(id(flow)).map_or(0, |(source, _)| source.sender().scoreboard().lost_total())
}

fn responses(engine: &Engine, flow: usize) -> usize {
    engine.application(id(flow)).map_or(0, |application| application.completed())
}

/// Numbers that change with each ACK that the source receives: SND.UNA, RTT samples, and duplicate ACKs.
fn acks_of(engine: &Engine, flow: usize) -> [u64; 3] {
    engine.endpoints(id(flow)).map_or([0; 3], |(source, _)| {
        let sender = source.sender();
        [sender.scoreboard().una(), sender.rtt().total().0, source.counters().duplicate_acks]
    })
}
