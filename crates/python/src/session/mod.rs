//! Sessions in Python: runs in steps, with acts in between.

mod look;

pub use look::{FlowLook, LinkLook};

use crate::error::{bad_input, of_problem};
use crate::events::Events;
use crate::results::{Runs, events_of};
use crate::scenario::Scenario;
use crate::strategy;
use crate::work::{EVENTS_PER_PYTHON_STEP, EVENTS_PER_STEP};
use lasthop_base::{Duration, Rate, Time, Unit, Value};
use lasthop_engine::{LinkChange, Observer};
use lasthop_scenario::{Draft, Hop, nearest};
use lasthop_sim::{Act, Observation, Session as Run, Stopped, Until};
use lasthop_tcp::sender::congestion::Steer;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, TryLockError};

/// Part of a step between two checks for signals, events: some 10 ms.
const EVENTS_PER_PART: usize = 16 * EVENTS_PER_STEP;

/// A run in steps.
#[pyclass(frozen, subclass, module = "lasthop._lasthop")]
pub struct Session {
    run: Mutex<Option<Run>>,
    /// Last pacing rate of each flow, bit/s, for orders by factor.
    pacing: Mutex<Vec<Option<f64>>>,
    scenario: Arc<lasthop_scenario::Scenario>,
    draft: Draft,
    changing: Vec<Hop>,
    has_strategies: bool,
    records: Records,
}

/// Records of a run for its results.
#[derive(Clone, Copy)]
struct Records {
    samples: bool,
    events: bool,
    link_delays: bool,
}

impl Records {
    fn observation(self) -> Observation {
        let observers: Vec<Box<dyn Observer>> =
            if self.events { vec![Box::<Events>::default()] } else { Vec::new() };
        let Records { samples, link_delays, .. } = self;
        Observation { observers, probes: samples, link_delays, stack_logs: Vec::new() }
    }
}

