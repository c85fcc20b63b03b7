//! A session: a run in steps. Between the steps, the caller reads flows and links, and acts on them.
//!
//! A session logs its acts. [`Session::fork`] repeats the acts in a new session with the same seed, which then is in the
//! same state. Without acts, a session has the results of [`crate::run()`].
//!
//! Files: `step`: ends of steps; `act`: acts; `look`: counts and state.

mod act;
mod look;
mod step;

pub use act::{Act, Refused};
pub use look::{FlowLook, LinkLook};
pub use step::{Step, Stopped, Until};

use crate::assemble::assemble_for_session;
use crate::outcome::Outcome;
use crate::probe::Samples;
use crate::run::{Observation, SteppedRun};
use lasthop_base::Time;
use lasthop_engine::{Exchange, Observer};
use lasthop_scenario::{Hop, Scenario};
use lasthop_wire::FlowId;
use look::{FlowTotals, LinkTotals};
use std::sync::Arc;

/// A run in steps.
pub struct Session {
    scenario: Arc<Scenario>,
    seed: u64,
    changing: Arc<[Hop]>,
    run: SteppedRun<'static>,
    /// Flows that take orders, asked once.
    takes_orders: Vec<Option<bool>>,
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

impl Session {
    /// Returns a session at time zero. Only the directions `changing` accept [`Act::Change`] and [`Act::Queue`].
    pub fn new(scenario: Arc<Scenario>, seed: u64, changing: &[Hop], observation: Observation) -> Session {
        let engine = assemble_for_session(&scenario, seed, changing);
        let count = scenario.flows.len();
        let links = vec![LinkTotals::default(); 2 * scenario.links.len()];
        Session {
            run: SteppedRun::on_engine(Arc::clone(&scenario), seed, engine, observation),
            scenario,
            seed,
            changing: changing.into(),
            takes_orders: vec![None; count],
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

    /// Whether a flow accepts [`Act::Steer`]: its congestion control is external.
    pub fn takes_orders(&self, flow: usize) -> bool {
        self.takes_orders[flow].unwrap_or_else(|| self.run.engine().takes_orders(id(flow)))
    }

    /// All requests of a flow so far; empty for a flow without requests and responses.
    pub fn requests(&self, flow: usize) -> &[Exchange] {
        self.run.engine().application(id(flow)).and_then(|it| it.requests()).unwrap_or_default()
    }

    /// Number of packets that all hosts and middleboxes have sent so far.
    pub fn packets_sent(&self) -> u64 {
        self.run.engine().packets_sent()
    }

    /// Runs up to and including `until`, or to the end of the run.
    pub fn run_to(&mut self, until: Time) -> Stopped {
        self.run_until(Until::Time(until), until)
    }

    /// Runs until a condition is met, and then all other events of the same instant. Runs at most up to and including
    /// `limit`.
    pub fn run_until(&mut self, until: Until, limit: Time) -> Stopped {
        let mut step = self.begin(until, limit);
        loop {
            if let Some(stopped) = self.go_on(&mut step, usize::MAX) {
                return stopped;
            }
        }
    }

    /// Begins a step, which [`Session::go_on`] carries out.
    pub fn begin(&self, until: Until, limit: Time) -> Step {
        Step::new(self.run.engine(), &self.scenario, self.seed, until, limit)
    }

    /// Runs at most `most` events of a step, and the other events of the last event's instant. Returns `None` if the step
    /// has not ended.
    pub fn go_on(&mut self, step: &mut Step, most: usize) -> Option<Stopped> {
        if step.is_met(self.run.engine()) {
            return Some(Stopped::Met);
        }
        let limit = step.limit;
        let progress = match step.test() {
            None => self.run.run_part(limit, most, None),
            Some(mut test) => self.run.run_part(limit, most, Some(&mut test)),
        };
        let stopped = step.stopped(progress);
        if matches!(stopped, None | Some(Stopped::Met)) {
            self.run.run_part(self.now(), usize::MAX, None);
        }
        self.log_run();
        stopped
    }

    fn log_run(&mut self) {
        let now = self.now();
        match self.log.last_mut() {
            Some(Logged::Run(until)) => *until = now,
            _ => self.log.push(Logged::Run(now)),
        }
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

    /// Ends the run now and returns results, samples and observers. The results refer to the time until now.
    pub fn finish_early(self) -> (Outcome, Samples, Vec<Box<dyn Observer>>) {
        self.run.finish_early()
    }

    /// Ends the run at its scenario's end and returns results, samples and observers.
    pub fn finish(mut self) -> (Outcome, Samples, Vec<Box<dyn Observer>>) {
        self.run.run_part(self.end(), usize::MAX, None);
        self.run.finish()
    }
}

fn id(flow: usize) -> FlowId {
    FlowId(flow as u32)
}
