//! A run that did not come to its end, as its user is told.

use lasthop_base::{Info, Time, Unit, Values};
use lasthop_engine::{Engine, PipeId, Side, Source};
use lasthop_scenario::Scenario;

/// Why a run did not come to its end: its time stood still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Event, place and time, in one sentence.
    pub message: String,
    /// The way to mend it.
    pub help: String,
}

impl Stuck {
    /// The reason of an engine that runs a scenario; `None` if time passes in the engine.
    pub(crate) fn of(scenario: &Scenario, engine: &Engine) -> Option<Stuck> {
        let stuck = engine.stuck()?;
        let (what, help) = named(scenario, stuck.source);
        let at = stuck.at.since(Time::ZERO);
        let message = format!(
            "the run stands still at {at}: {what} is due again and again at that time, {} times so far",
            stuck.events
        );
        Some(Stuck { message, help })
    }
}

/// A source of events in the scenario's words, and what could be mended there.
fn named(scenario: &Scenario, source: Source) -> (String, String) {
    match source {
        Source::Node(node) => {
            let name = &scenario.nodes[node.0 as usize];
            let choice = &scenario.middleboxes[node.0 as usize];
            let what = format!("middlebox `{}` at node `{name}`", choice.info.name);
            (what, times_of("its", &[(choice.info, &choice.values)]))
        }
        Source::Element(pipe) => element(scenario, pipe),
        Source::Host(flow, side) => {
            let name = scenario.flows.get(flow.0 as usize).map_or("", |flow| &flow.name);
            let end = if side == Side::Source { "source" } else { "destination" };
            let what = format!("a timer at the {end} of flow `{name}`");
            (
                what,
                format!("raise the times of [flow.{name}] and of its `sender` and `receiver` that are 0 s"),
            )
        }
        Source::Plans => ("a rate by plan".to_owned(), "make the steps of each `plan` longer".to_owned()),
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

/// A link's direction by its key.
fn link_of(scenario: &Scenario, pipe: PipeId) -> String {
    match scenario.links.get(pipe.0 as usize / 2) {
        Some(link) if pipe.0.is_multiple_of(2) => format!("link.{}.down", link.name),
        Some(link) => format!("link.{}.up", link.name),
        None => "a medium, or inside a host".to_owned(),
    }
}

/// Parameters to raise: those that are times, with their values.
fn times_of(whose: &str, mechanisms: &[(&Info, &Values)]) -> String {
    let times = mechanisms.iter().flat_map(|(info, values)| {
        let times = info.parameters.iter().filter(|parameter| matches!(parameter.unit, Unit::Duration(..)));
        times.map(|parameter| format!("{} = {}", parameter.name, values.duration(parameter.name)))
    });
    let times: Vec<String> = times.collect();
    if times.is_empty() {
        "this is a mistake in its code: handle_timeout has to move poll_timeout on".to_owned()
    } else {
        format!("raise {whose} times: {}", times.join(", "))
    }
}