#[pymethods]
impl Session {
    /// `changing`: names of the links or link directions that may change. `records`: whether to record samples, events and
    /// link delays.
    #[new]
    #[pyo3(signature = (scenario, seed, changing, records))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        seed: Option<u64>,
        changing: Vec<String>,
        records: (bool, bool, bool),
    ) -> PyResult<Session> {
        let checked = scenario.checked.clone();
        let mut hops = Vec::new();
        for name in changing {
            hops.extend(hops_of(py, &checked, &name)?);
        }
        let (samples, events, link_delays) = records;
        let records = Records { samples, events, link_delays };
        strategy::begin();
        let run = Run::new(checked.clone(), seed.unwrap_or(checked.seed), &hops, records.observation());
        strategy::failure()?;
        Ok(Session {
            run: Mutex::new(Some(run)),
            pacing: Mutex::new(vec![None; checked.flows.len()]),
            draft: scenario.draft.clone(),
            scenario: checked,
            changing: hops,
            has_strategies: scenario.has_strategies,
            records,
        })
    }

    /// Starts again at time zero, with the same scenario and another seed. Records and acts are discarded.
    #[pyo3(signature = (seed))]
    fn reset(&self, py: Python<'_>, seed: u64) -> PyResult<()> {
        strategy::begin();
        let run = Run::new(self.scenario.clone(), seed, &self.changing, self.records.observation());
        strategy::failure()?;
        *self.run.lock().map_err(|_| poisoned(py))? = Some(run);
        self.pacing.lock().map_err(|_| poisoned(py))?.fill(None);
        Ok(())
    }

    /// Virtual time, s.
    #[getter]
    fn time_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |run| Ok(run.now().as_secs()))
    }

    /// Duration of the run, virtual time, s.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.scenario.duration.as_secs()
    }

    /// Seed of the run.
    #[getter]
    fn seed(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |run| Ok(run.seed()))
    }

    /// Whether the run has reached its end.
    #[getter]
    fn has_ended(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |run| Ok(run.has_ended()))
    }

    /// Number of packets that all hosts have sent so far, ACKs included.
    #[getter]
    fn packets_sent(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |run| Ok(run.packets_sent()))
    }

    /// Runs for this virtual time, s, or to the end of the run. Returns whether the run goes on.
    fn run_for(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let span = duration(py, "seconds", seconds)?;
        self.step(py, |run| {
            let until = run.now() + span;
            Ok((Until::Time(until), until))
        })
        .map(|stopped| stopped != Stopped::Ended)
    }

    /// Runs until a condition is met, or until the virtual time `time_s`, by default the end of the run. Without a
    /// condition, returns whether the run reached `time_s`; with a condition, returns whether the condition is met.
    ///
    /// Conditions, of which one may be given: `acks` further ACKs of data at the source of `flow`; the next `loss` that the source
    /// detects; the end of the next `response`; `complete`: all data that was written or asked for so far has arrived. `flow` is a
    /// name, by default the first flow.
    #[pyo3(signature = (time_s=None, *, acks=None, loss=false, response=false, complete=false, flow=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn run_until(
        &self,
        py: Python<'_>,
        time_s: Option<f64>,
        acks: Option<i64>,
        loss: bool,
        response: bool,
        complete: bool,
        flow: Option<&str>,
    ) -> PyResult<bool> {
        let flow = self.flow_index(py, flow)?;
        let limit = match time_s {
            Some(seconds) => Time::ZERO + duration(py, "time_s", seconds)?,
            None => Time::ZERO + self.scenario.duration,
        };
        if u8::from(acks.is_some()) + u8::from(loss) + u8::from(response) + u8::from(complete) > 1 {
            let message = "more than one condition is given";
            return Err(bad_input(py, message, "give one of acks, loss, response and complete"));
        }
        let until = match acks {
            Some(count @ 1..) => Until::Acks { flow, count: count.unsigned_abs() },
            Some(count) => {
                let message = format!("acks = {count}: expected a whole number, at least 1");
                return Err(bad_input(py, message, "for instance acks=1"));
            }
            None if loss => Until::Loss { flow },
            None if response => Until::Response { flow },
            None if complete => Until::Complete { flow },
            None => Until::Time(limit),
        };
        let stopped = self.step(py, |run| {
            if limit < run.now() {
                let (at, now) = (limit.as_secs(), run.now().as_secs());
                let message = format!("time_s = {at}: the session is already at {now} s");
                return Err(bad_input(py, message, "a run cannot go back: fork a session before the step"));
            }
            Ok((until, limit))
        })?;
        Ok(match until {
            Until::Time(_) => stopped == Stopped::Met || limit == Time::ZERO + self.scenario.duration,
            _ => stopped == Stopped::Met,
        })
    }

    /// Sets the congestion window or the pacing rate of a flow with `congestion = "external"`, now. The values hold until the
    /// next call. Before the connection is open, the values are kept until then.
    ///
    /// `cwnd_bytes` has at least one segment in effect. `pacing_bps` is the rate of the payload, bit/s; `math.inf` turns
    /// pacing off. `pacing_factor` multiplies the current pacing rate. `flow` is a name, by default the first flow.
    #[pyo3(signature = (*, cwnd_bytes=None, pacing_bps=None, pacing_factor=None, flow=None))]
    fn steer(
        &self,
        py: Python<'_>,
        cwnd_bytes: Option<f64>,
        pacing_bps: Option<f64>,
        pacing_factor: Option<f64>,
        flow: Option<&str>,
    ) -> PyResult<()> {
        let flow = self.flow_index(py, flow)?;
        let window = match cwnd_bytes {
            None => None,
            Some(bytes) if bytes >= 0.0 => Some(bytes.min(1e18) as u64),
            Some(bytes) => return Err(wrong(py, "cwnd_bytes", bytes, "a number of bytes, at least 0")),
        };
        let mut rates = self.pacing.lock().map_err(|_| poisoned(py))?;
        let bps = match (pacing_bps, pacing_factor) {
            (Some(_), Some(_)) => {
                let message = "both pacing_bps and pacing_factor are given";
                return Err(bad_input(py, message, "give one of them"));
            }
            (None, Some(factor)) if !(factor > 0.0 && factor.is_finite()) => {
                return Err(wrong(py, "pacing_factor", factor, "a number above 0"));
            }
            (None, Some(factor)) => match rates[flow] {
                Some(bps) => Some(bps * factor),
                None => {
                    let message = "pacing_factor: the flow is not paced";
                    return Err(bad_input(py, message, "give pacing_bps first"));
                }
            },
            (bps, None) => bps,
        };
        let pacing = match bps {
            None => None,
            Some(bps) if bps == f64::INFINITY => Some(None),
            Some(bps) if bps > 0.0 => Some(Some(Rate::from_bps((bps.min(1e15) as u64).max(1)))),
            Some(bps) => {
                return Err(wrong(py, "pacing_bps", bps, "a rate above 0, bit/s; math.inf turns pacing off"));
            }
        };
        self.act(py, Act::Steer(flow, Steer { window, pacing }), || self.flow_name(flow))?;
        if let Some(bps) = bps {
            rates[flow] = bps.is_finite().then_some(bps);
        }
        Ok(())
    }

    /// Returns the counts of a flow since the last call, and its state now. With `total`, returns the counts since the start,
    /// and the next call without `total` ignores this call. `flow` is a name, by default the first flow.
    #[pyo3(signature = (flow=None, *, total=false))]
    fn look(&self, py: Python<'_>, flow: Option<&str>, total: bool) -> PyResult<FlowLook> {
        let flow = self.flow_index(py, flow)?;
        self.with(py, |run| Ok(FlowLook(if total { run.total(flow) } else { run.look(flow) })))
    }

    /// Returns the counts of a link direction ("wireless.down") since the last call, and its state now. `total` as in `look`.
    /// The queue is exact on directions that may change, and with `samples` on all directions.
    #[pyo3(signature = (link, *, total=false))]
    fn look_at_link(&self, py: Python<'_>, link: &str, total: bool) -> PyResult<LinkLook> {
        let hop = self.direction(py, link)?;
        self.with(py, |run| Ok(LinkLook(if total { run.total_of_link(hop) } else { run.look_at_link(hop) })))
    }

    /// Changes a link or a link direction now, which must have been named in `changing`. Values have the syntax of scenarios.
    #[pyo3(signature = (link, rate=None, delay=None, loss=None, queue=None))]
    fn change_link(
        &self,
        py: Python<'_>,
        link: &str,
        rate: Option<String>,
        delay: Option<String>,
        loss: Option<String>,
        queue: Option<String>,
    ) -> PyResult<()> {
        let hops = hops_of(py, &self.scenario, link)?;
        let change = LinkChange {
            bps: rate.map(|text| self::rate(py, &text)).transpose()?,
            delay: delay.map(|text| time(py, &text)).transpose()?,
            loss: loss.map(|text| share(py, &text)).transpose()?,
        };
        let queues = queue.map(|queue| self.queues(py, &hops, &queue)).transpose()?;
        let mut acts = Vec::new();
        for (index, hop) in hops.iter().enumerate() {
            if change != LinkChange::default() {
                acts.push(Act::Change(*hop, change));
            }
            if let Some(queues) = &queues {
                acts.push(Act::Queue(*hop, Box::new(queues[index].clone())));
            }
        }
        // All changes or none: a refusal must have no effect.
        self.with(py, |run| {
            acts.iter().try_for_each(|act| {
                run.refusal(act).map_or(Ok(()), |why| Err(refused(py, &format!("link `{link}`"), why.0)))
            })
        })?;
        acts.into_iter().try_for_each(|act| self.act(py, act, || format!("link `{link}`")))
    }

    /// Requests a response of `response_bytes` bytes in a flow with `response = "external"`.
    #[pyo3(signature = (response_bytes, *, flow=None))]
    fn ask(&self, py: Python<'_>, response_bytes: i64, flow: Option<&str>) -> PyResult<()> {
        let flow = self.flow_index(py, flow)?;
        let bytes = whole(py, "response_bytes", response_bytes)?;
        self.act(py, Act::Ask(flow, bytes), || self.flow_name(flow))
    }

    /// Writes data of a flow with `transfer = "external"`: the source sends `data_bytes` more bytes.
    #[pyo3(signature = (data_bytes, *, flow=None))]
    fn write(&self, py: Python<'_>, data_bytes: i64, flow: Option<&str>) -> PyResult<()> {
        let flow = self.flow_index(py, flow)?;
        let bytes = whole(py, "data_bytes", data_bytes)?;
        self.act(py, Act::Write(flow, bytes), || self.flow_name(flow))
    }

    /// Ends the requests of a flow with `response = "external"`, or the data of a flow with `transfer = "external"`. The
    /// connection closes after the last response or the last byte.
    #[pyo3(signature = (*, flow=None))]
    fn close(&self, py: Python<'_>, flow: Option<&str>) -> PyResult<()> {
        let flow = self.flow_index(py, flow)?;
        self.act(py, Act::Close(flow), || self.flow_name(flow))
    }

    /// Requests of a flow so far: time of the request, s; size of the response, bytes; time from the request to the
    /// response's last byte, s, or None if the response is incomplete.
    #[pyo3(signature = (*, flow=None))]
    fn responses(&self, py: Python<'_>, flow: Option<&str>) -> PyResult<Vec<(f64, u64, Option<f64>)>> {
        let flow = self.flow_index(py, flow)?;
        self.with(py, |run| {
            let each = run.requests(flow).iter();
            let row = |one: &lasthop_engine::Exchange| {
                (one.requested.as_secs(), one.bytes, one.response_time.map(|time| time.as_secs()))
            };
            Ok(each.map(row).collect())
        })
    }

    /// Ends the run at its end, or now if `early`, and returns its results. The session accepts no further calls.
    #[pyo3(signature = (early=false))]
    fn end(&self, py: Python<'_>, early: bool) -> PyResult<Runs> {
        if !early {
            let end = Time::ZERO + self.scenario.duration;
            self.step(py, |_| Ok((Until::Time(end), end)))?;
        }
        let mut held = self.run.lock().map_err(|_| poisoned(py))?;
        let Some(run) = held.take() else { return Err(finished(py)) };
        let (mut outcome, samples, observers) = if early { run.finish_early() } else { run.finish() };
        if let Some(stuck) = outcome.stuck.take() {
            return Err(bad_input(py, stuck.message, stuck.help));
        }
        Ok(Runs {
            scenario: self.scenario.clone(),
            outcomes: vec![outcome],
            samples: self.records.samples.then_some(samples),
            events: events_of(observers),
        })
    }

    /// Brings this session, which is at time zero, into the state of another session with the same scenario.
    fn follow(&self, py: Python<'_>, other: &Session) -> PyResult<()> {
        strategy::begin();
        let fork = other.with(py, |run| Ok(run.fork(self.records.observation())))?;
        strategy::failure()?;
        *self.run.lock().map_err(|_| poisoned(py))? = Some(fork);
        let rates = other.pacing.lock().map_err(|_| poisoned(py))?.clone();
        *self.pacing.lock().map_err(|_| poisoned(py))? = rates;
        Ok(())
    }
}

