//! One repetition of a scenario.

use crate::assemble::{assemble, pipe_of, seeded_service};
use crate::idle_path::IdlePaths;
use crate::link_metrics::{LinkDelay, LinkTraffic};
use crate::outcome::{FlowOutcome, LinkOutcome, Outcome};
use crate::probe::{Prober, Samples};
use crate::stuck::Stuck;
use crate::transport;
use lasthop_base::{Duration, Time};
use lasthop_engine::{Engine, Fate, FlowSide, MiddleboxAction, NodeId, Observer, PipeId};
use lasthop_scenario::{Hop, Scenario};
use lasthop_stack::Layer;
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;
use std::io::Write;
use std::ops::Deref;
use std::sync::Arc;

/// Optional observers and measurements of a run.
#[derive(Default)]
pub struct Observation {
    /// Observers, which receive all events, hop by hop.
    pub observers: Vec<Box<dyn Observer>>,
    /// Whether to record time series, with a sample every [`Scenario::sample`].
    pub probes: bool,
    /// Whether to measure link delays ([`crate::LinkTraffic::delay`]).
    pub link_delays: bool,
    /// Writers of the logs of stacks ([`lasthop_stack::Stack::write_log`]).
    pub stack_logs: Vec<StackLog>,
}

/// Writer of the log of the stack at one end of a flow.
pub struct StackLog {
    /// Index of the flow in [`Scenario::flows`].
    pub flow: usize,
    /// End of the flow: the source or the destination.
    pub is_source: bool,
    /// Writer. A stack reports no errors of the writer.
    pub writer: Box<dyn Write + Send + Sync>,
}

struct ObserverList(Vec<Box<dyn Observer>>);

impl Observer for ObserverList {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        self.0.iter_mut().for_each(|observer| observer.on_packet(now, pipe, packet, fate));
    }

    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        self.0.iter_mut().for_each(|observer| observer.on_fate(now, pipe, packet, fate));
    }

    fn on_copy(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        self.0.iter_mut().for_each(|observer| observer.on_copy(now, pipe, copy));
    }

    fn on_datagram(&mut self, flow: FlowId, number: u64, layer: Layer, bytes: &[u8]) {
        self.0.iter_mut().for_each(|observer| observer.on_datagram(flow, number, layer, bytes));
    }

    fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        self.0.iter_mut().for_each(|observer| observer.on_middlebox(now, node, packet, action));
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: FlowSide, event: &Event) {
        self.0.iter_mut().for_each(|observer| observer.on_event(now, flow, side, event));
    }
}

/// Runs a scenario once.
pub fn run(scenario: &Scenario, seed: u64) -> Outcome {
    if scenario.warmup > Duration::ZERO {
        return run_observed(scenario, seed, Observation::default()).0;
    }
    let mut engine = assemble(scenario, seed);
    engine.run_until(end_of(scenario));
    outcome(scenario, seed, &engine, end_of(scenario))
}

/// Runs a scenario once and records time series.
pub fn run_probed(scenario: &Scenario, seed: u64) -> (Outcome, Samples) {
    let (outcome, samples, _) =
        run_observed(scenario, seed, Observation { probes: true, ..Observation::default() });
    (outcome, samples)
}

/// Runs a scenario once with observers and measurements. Also returns the observers.
pub fn run_observed(
    scenario: &Scenario,
    seed: u64,
    observation: Observation,
) -> (Outcome, Samples, Vec<Box<dyn Observer>>) {
    let mut running = SteppedRun::new(scenario, seed, observation);
    running.run_with(|engine, until| {
        engine.run_until(until);
        false
    });
    running.finish()
}

/// Reason why [`SteppedRun::run_part`] returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// The limit on the number of events.
    More,
    /// The condition is met.
    Met,
    /// The time is reached.
    Reached,
    /// The run has ended.
    Ended,
}

/// A scenario that a run borrows, or shares with its caller.
enum HeldScenario<'s> {
    Borrowed(&'s Scenario),
    Shared(Arc<Scenario>),
}

impl Deref for HeldScenario<'_> {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        match self {
            HeldScenario::Borrowed(scenario) => scenario,
            HeldScenario::Shared(scenario) => scenario,
        }
    }
}

