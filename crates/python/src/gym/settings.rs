//! Settings and paths of environments from Python values.

use crate::error::bad_input;
use crate::scenario::Scenario;
use lasthop_base::{Duration, Unit, Value};
use lasthop_scenario::nearest;
use lasthop_sim::environment::{
    Action, Features, Path, PathRefused, QueueRange, Range, Ranges, Settings, StepLength, Weights,
    external_flows,
};
use pyo3::prelude::*;
use std::sync::Arc;

/// Longest episode, s of virtual time.
const LONGEST: f64 = 1e6;
/// Longest step, s of virtual time. Signals such as Ctrl-C wait for the end of a step.
const LONGEST_STEP: f64 = 10.0;
/// Largest number of values in an observation.
const MOST_VALUES: usize = 100_000;
/// Largest number of agents.
const MOST_AGENTS: i64 = 10_000;

/// Settings of an environment.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct GymSettings {
    pub settings: Arc<Settings>,
}

/// Path of an environment.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct GymPath {
    pub path: Path,
}

/// Range in Python: smallest and largest value as text, and whether the logarithm is uniformly distributed.
type Given = (String, String, bool);

#[pymethods]
impl GymSettings {
    /// `observation`: "aurora" or "full". `history`: number of steps in an observation. `alpha`: largest change of a
    /// continuous action. `factors`: factors of discrete actions, instead of continuous actions. `step`: "rtt", "srtt" or a
    /// number of seconds. `weights`: goodput, delay, loss. `rate_bounds`: lowest and highest pacing rate, bit/s, or None.
    /// `first_rate`: range of the first pacing rate, shares of the path's rate. `window`: cwnd as a multiple of pacing rate
    /// times SRTT.
    #[new]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (*, observation, history, alpha, factors, step, weights, rate_bounds, first_rate, window))]
    fn new(
        py: Python<'_>,
        observation: &str,
        history: Option<i64>,
        alpha: f64,
        factors: Option<Vec<f64>>,
        step: &str,
        weights: (f64, f64, f64),
        rate_bounds: Option<(String, String)>,
        first_rate: (f64, f64),
        window: f64,
    ) -> PyResult<GymSettings> {
        let features = features(py, observation)?;
        let count = features.list().len();
        let history = match history {
            None => features.usual_history(),
            Some(history) => usize::try_from(history)
                .ok()
                .filter(|history| (1..=MOST_VALUES / count).contains(history))
                .ok_or_else(|| {
                    let message = format!("history = {history}: expected a number of steps, at least 1");
                    bad_input(py, message, format!("for instance history={}", features.usual_history()))
                })?,
        };
        let action = match factors {
            Some(factors) => {
                if factors.is_empty() || !factors.iter().all(|factor| *factor > 0.0 && factor.is_finite()) {
                    let message = format!("actions = {factors:?}: expected factors of the rate, all above 0");
                    return Err(bad_input(py, message, "for instance actions=[0.8, 1.0, 1.25]"));
                }
                Action::Factors(factors)
            }
            None if alpha > 0.0 && alpha <= 100.0 => Action::Continuous { alpha },
            None => {
                let message = format!("alpha = {alpha}: expected a number above 0, at most 100");
                return Err(bad_input(py, message, "for instance alpha=0.2"));
            }
        };
        let (goodput, delay, loss) = weights;
        if ![goodput, delay, loss].iter().all(|weight| weight.is_finite()) {
            let message = format!("reward: the weights {weights:?} are not all finite numbers");
            return Err(bad_input(py, message, "for instance reward={\"delay\": 1.0}"));
        }
        let rate_bounds = match rate_bounds {
            None => None,
            Some((low, high)) => {
                let range = range(py, "rate_bounds", &(low, high, false), &|text| rate_of(py, text))?;
                if range.low < 1.0 {
                    let message = "rate_bounds: the lowest rate is below 1 bit/s";
                    return Err(bad_input(
                        py,
                        message,
                        "for instance rate_bounds=(\"300 kbit/s\", \"40 Mbit/s\")",
                    ));
                }
                Some((range.low, range.high))
            }
        };
        if !(first_rate.0 > 0.0 && first_rate.0 <= first_rate.1 && first_rate.1 <= 1e6) {
            let message =
                format!("first_rate = {first_rate:?}: expected two shares of the path's rate, low and high");
            return Err(bad_input(py, message, "for instance first_rate=(0.3, 1.5)"));
        }
        if !(window > 0.0 && window <= 1e6) {
            let message =
                format!("window = {window}: expected a multiple of pacing rate times SRTT, above 0");
            return Err(bad_input(py, message, "for instance window=2.0"));
        }
        let step = step_length(py, step)?;
        let weights = Weights { goodput, delay, loss };
        let settings = Settings { features, history, action, step, weights, rate_bounds, first_rate, window };
        Ok(GymSettings { settings: Arc::new(settings) })
    }