impl Session {
    /// Calls `work` with the run. Fails if the session is finished, or if another thread uses the session.
    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Run) -> PyResult<T>) -> PyResult<T> {
        let mut held = self.run.try_lock().map_err(|error| match error {
            TryLockError::Poisoned(_) => poisoned(py),
            TryLockError::WouldBlock => bad_input(
                py,
                "the session is in use: another thread, or a hook of a Python mechanism in this session",
                "use a session from one thread at a time",
            ),
        })?;
        match held.as_mut() {
            Some(run) => work(run),
            None => Err(finished(py)),
        }
    }

    /// Carries out a step without Python's global interpreter lock, and checks for signals between its parts.
    fn step(&self, py: Python<'_>, until: impl FnOnce(&Run) -> PyResult<(Until, Time)>) -> PyResult<Stopped> {
        self.with(py, |run| {
            let (until, limit) = until(run)?;
            let mut step = run.begin(until, limit);
            if self.has_strategies {
                strategy::begin();
            }
            loop {
                let stopped = if self.has_strategies {
                    let stopped = run.go_on(&mut step, EVENTS_PER_PYTHON_STEP);
                    strategy::failure()?;
                    stopped
                } else {
                    py.detach(|| run.go_on(&mut step, EVENTS_PER_PART))
                };
                if let Some(stopped) = stopped {
                    return Ok(stopped);
                }
                py.check_signals()?;
            }
        })
    }

    fn act(&self, py: Python<'_>, act: Act, subject: impl FnOnce() -> String) -> PyResult<()> {
        if self.has_strategies {
            strategy::begin();
        }
        self.with(py, |run| run.act(act).map_err(|why| refused(py, &subject(), why.0)))?;
        if self.has_strategies { strategy::failure() } else { Ok(()) }
    }

    fn flow_index(&self, py: Python<'_>, name: Option<&str>) -> PyResult<usize> {
        let Some(name) = name else { return Ok(0) };
        let flows = &self.scenario.flows;
        flows.iter().position(|flow| flow.name == name).ok_or_else(|| {
            unknown(py, "flow", name, &flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>())
        })
    }

    fn flow_name(&self, flow: usize) -> String {
        format!("flow `{}`", self.scenario.flows[flow].name)
    }

    /// Returns the direction with this name. A name of a link without a direction means `down`.
    fn direction(&self, py: Python<'_>, name: &str) -> PyResult<Hop> {
        hops_of(py, &self.scenario, name).map(|hops| hops[0])
    }

    /// Returns the configuration of each direction with this queue.
    fn queues(&self, py: Python<'_>, hops: &[Hop], queue: &str) -> PyResult<Vec<lasthop_net::Config>> {
        let mut draft = self.draft.clone();
        for hop in hops {
            let link = &self.scenario.links[hop.link].name;
            let side = if hop.is_down { "down" } else { "up" };
            let path = format!("link.{link}.{side}.queue");
            draft.set(&path, queue).map_err(|problem| of_problem(py, &problem))?;
        }
        let checked = draft.check().map_err(|problem| of_problem(py, &problem))?;
        let config = |hop: &Hop| {
            let link = &checked.links[hop.link];
            if hop.is_down { link.down.clone() } else { link.up.clone() }
        };
        Ok(hops.iter().map(config).collect())
    }
}

