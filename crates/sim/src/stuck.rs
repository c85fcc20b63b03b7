//! The error of a run whose time does not advance.

use lasthop_base::{Info, Time, Unit, Values};
use lasthop_engine::{Engine, EventSource, FlowSide, PipeId};
use lasthop_scenario::Scenario;

/// The error of a stuck run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Sentence that names the virtual time, and the mechanism, node, link or flow that keeps time from advancing.
    pub message: String,
    /// Advice that helps to avoid the error.
    pub help: String,
}

impl Stuck {
    pub(crate) fn of(scenario: &Scenario, engine: &Engine) -> Option<Stuck> {
        let stuck = engine.stuck()?;
        let (what, help) = named(scenario, stuck.source);
        let at = stuck.at.since(Time::ZERO);
        let message = format!(
            "the run is stuck at {at}: {what} is due again and again at that time, {} times so far",
            stuck.events
        );
        Some(Stuck { message, help })
    }
}

/// Returns a description of an event source in the scenario's terms, and advice that helps to avoid the error.
fn named(scenario: &Scenario, source: EventSource) -> (String, String) {
    match source {
        EventSource::Node(node) => {
            let name = &scenario.nodes[node.0 as usize];
            let choice = &scenario.middleboxes[node.0 as usize];
            let what = format!("middlebox `{}` at node `{name}`", choice.info.name);
            (what, times_of("its", &[(choice.info, &choice.values)]))
        }
        EventSource::Element(pipe) => element(scenario, pipe),
        EventSource::Host(flow, side) => {
            let name = scenario.flows.get(flow.0 as usize).map_or("", |flow| &flow.name);
            let end = if side == FlowSide::Source { "source" } else { "destination" };
            let what = format!("a timer at the {end} of flow `{name}`");
            (
                what,
                format!("raise the times that are 0 s in [flow.{name}] and in its `sender` and `receiver`"),
            )
        }
        EventSource::Plans => {
            ("a planned rate".to_owned(), "make each step of each `plan` longer".to_owned())
        }
    }
}

fn element(scenario: &Scenario, pipe: PipeId) -> (String, String) {
    let what = |of: &str| format!("{of} of {}", link_of(scenario, pipe));
    let Some(link) = scenario.links.get(pipe.0 as usize / 2) else {
        return (what("a deadline"), "raise the times of `arq` and `processing` that are 0 s".to_owned());
    };
    let config = if pipe.0.is_multiple_of(2) { &link.down } else { &link.up };
    let (queue, arq) = (&config.queue, &config.arq);
    let help = times_of("their", &[(queue.info, &queue.values), (arq.info, &arq.values)]);
    (what(&format!("queue `{}` or link layer `{}`", queue.info.name, arq.info.name)), help)
}

fn link_of(scenario: &Scenario, pipe: PipeId) -> String {
    match scenario.links.get(pipe.0 as usize / 2) {
        Some(link) if pipe.0.is_multiple_of(2) => format!("link.{}.down", link.name),
        Some(link) => format!("link.{}.up", link.name),
        None => "a shared medium or a host".to_owned(),
    }
}

/// Returns advice to raise the mechanisms' duration parameters. The advice lists the present values of these
/// parameters.
fn times_of(whose: &str, mechanisms: &[(&Info, &Values)]) -> String {
    let times = mechanisms.iter().flat_map(|(info, values)| {
        let times = info.parameters.iter().filter(|parameter| matches!(parameter.unit, Unit::Duration(..)));
        times.map(|parameter| format!("{} = {}", parameter.name, values.duration(parameter.name)))
    });
    let times: Vec<String> = times.collect();
    if times.is_empty() {
        "this is a bug in the mechanism: handle_timeout must advance poll_timeout".to_owned()
    } else {
        format!("raise {whose} times: {}", times.join(", "))
    }
}