/// A run in steps, for callers that may stop early or that do other work between steps. The division into steps does
/// not change the results.
pub struct SteppedRun<'s> {
    scenario: HeldScenario<'s>,
    seed: u64,
    engine: Engine,
    samples: Samples,
    prober: Option<Prober>,
    next_sample: Time,
    at_warm_up_end: Option<Box<Outcome>>,
}

impl<'s> SteppedRun<'s> {
    /// Returns a run that is at time zero.
    pub fn new(scenario: &'s Scenario, seed: u64, observation: Observation) -> SteppedRun<'s> {
        SteppedRun::of(HeldScenario::Borrowed(scenario), seed, observation)
    }

    /// Returns a run that is at time zero and owns its scenario.
    pub fn owning(scenario: Scenario, seed: u64, observation: Observation) -> SteppedRun<'static> {
        SteppedRun::of(HeldScenario::Shared(Arc::new(scenario)), seed, observation)
    }

    fn of(scenario: HeldScenario<'s>, seed: u64, observation: Observation) -> SteppedRun<'s> {
        let engine = assemble(&scenario, seed);
        SteppedRun::with_engine(scenario, seed, engine, observation)
    }

    /// Returns a run of the scenario on this engine, which is at time zero.
    pub(crate) fn on_engine(
        scenario: Arc<Scenario>,
        seed: u64,
        engine: Engine,
        observation: Observation,
    ) -> SteppedRun<'static> {
        SteppedRun::with_engine(HeldScenario::Shared(scenario), seed, engine, observation)
    }

    fn with_engine(
        scenario: HeldScenario<'s>,
        seed: u64,
        mut engine: Engine,
        observation: Observation,
    ) -> SteppedRun<'s> {
        if !observation.observers.is_empty() {
            engine.observe(Box::new(ObserverList(observation.observers)));
        }
        for StackLog { flow, is_source, writer } in observation.stack_logs {
            let side = if is_source { FlowSide::Source } else { FlowSide::Destination };
            engine.write_stack_log(FlowId(flow as u32), side, writer);
        }
        if observation.probes {
            engine.keep_flows();
            engine.unfuse();
        }
        if observation.link_delays {
            let links = scenario.links.iter().enumerate();
            for (index, link) in links {
                engine.measure_delays(pipe_of(index, true), link.down.delay);
                engine.measure_delays(pipe_of(index, false), link.up.delay);
            }
        }
        let prober = observation.probes.then(|| Prober::new(&scenario));
        SteppedRun {
            scenario,
            seed,
            engine,
            samples: Samples::default(),
            prober,
            next_sample: Time::ZERO,
            at_warm_up_end: None,
        }
    }

    /// Runs at most `most` events; returns true if the run has not ended.
    pub fn advance(&mut self, most: usize) -> bool {
        self.run_with(|engine, until| engine.advance(until, most))
    }

    /// Runs at most `most` events between two samples, up to and including `until`. Stops after the first event after
    /// which `is_met` returns true.
    pub(crate) fn run_part(
        &mut self,
        until: Time,
        most: usize,
        mut is_met: Option<&mut dyn FnMut(&Engine) -> bool>,
    ) -> Progress {
        let mut stopped = None;
        let has_more = self.run_with(|engine, to| {
            let target = to.min(until);
            match &mut is_met {
                None if engine.advance(target, most) => stopped = Some(Progress::More),
                None => {}
                Some(is_met) => {
                    let mut left = most;
                    while stopped.is_none() && engine.advance(target, 1) {
                        left -= 1;
                        if is_met(engine) {
                            stopped = Some(Progress::Met);
                        } else if left == 0 {
                            stopped = Some(Progress::More);
                        }
                    }
                }
            }
            stopped.is_some() || until < to
        });
        stopped.unwrap_or(if has_more { Progress::Reached } else { Progress::Ended })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Runs the warm-up, then the measured part. `to` runs the engine until a given time, and returns true if the
    /// engine stopped earlier. Returns true if the run is not over.
    fn run_with(&mut self, mut to: impl FnMut(&mut Engine, Time) -> bool) -> bool {
        let warm = Time::ZERO + self.scenario.warmup;
        if warm > Time::ZERO && self.at_warm_up_end.is_none() {
            if self.sample_until(warm, &mut to) || to(&mut self.engine, warm) {
                return true;
            }
            self.at_warm_up_end = Some(Box::new(outcome(&self.scenario, self.seed, &self.engine, warm)));
            self.engine.clear_delays();
        }
        let end = end_of(&self.scenario);
        self.sample_until(end, &mut to) || to(&mut self.engine, end)
    }

    /// Runs to each sampling time before `end` and takes the samples. Returns true if `to` stopped the engine
    /// before `end`.
    fn sample_until(&mut self, end: Time, to: &mut impl FnMut(&mut Engine, Time) -> bool) -> bool {
        while let Some(prober) = self.prober.as_mut().filter(|_| self.next_sample < end) {
            if to(&mut self.engine, self.next_sample) {
                return true;
            }
            if self.engine.stuck().is_some() {
                break;
            }
            prober.sample(self.next_sample, &mut self.engine, &mut self.samples);
            self.next_sample += self.scenario.sample;
        }
        false
    }

    /// Current virtual time.
    pub fn now(&self) -> Time {
        self.engine.now()
    }

    /// Ends the run. Returns results, samples and observers. If the run was stopped early, counts are partial, but
    /// rates still refer to the scenario's duration.
    pub fn finish(self) -> (Outcome, Samples, Vec<Box<dyn Observer>>) {
        let end = end_of(&self.scenario);
        self.finish_at(end)
    }

    /// Ends the run now. Results refer to the time until now, as if the scenario's duration were that time.
    pub fn finish_early(self) -> (Outcome, Samples, Vec<Box<dyn Observer>>) {
        let now = self.now();
        self.finish_at(now)
    }

    fn finish_at(mut self, end: Time) -> (Outcome, Samples, Vec<Box<dyn Observer>>) {
        let outcome = outcome(&self.scenario, self.seed, &self.engine, end);
        let outcome = match &self.at_warm_up_end {
            Some(before) => outcome.since(before),
            None => outcome,
        };
        let list = self.engine.take_observer().map(|observer| observer as Box<dyn Any>);
        let observers =
            list.and_then(|any| any.downcast::<ObserverList>().ok()).map_or(Vec::new(), |list| list.0);
        (outcome, self.samples, observers)
    }
}