/// Returns the directions with this name: `wireless` (both), `wireless.down` or `wireless.up`.
fn hops_of(py: Python<'_>, scenario: &lasthop_scenario::Scenario, name: &str) -> PyResult<Vec<Hop>> {
    let (link, sides) = match name.rsplit_once('.') {
        Some((link, "down")) => (link, &[true][..]),
        Some((link, "up")) => (link, &[false][..]),
        _ => (name, &[true, false][..]),
    };
    let links = &scenario.links;
    match links.iter().position(|one| one.name == link) {
        Some(index) => Ok(sides.iter().map(|is_down| Hop { link: index, is_down: *is_down }).collect()),
        None => {
            Err(unknown(py, "link", link, &links.iter().map(|one| one.name.as_str()).collect::<Vec<_>>()))
        }
    }
}

fn unknown(py: Python<'_>, kind: &str, name: &str, known: &[&str]) -> PyErr {
    let meant = nearest(name, known.iter().copied())
        .map_or(String::new(), |meant| format!("did you mean `{meant}`? "));
    let help = format!("{meant}the scenario has {}", known.join(", "));
    bad_input(py, format!("there is no {kind} `{name}`"), help)
}

fn refused(py: Python<'_>, subject: &str, why: &'static str) -> PyErr {
    let help = match why {
        "its congestion control is not external" => "set congestion = \"external\" for the flow",
        "it was not named as a link that changes" => "name the link when the session is made: changing=[…]",
        "the flow has no responses that are decided during the run" => {
            "set response = \"external\" for the flow"
        }
        "its size is not external" => "set transfer = \"external\" for the flow",
        "neither its size nor its responses are external" => {
            "set transfer = \"external\" or response = \"external\" for the flow"
        }
        _ => "",
    };
    bad_input(py, format!("{subject}: {why}"), help)
}