    /// Features of a step: name, smallest and largest value.
    #[getter]
    fn features(&self) -> Vec<(&'static str, f32, f32)> {
        let list = self.settings.features.list().iter();
        list.map(|feature| (feature.name, feature.low, feature.high)).collect()
    }

    /// Number of steps in an observation.
    #[getter]
    fn history(&self) -> usize {
        self.settings.history
    }
}

#[pymethods]
impl GymPath {
    /// `agents`: number of flows with actions. `beside`: scenarios equal to `scenario` but for the first agent's congestion
    /// control; this flow of each scenario is added. `limit_s`: length of an episode, s. `rate`, `rtt`, `queue` and `loss`:
    /// ranges from which each episode draws.
    #[new]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (scenario, agents, beside, limit_s, *, rate=None, rtt=None, queue=None, loss=None))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        agents: i64,
        beside: Vec<PyRef<'_, Scenario>>,
        limit_s: f64,
        rate: Option<Given>,
        rtt: Option<Given>,
        queue: Option<Given>,
        loss: Option<Given>,
    ) -> PyResult<GymPath> {
        if scenario.has_strategies || beside.iter().any(|other| other.has_strategies) {
            let message = "a path of an environment cannot have a mechanism in Python";
            return Err(bad_input(py, message, "lasthop.Session steps such scenarios"));
        }
        if !(1..=MOST_AGENTS).contains(&agents) {
            let message = format!("agents = {agents}: expected a whole number from 1 to {MOST_AGENTS}");
            return Err(bad_input(py, message, "for instance agents=2"));
        }
        let limit = seconds(py, "time_limit_s", limit_s)?;
        let ranges = Ranges {
            rate_bps: rate.map(|given| range(py, "rate", &given, &|text| rate_of(py, text))).transpose()?,
            rtt_s: rtt.map(|given| range(py, "rtt", &given, &|text| time_of(py, text))).transpose()?,
            queue: queue.map(|given| queue_range(py, &given)).transpose()?,
            loss: loss.map(|given| range(py, "loss", &given, &|text| share_of(py, text))).transpose()?,
        };
        if ranges.rate_bps.is_some_and(|range| range.low < 1.0) {
            return Err(bad_input(py, "ranges: the lowest rate is below 1 bit/s", "begin the range above 0"));
        }
        let checked = &scenario.checked;
        let Some(&first) = external_flows(checked).first() else {
            return Err(of_path(py, &PathRefused::Agents(0)));
        };
        let beside = beside.iter().map(|other| other.checked.flows[first].clone()).collect();
        let path = Path::new(checked, agents as usize, beside, limit, ranges);
        Ok(GymPath { path: path.map_err(|refused| of_path(py, &refused))? })
    }

    /// Names of the flows with `congestion = "external"`.
    #[staticmethod]
    fn external_flows(scenario: &Scenario) -> Vec<String> {
        if scenario.has_strategies {
            return Vec::new();
        }
        let flows = external_flows(&scenario.checked).into_iter();
        flows.map(|flow| scenario.checked.flows[flow].name.clone()).collect()
    }
}

fn of_path(py: Python<'_>, refused: &PathRefused) -> PyErr {
    let help = match refused {
        PathRefused::Agents(0) => "set congestion = \"external\" for the flow that takes actions",
        PathRefused::Agents(_) => {
            "set congestion = \"external\" for one flow, which is copied, or for at least as many flows as agents"
        }
        PathRefused::Rate(_) => "leave `rate` out of the ranges, or give a path with a constant rate",
        PathRefused::Queue(_) => "leave `queue` out of the ranges, or give a path with a drop-tail queue",
        PathRefused::Rtt(_) => "begin the range of `rtt` higher",
    };
    bad_input(py, refused.to_string(), help)
}

fn features(py: Python<'_>, name: &str) -> PyResult<Features> {
    if let Some((_, features)) = Features::ALL.iter().find(|(known, _)| *known == name) {
        return Ok(*features);
    }
    let known = Features::ALL.map(|(known, _)| known);
    let meant = nearest(name, known).map_or(String::new(), |meant| format!("did you mean `{meant}`? "));
    let help = format!("{meant}the observations are {}", known.join(", "));
    Err(bad_input(py, format!("there is no observation `{name}`"), help))
}

fn step_length(py: Python<'_>, text: &str) -> PyResult<StepLength> {
    match text {
        "rtt" => Ok(StepLength::BaseRtt),
        "srtt" => Ok(StepLength::SmoothedRtt),
        text => match time_of(py, text) {
            Ok(length) if length > 0.0 && length <= LONGEST_STEP => {
                Ok(StepLength::Fixed(Duration::from_secs_f64(length)))
            }
            _ => {
                let message = format!(
                    "step = {text}: expected \"rtt\", \"srtt\", or a time above 0 of at most {LONGEST_STEP} s"
                );
                Err(bad_input(py, message, "for instance step=\"50 ms\", or step=0.05 for 0.05 s"))
            }
        },
    }
}