fn end_of(scenario: &Scenario) -> Time {
    Time::ZERO + scenario.duration
}

/// Returns the results up to `end`, which is the engine's current time.
fn outcome(scenario: &Scenario, seed: u64, engine: &Engine, end: Time) -> Outcome {
    let paths = IdlePaths::new(scenario);
    let flows: Vec<FlowOutcome> = scenario
        .flows
        .iter()
        .enumerate()
        .map(|(index, flow)| FlowOutcome::of(flow, FlowId(index as u32), engine, (seed, end), &paths))
        .collect();
    let links = scenario
        .links
        .iter()
        .enumerate()
        .map(|(index, link)| LinkOutcome {
            name: link.name.clone(),
            down: *engine.pipe_account(pipe_of(index, true)),
            up: *engine.pipe_account(pipe_of(index, false)),
            traffic: [true, false].map(|down| {
                traffic((scenario, seed, end), engine, &flows, Hop { link: index, is_down: down })
            }),
            rlc: [true, false].map(|down| engine.rlc(pipe_of(index, down)).copied()),
        })
        .collect();
    Outcome {
        seed,
        duration_s: end.as_secs(),
        warmup_s: 0.0,
        flows,
        links,
        stuck: transport::missing(scenario).or_else(|| Stuck::of(scenario, engine)),
    }
}

fn traffic(
    (scenario, seed, end): (&Scenario, u64, Time),
    engine: &Engine,
    flows: &[FlowOutcome],
    hop: Hop,
) -> LinkTraffic {
    let (link, pipe) = (&scenario.links[hop.link], pipe_of(hop.link, hop.is_down));
    let service = if hop.is_down { &link.down.service } else { &link.up.service };
    let account = engine.pipe_account(pipe);
    let through = scenario.routes.iter().zip(flows).map(|(route, flow)| {
        let there = if route.there.contains(&hop) { flow.delivered_bytes } else { 0 };
        there + if route.back.contains(&hop) { flow.requested_bytes } else { 0 }
    });
    LinkTraffic {
        duration_s: end.as_secs(),
        carried_bytes: account.carried_bytes - engine.bytes_in_flight(pipe),
        capacity_bytes: seeded_service(service, link, seed).bytes_until(end),
        payload_bytes: through.sum(),
        lost: account.lost,
        delay: engine.delay_statistics(pipe).and_then(LinkDelay::of),
    }
}
