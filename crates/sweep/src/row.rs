//! One run as a worker gives it back: what it is of, and every number of it.

use lasthop_lab::runs::summary::TOGETHER;
use lasthop_scenario::Scenario;
use lasthop_sim::{LINK_METRICS, METRICS, Outcome, RLC_METRICS, Watch, run_watched};
use std::any::Any;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// A run that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Of which point: [`crate::grid::Point::digest`].
    pub digest: String,
    /// Its seed.
    pub seed: u64,
    /// What it took, s.
    pub wall_s: f64,
    /// Its numbers; or why it has none.
    pub outcome: Result<Vec<Part>, String>,
}

/// What numbers are about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A flow, by its name.
    Flow(String),
    /// All flows together.
    All,
    /// One direction of a link: `wireless.down`.
    Link(String),
}

/// The numbers of one flow, one direction of a link, or of all flows together.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What they are about.
    pub subject: Subject,
    /// Those that are defined, by their names with units, in the order of columns.
    pub numbers: Vec<(Cow<'static, str>, f64)>,
}

impl Part {
    /// A number by its name; `None` where it is undefined.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

/// Runs a scenario once. A panic, or a run that does not come to its end, is a run without numbers.
pub fn run(scenario: &Scenario, digest: &str, seed: u64) -> Row {
    let begun = Instant::now();
    let watch = || Watch { waits: true, ..Watch::default() };
    let outcome = catch_unwind(AssertUnwindSafe(|| numbers(&run_watched(scenario, seed, watch()).0)));
    let outcome = outcome.unwrap_or_else(|panic| Err(said(panic.as_ref())));
    Row { digest: digest.to_owned(), seed, wall_s: begun.elapsed().as_secs_f64(), outcome }
}

/// [`parts`] of a run that came to its end.
fn numbers(outcome: &Outcome) -> Result<Vec<Part>, String> {
    match &outcome.stuck {
        None => Ok(parts(outcome)),
        Some(stuck) => Err(format!("{}; {}", stuck.message, stuck.help)),
    }
}

/// Every number of an outcome: its flows in their order, all of them together, and each direction of its links.
pub fn parts(outcome: &Outcome) -> Vec<Part> {
    let flows = outcome.flows.iter().map(|flow| {
        let numbers = METRICS.iter().map(|metric| (metric.name, (metric.of)(flow)));
        part(Subject::Flow(flow.name.clone()), numbers)
    });
    let all = part(Subject::All, TOGETHER.iter().map(|(name, of, _)| (*name, of(outcome))));
    let sides =
        outcome.links.iter().flat_map(|link| [(0, "down"), (1, "up")].map(|(side, name)| (link, side, name)));
    let links = sides.map(|(link, side, direction)| {
        let carried = LINK_METRICS.iter().map(|metric| (metric.name, (metric.of)(&link.traffic[side])));
        let counted = RLC_METRICS.iter().map(|metric| {
            let counters = link.rlc[side].as_ref();
            (metric.name, counters.and_then(metric.of))
        });
        part(Subject::Link(format!("{}.{direction}", link.name)), carried.chain(counted))
    });
    flows.chain([all]).chain(links).collect()
}

/// What is undefined, or no finite number, is left out.
fn part(subject: Subject, numbers: impl Iterator<Item = (&'static str, Option<f64>)>) -> Part {
    let defined = numbers.filter_map(|(name, value)| {
        let value = value.filter(|value| value.is_finite())?;
        // A store keeps whole numbers as such, without the sign of a zero.
        Some((Cow::Borrowed(name), value + 0.0))
    });
    Part { subject, numbers: defined.collect() }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it panicked").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_lab::runs::{links, summary};
    use lasthop_sim::Stuck;

    /// Numbers counted until time stood still are no result.
    #[test]
    fn a_run_that_is_stuck_has_no_numbers() {
        let scenario = Scenario::load("rate=2Mbit/s,rtt=40ms,duration=1s").expect("a valid scenario");
        let mut outcome = lasthop_sim::run(&scenario, 1);
        assert_eq!(numbers(&outcome).as_ref(), Ok(&parts(&outcome)));
        outcome.stuck = Some(Stuck { message: "it stands still".to_owned(), help: "raise it".to_owned() });
        assert_eq!(numbers(&outcome), Err("it stands still; raise it".to_owned()));
    }

    /// Every field of `run --format json` is there, with the same value.
    #[test]
    fn it_has_every_metric_of_json() {
        let scenario =
            Scenario::load("rate=2Mbit/s,rtt=40ms,loss=1%,duration=5s,count=2").expect("a valid scenario");
        let outcome = lasthop_sim::run(&scenario, 3);
        let Row { outcome: Ok(parts), seed: 3, .. } = run(&scenario, "d", 3) else { panic!("it has run") };
        let outcomes = [outcome];
        let objects = summary::objects(&outcomes).chain(links::objects(&outcomes));
        let mut numbers = 0;
        for object in objects {
            let subject = match (object["flow"].as_str(), object["link"].as_str()) {
                (Some(flow), _) => Subject::Flow(flow.to_owned()),
                (None, Some(link)) => Subject::Link(link.to_owned()),
                (None, None) => Subject::All,
            };
            let part = parts.iter().find(|part| part.subject == subject).expect("every object is a part");
            for (name, value) in object.as_object().expect("an object") {
                if let Some(mean) = value.get("mean").and_then(serde_json::Value::as_f64) {
                    assert_eq!(part.number(name), Some(mean), "{subject:?} {name}");
                    numbers += 1;
                }
            }
        }
        assert!(numbers > 50, "{numbers}");
    }
}