fn finished(py: Python<'_>) -> PyErr {
    bad_input(py, "the session is finished", "make a new session, or fork a session before it is finished")
}

fn poisoned(py: Python<'_>) -> PyErr {
    bad_input(py, "an earlier call of this session has failed", "make a new session")
}

fn wrong(py: Python<'_>, name: &str, value: f64, expected: &str) -> PyErr {
    bad_input(py, format!("{name} = {value}: expected {expected}"), "")
}

fn whole(py: Python<'_>, name: &str, value: i64) -> PyResult<u64> {
    u64::try_from(value)
        .map_err(|_| bad_input(py, format!("{name} = {value}: expected a whole number, at least 0"), ""))
}

fn duration(py: Python<'_>, name: &str, seconds: f64) -> PyResult<Duration> {
    if (0.0..=1e9).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(wrong(py, name, seconds, "a virtual time from 0 to 1e9 s"))
    }
}

/// Parses a rate: text with its unit, or a number of bit/s.
fn rate(py: Python<'_>, text: &str) -> PyResult<u64> {
    match text.parse::<f64>() {
        Ok(bps) if (0.0..=1e15).contains(&bps) => Ok(bps as u64),
        Ok(bps) => Err(wrong(py, "rate", bps, "a rate, at least 0 bit/s")),
        Err(_) if text.split_whitespace().next() == Some("0") => Ok(0),
        Err(_) => match Unit::Rate.parse(text) {
            Ok(Value::Rate(rate)) => Ok(rate.bps()),
            Ok(_) => Ok(0),
            Err(why) => Err(bad_input(py, format!("rate = {text:?}: {why}"), "for instance \"2 Mbit/s\"")),
        },
    }
}

/// Parses a time: text with its unit, or a number of seconds.
fn time(py: Python<'_>, text: &str) -> PyResult<Duration> {
    match text.parse::<f64>() {
        Ok(seconds) => duration(py, "delay", seconds),
        Err(_) => match Unit::Duration(Duration::ZERO, Duration::from_secs(3600)).parse(text) {
            Ok(Value::Duration(time)) => Ok(time),
            Ok(_) => Ok(Duration::ZERO),
            Err(why) => Err(bad_input(py, format!("delay = {text:?}: {why}"), "for instance \"50 ms\"")),
        },
    }
}

/// Parses a probability: text such as `1 %`, or a number from 0 to 1.
fn share(py: Python<'_>, text: &str) -> PyResult<f64> {
    match Unit::Probability(0.0, 1.0).parse(text) {
        Ok(Value::Number(share)) => Ok(share),
        Ok(_) => Ok(0.0),
        Err(why) => Err(bad_input(py, format!("loss = {text}: {why}"), "for instance \"1 %\" or 0.01")),
    }
}
