//! Environments for learned congestion control: episodes of steps, with an action, an observation and a reward.
//!
//! An environment runs [`Session`]s whose agents are flows with `congestion = "external"`. In each step, every agent
//! changes its pacing rate, the run goes on for some time, and every agent receives an observation and a reward. The
//! interface is the interface of Gymnasium: `reset`, then `step` until the episode ends.
//!
//! Files: `action`: changes of the rate; `features`: observations; `interval`: measurements of a step; `reward`: the
//! reward; `path`: paths, and their draws from ranges.
//!
//! # Not modelled
//! A real sender knows neither the bottleneck's rate nor the RTT of the idle path. The reward, the first rate and, by
//! default, the length of a step use these values. Features do not use these values, except that a step's length is the
//! base RTT with [`StepLength::BaseRtt`].

mod action;
mod features;
mod interval;
mod path;
mod reward;

pub use action::{Action, ActionRefused};
pub use features::{Feature, Features};
pub use interval::{INTERVAL_NUMBERS, Interval};
pub use path::{Path, PathFacts, PathRefused, QueueRange, Range, Ranges, external_flows};
pub use reward::Weights;

use crate::run::Observation;
use crate::session::{Act, Session, Stopped, Until};
use interval::Memory;
use lasthop_base::{Duration, Rate, Stream};
use lasthop_tcp::sender::congestion::Steer;
use std::fmt;
use std::sync::Arc;

/// Smallest cwnd that an environment sets, segments: an initial window (RFC 6928).
const LEAST_WINDOW: f64 = 10.0;
/// Time for the handshake in [`Environment::reset`], beyond four RTTs of the idle path: the initial retransmission
/// timeout (RFC 6298 §2).
const HANDSHAKE: Duration = Duration::from_secs(1);
/// Shortest step.
const SHORTEST_STEP: Duration = Duration::from_micros(1);

/// Virtual time of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepLength {
    /// RTT of the idle path ([`PathFacts::base_rtt_s`]) of the first agent.
    BaseRtt,
    /// Largest smoothed RTT of the agents at the start of the step; before the first RTT sample, the base RTT.
    SmoothedRtt,
    /// This time.
    Fixed(Duration),
}

/// Settings of an environment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Features of a step in the observation.
    pub features: Features,
    /// Number of steps in an observation, at least 1.
    pub history: usize,
    /// Meaning of actions.
    pub action: Action,
    /// Length of a step.
    pub step: StepLength,
    /// Weights of the reward.
    pub weights: Weights,
    /// Lowest and highest pacing rate, bit/s. `None`: a twentieth of the slowest path's rate, and twice the fastest
    /// path's rate.
    pub rate_bounds: Option<(f64, f64)>,
    /// Bounds of the first pacing rate, as shares of the path's rate. Each episode draws a share uniformly.
    pub first_rate: (f64, f64),
    /// cwnd, as a multiple of the pacing rate times the smoothed RTT.
    pub window: f64,
}

impl Settings {
    /// Number of values in an observation.
    pub fn observation_size(&self) -> usize {
        self.history * self.features.list().len()
    }
}

/// Reason why [`Environment::step`] refuses actions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepRefused {
    /// No episode has begun.
    NotReset,
    /// The episode has ended.
    Ended,
    /// The number of actions differs from the number of agents.
    Count(usize, usize),
    /// An action is refused.
    Action(ActionRefused),
}

impl fmt::Display for StepRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepRefused::NotReset => f.write_str("no episode has begun"),
            StepRefused::Ended => f.write_str("the episode has ended"),
            StepRefused::Count(given, agents) => write!(f, "{given} actions for {agents} agents"),
            StepRefused::Action(refused) => refused.fmt(f),
        }
    }
}

/// Environment with one or more agents. Episodes depend only on settings, paths, seed and actions.
pub struct Environment {
    settings: Arc<Settings>,
    paths: Arc<[Path]>,
    bounds: (f64, f64),
    seeds: Stream,
    episode: Option<Episode>,
}

/// An episode under way.
struct Episode {
    session: Session,
    seed: u64,
    agents: Vec<Agent>,
    has_ended: bool,
}