fn seconds(py: Python<'_>, name: &str, seconds: f64) -> PyResult<Duration> {
    if seconds > 0.0 && seconds <= LONGEST {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        let message = format!("{name} = {seconds}: expected a virtual time above 0, at most {LONGEST} s");
        Err(bad_input(py, message, ""))
    }
}

/// Parses a range, and checks that its values are in order.
fn range(
    py: Python<'_>,
    name: &str,
    (low, high, is_log): &Given,
    parse: &dyn Fn(&str) -> PyResult<f64>,
) -> PyResult<Range> {
    let range = Range { low: parse(low)?, high: parse(high)?, is_log: *is_log };
    if range.low > range.high {
        let message = format!("the range of {name} is upside down: {low} is more than {high}");
        return Err(bad_input(py, message, "give the smaller value first"));
    }
    if range.is_log && range.low <= 0.0 {
        let message = format!("the range of {name} begins at {low}, and 0 has no logarithm");
        return Err(bad_input(py, message, "begin the range above 0, or leave \"log\" out"));
    }
    Ok(range)
}

/// Parses a range of queue limits: both in packets, or both in bandwidth-delay products.
fn queue_range(py: Python<'_>, (low, high, is_log): &Given) -> PyResult<QueueRange> {
    let split = |text: &str| {
        let text = text.trim();
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || ".+-eE ".contains(c));
        (text[..text.len() - unit.len()].trim().to_owned(), unit.to_owned())
    };
    let ((low, low_unit), (high, high_unit)) = (split(low), split(high));
    let number = |text: &str| match text.parse::<f64>() {
        Ok(number) if (0.0..=1e9).contains(&number) => Ok(number),
        _ => Err(bad_input(
            py,
            format!("ranges: queue = {text}: expected a number of packets or of bandwidth-delay products"),
            "for instance \"100 packets\" or \"1 bdp\"",
        )),
    };
    let given = (low, high, *is_log);
    let is_packets = |unit: &str| matches!(unit, "packets" | "packet" | "");
    match (low_unit.as_str(), high_unit.as_str()) {
        ("bdp", "bdp") => Ok(QueueRange::Bdp(range(py, "queue", &given, &number)?)),
        (low, high) if is_packets(low) && is_packets(high) => {
            let range = range(py, "queue", &given, &number)?;
            if range.low < 1.0 {
                let message = "ranges: the smallest queue has less than 1 packet";
                return Err(bad_input(py, message, "a limit of 0 packets would mean: no limit"));
            }
            Ok(QueueRange::Packets(range))
        }
        _ => Err(bad_input(
            py,
            format!("ranges: queue: the units `{low_unit}` and `{high_unit}` do not fit"),
            "give both limits in packets, or both in bdp",
        )),
    }
}

fn rate_of(py: Python<'_>, text: &str) -> PyResult<f64> {
    match text.parse::<f64>() {
        Ok(bps) if (0.0..=1e15).contains(&bps) => Ok(bps),
        Ok(bps) => Err(bad_input(py, format!("rate = {bps}: expected a rate, at least 0 bit/s"), "")),
        Err(_) => match Unit::Rate.parse(text) {
            Ok(Value::Rate(rate)) => Ok(rate.bps() as f64),
            Ok(_) => Ok(0.0),
            Err(why) => Err(bad_input(py, format!("rate = {text:?}: {why}"), "for instance \"2 Mbit/s\"")),
        },
    }
}

fn time_of(py: Python<'_>, text: &str) -> PyResult<f64> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=LONGEST).contains(&seconds) => Ok(seconds),
        Ok(seconds) => Err(bad_input(py, format!("time = {seconds}: expected a time, at least 0 s"), "")),
        Err(_) => match Unit::Duration(Duration::ZERO, Duration::from_secs(3600)).parse(text) {
            Ok(Value::Duration(time)) => Ok(time.as_secs()),
            Ok(_) => Ok(0.0),
            Err(why) => Err(bad_input(py, format!("time = {text:?}: {why}"), "for instance \"50 ms\"")),
        },
    }
}

fn share_of(py: Python<'_>, text: &str) -> PyResult<f64> {
    match Unit::Probability(0.0, 1.0).parse(text) {
        Ok(Value::Number(share)) => Ok(share),
        Ok(_) => Ok(0.0),
        Err(why) => Err(bad_input(py, format!("loss = {text}: {why}"), "for instance \"1 %\" or 0.01")),
    }
}
