//! Result of one run, in the form in which a worker returns the result.

use lasthop_lab::runs::summary::AGGREGATE_METRICS;
use lasthop_scenario::Scenario;
use lasthop_sim::{FLOW_METRICS, LINK_METRICS, Observation, Outcome, RLC_METRICS, run_observed};
use std::any::Any;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// Digest of the point that the run belongs to, see [`crate::grid::GridPoint::digest`].
    pub digest: String,
    /// Seed of the run.
    pub seed: u64,
    /// Wall-clock time of the run, s.
    pub wall_s: f64,
    /// Numbers of the run, or the error message of a failed run.
    pub outcome: Result<Vec<SubjectMetrics>, String>,
}

/// Object that a list of numbers describes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A flow. The text is the name of the flow.
    Flow(String),
    /// All flows together.
    All,
    /// One direction of a link. The text is a name such as `wireless.down`.
    Link(String),
}

/// Numbers of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectMetrics {
    /// The subject that the numbers describe.
    pub subject: Subject,
    /// Defined numbers, each with its name, in the order of the columns. A name includes the unit suffix.
    pub numbers: Vec<(Cow<'static, str>, f64)>,
}

impl SubjectMetrics {
    /// Returns the number with this name. Returns `None` if the number is undefined.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

/// Executes one run of a scenario. If the run panics or does not end, the row has an error message instead of numbers.
pub fn run(scenario: &Scenario, digest: &str, seed: u64) -> RunRow {
    let begun = Instant::now();
    let observation = || Observation { link_delays: true, ..Observation::default() };
    let outcome = catch_unwind(AssertUnwindSafe(|| numbers(&run_observed(scenario, seed, observation()).0)));
    let outcome = outcome.unwrap_or_else(|panic| Err(panic_message(panic.as_ref())));
    RunRow { digest: digest.to_owned(), seed, wall_s: begun.elapsed().as_secs_f64(), outcome }
}

fn numbers(outcome: &Outcome) -> Result<Vec<SubjectMetrics>, String> {
    match &outcome.stuck {
        None => Ok(subject_metrics(outcome)),
        Some(stuck) => Err(format!("{}; {}", stuck.message, stuck.help)),
    }
}

/// Returns all numbers of an outcome: the numbers of each flow, of all flows together, and of each link direction.
pub fn subject_metrics(outcome: &Outcome) -> Vec<SubjectMetrics> {
    let flows = outcome.flows.iter().map(|flow| {
        let numbers = FLOW_METRICS.iter().map(|metric| (metric.name, (metric.of)(flow)));
        metrics(Subject::Flow(flow.name.clone()), numbers)
    });
    let all = metrics(Subject::All, AGGREGATE_METRICS.iter().map(|(name, of, _)| (*name, of(outcome))));
    let sides =
        outcome.links.iter().flat_map(|link| [(0, "down"), (1, "up")].map(|(side, name)| (link, side, name)));
    let links = sides.map(|(link, side, direction)| {
        let carried = LINK_METRICS.iter().map(|metric| (metric.name, (metric.of)(&link.traffic[side])));
        let counted = RLC_METRICS.iter().map(|metric| {
            let counters = link.rlc[side].as_ref();
            (metric.name, counters.and_then(metric.of))
        });
        metrics(Subject::Link(format!("{}.{direction}", link.name)), carried.chain(counted))
    });
    flows.chain([all]).chain(links).collect()
}

/// Collects the numbers of a subject. Undefined numbers and numbers that are not finite are omitted.
fn metrics(subject: Subject, numbers: impl Iterator<Item = (&'static str, Option<f64>)>) -> SubjectMetrics {
    let defined = numbers.filter_map(|(name, value)| {
        let value = value.filter(|value| value.is_finite())?;
        // SQLite stores whole numbers as integers, which have no negative zero. Adding 0.0 turns -0.0 into 0.0.
        Some((Cow::Borrowed(name), value + 0.0))
    });
    SubjectMetrics { subject, numbers: defined.collect() }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the run panicked").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_lab::runs::{links, summary};
    use lasthop_sim::Stuck;

    #[test]
    fn a_run_that_is_stuck_has_no_numbers() {
        let scenario = Scenario::load("rate=2Mbit/s,rtt=40ms,duration=1s").expect("a valid scenario");
        let mut outcome = lasthop_sim::run(&scenario, 1);
        assert_eq!(numbers(&outcome).as_ref(), Ok(&subject_metrics(&outcome)));
        outcome.stuck = Some(Stuck { message: "time stands still".to_owned(), help: "raise it".to_owned() });
        assert_eq!(numbers(&outcome), Err("time stands still; raise it".to_owned()));
    }

    #[test]
    fn it_has_every_metric_of_json() {
        let scenario =
            Scenario::load("rate=2Mbit/s,rtt=40ms,loss=1%,duration=5s,count=2").expect("a valid scenario");
        let outcome = lasthop_sim::run(&scenario, 3);
        let RunRow { outcome: Ok(subject_metrics), seed: 3, .. } = run(&scenario, "d", 3) else {
            panic!("the run failed")
        };
        let outcomes = [outcome];
        let objects = summary::objects(&outcomes, &[]).chain(links::objects(&outcomes));
        let mut numbers = 0;
        // Numbers of classes are left out, because `results` computes these numbers from the flows.
        for object in objects.filter(|object| object.get("class").is_none()) {
            let subject = match (object["flow"].as_str(), object["link"].as_str()) {
                (Some(flow), _) => Subject::Flow(flow.to_owned()),
                (None, Some(link)) => Subject::Link(link.to_owned()),
                (None, None) => Subject::All,
            };
            let metrics = subject_metrics
                .iter()
                .find(|metrics| metrics.subject == subject)
                .expect("every object has a subject");
            for (name, value) in object.as_object().expect("an object") {
                if let Some(mean) = value.get("mean").and_then(serde_json::Value::as_f64) {
                    assert_eq!(metrics.number(name), Some(mean), "{subject:?} {name}");
                    numbers += 1;
                }
            }
        }
        assert!(numbers > 50, "{numbers}");
    }
}