/// One flow that follows actions.
struct Agent {
    flow: usize,
    facts: PathFacts,
    bounds: (f64, f64),
    /// Pacing rate, bit/s.
    rate: f64,
    memory: Memory,
    interval: Interval,
    /// Rows of features, the oldest row first.
    history: Vec<f32>,
    reward: f64,
}

impl Environment {
    /// Returns an environment. Each episode draws one of the paths. All paths have the same number of agents.
    pub fn new(settings: Arc<Settings>, paths: Arc<[Path]>, seed: u64) -> Environment {
        let bounds = settings.rate_bounds.unwrap_or_else(|| default_bounds(&paths));
        let mut environment =
            Environment { settings, paths, bounds, seeds: Stream::named(0, ""), episode: None };
        environment.seed(seed);
        environment
    }

    /// Determines all further episodes.
    pub fn seed(&mut self, seed: u64) {
        self.seeds = Stream::named(seed, "environment.episodes");
    }

    /// Lowest and highest pacing rate, bit/s.
    pub fn rate_bounds(&self) -> (f64, f64) {
        self.bounds
    }

    /// Begins an episode on one of the environment's paths, or on `other`. On `other`, the default bounds of the pacing
    /// rate extend to the default bounds of this path.
    ///
    /// The run goes on until each agent's handshake has ended, so that an RTT is known, for at most 1 s and four RTTs.
    pub fn reset(&mut self, other: Option<&Path>) {
        // The session and Gymnasium's `info` have seeds of 63 bits.
        let seed = self.seeds.draw() >> 1;
        let mut stream = Stream::named(seed, "environment.path");
        let number = (stream.uniform() * self.paths.len() as f64) as usize;
        let path = other.unwrap_or(&self.paths[number.min(self.paths.len() - 1)]);
        let bounds = match other {
            Some(path) if self.settings.rate_bounds.is_none() => {
                let own = path.rate_bounds();
                (self.bounds.0.min(own.0), self.bounds.1.max(own.1))
            }
            _ => self.bounds,
        };
        let (scenario, facts) = path.draw(&mut stream);
        let mut session = Session::new(Arc::clone(&scenario), seed, &[], Observation::default());
        let (low, high) = self.settings.first_rate;
        let mut agents = Vec::with_capacity(facts.len());
        for (&flow, facts) in path.agents().iter().zip(facts) {
            let share = low + (high - low) * stream.uniform();
            let rate = (share * facts.capacity_bps).clamp(bounds.0, bounds.1);
            let history = vec![0.0; self.settings.observation_size()];
            agents.push(Agent {
                flow,
                facts,
                bounds,
                rate,
                memory: Memory::default(),
                interval: Interval::default(),
                history,
                reward: 0.0,
            });
        }
        for agent in &agents {
            agent.steer(&self.settings, &mut session);
        }
        for agent in &agents {
            let start = scenario.flows[agent.flow].start + scenario.flows[agent.flow].start_spread;
            let limit = start + Duration::from_secs_f64(4.0 * agent.facts.base_rtt_s) + HANDSHAKE;
            if session.total(agent.flow).rtt_samples == 0 && limit > session.now() {
                session.run_until(Until::Open { flow: agent.flow }, limit);
            }
        }
        for agent in &mut agents {
            agent.measure(&self.settings, &mut session, Interval::without_counts);
            agent.reward = 0.0;
        }
        self.episode = Some(Episode { session, seed, agents, has_ended: false });
    }

    /// Carries out one step with an action for each agent. Returns whether the episode has ended: the scenario's
    /// duration has passed.
    ///
    /// # Errors
    /// Refuses actions that are no numbers, and steps outside of episodes. Nothing has happened then.
    pub fn step(&mut self, actions: &[f64]) -> Result<bool, StepRefused> {
        let Some(episode) = &mut self.episode else { return Err(StepRefused::NotReset) };
        if episode.has_ended {
            return Err(StepRefused::Ended);
        }
        let Episode { session, agents, .. } = episode;
        if actions.len() != agents.len() {
            return Err(StepRefused::Count(actions.len(), agents.len()));
        }
        for action in actions {
            self.settings.action.check(*action).map_err(StepRefused::Action)?;
        }
        for (agent, action) in agents.iter_mut().zip(actions) {
            let rate = self.settings.action.apply(agent.rate, *action);
            agent.rate = rate.clamp(agent.bounds.0, agent.bounds.1);
            agent.steer(&self.settings, session);
        }
        let until = session.now() + step_length(&self.settings, agents);
        let stopped = session.run_to(until);
        for agent in agents.iter_mut() {
            agent.measure(&self.settings, session, |interval| interval);
        }
        episode.has_ended = stopped == Stopped::Ended;
        Ok(episode.has_ended)
    }

    /// Whether the last step has ended the episode. True before the first episode.
    pub fn has_ended(&self) -> bool {
        self.episode.as_ref().is_none_or(|episode| episode.has_ended)
    }

    /// Writes the observation of an agent to `out`, which has [`Settings::observation_size`] values. Writes nothing
    /// before the first episode.
    pub fn observe(&self, agent: usize, out: &mut [f32]) {
        if let Some(episode) = &self.episode {
            out.copy_from_slice(&episode.agents[agent].history);
        }
    }

    /// Observation of an agent; empty before the first episode.
    pub fn observation(&self, agent: usize) -> &[f32] {
        self.episode.as_ref().map_or(&[], |episode| &episode.agents[agent].history)
    }

    /// Reward of an agent for the last step; 0 after a reset.
    pub fn reward(&self, agent: usize) -> f64 {
        self.episode.as_ref().map_or(0.0, |episode| episode.agents[agent].reward)
    }

    /// Measurements of an agent in the last step; after a reset, at the end of the handshake, with counts of 0.
    pub fn interval(&self, agent: usize) -> Interval {
        self.episode.as_ref().map_or(Interval::default(), |episode| episode.agents[agent].interval)
    }

    /// Seed of the run of this episode.
    pub fn episode_seed(&self) -> u64 {
        self.episode.as_ref().map_or(0, |episode| episode.seed)
    }

    /// The session of this episode; `None` before the first episode.
    pub fn session(&self) -> Option<&Session> {
        self.episode.as_ref().map(|episode| &episode.session)
    }

    /// Number of agents.
    pub fn agents(&self) -> usize {
        self.paths.first().map_or(0, |path| path.agents().len())
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Agent {
    /// Sets the pacing rate and cwnd of the agent's flow.
    fn steer(&self, settings: &Settings, session: &mut Session) {
        let product = settings.window * self.rate * self.round_trip_s() / 8.0;
        let window = product.max(LEAST_WINDOW * self.facts.segment_bytes) as u64;
        let pacing = Rate::from_bps((self.rate as u64).max(1));
        let order = Steer { window: Some(window), pacing: Some(Some(pacing)) };
        // `Path::new` has checked that the flow takes orders.
        let _accepted = session.act(Act::Steer(self.flow, order));
    }

    /// Smoothed RTT, or the base RTT before the first sample, s.
    fn round_trip_s(&self) -> f64 {
        self.memory.srtt_s.unwrap_or(self.facts.base_rtt_s)
    }

    /// Measures the time since the last measurement, and adds the features of the adapted measurements to the history.
    fn measure(&mut self, settings: &Settings, session: &mut Session, adapt: fn(Interval) -> Interval) {
        let look = session.look(self.flow);
        self.interval = adapt(Interval::of(&look, self.rate, &self.facts, &mut self.memory));
        self.reward = settings.weights.reward(&self.interval);
        let list = settings.features.list();
        self.history.copy_within(list.len().., 0);
        let newest = self.history.len() - list.len();
        for (place, feature) in self.history[newest..].iter_mut().zip(list) {
            *place = feature.of(&self.interval);
        }
    }
}

fn step_length(settings: &Settings, agents: &[Agent]) -> Duration {
    let length = match settings.step {
        StepLength::Fixed(length) => length,
        StepLength::BaseRtt => {
            Duration::from_secs_f64(agents.first().map_or(0.0, |agent| agent.facts.base_rtt_s))
        }
        StepLength::SmoothedRtt => {
            Duration::from_secs_f64(agents.iter().map(Agent::round_trip_s).fold(0.0, f64::max))
        }
    };
    length.max(SHORTEST_STEP)
}

fn default_bounds(paths: &[Path]) -> (f64, f64) {
    let bounds = paths.iter().map(Path::rate_bounds);
    bounds.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or((1.0, 1.0))
}
