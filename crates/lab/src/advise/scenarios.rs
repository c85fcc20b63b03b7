//! Scenarios of one candidate: the user's flows beside short transfers, and the user's flows beside an unmodified
//! neighbour.
//!
//! The duration of short transfers is a measure of the user's waiting time on any path. The sender's RTT does not
//! measure the waiting time if a split-connection middlebox is on the path, because the RTT then ends at the middlebox.
//! The short transfers start one after another and together use about 5 % of the bottleneck's rate. The candidate's
//! changes apply to the short transfers, too. The neighbour is a copy of the user's first flow without the candidate's
//! changes. No middlebox processes the neighbour's packets.

use super::PathParameters;
use super::repetition::RepetitionMeasures;
use lasthop_scenario::{Draft, Problem, Scenario, Traffic};
use lasthop_sim::{Observation, Stuck, run_observed};
use toml::{Table, Value};

/// Share of the bottleneck's rate used by short transfers.
const SHARE: f64 = 0.05;
/// Size of the smallest short transfer, bytes.
const SMALLEST: f64 = 10e3;
/// Size of the largest short transfer, bytes.
const LARGEST: f64 = 100e3;
const MAX_SHORT_TRANSFERS: f64 = 40.0;
/// Share of a run, at its start, in which no short transfer starts.
const BEFORE: f64 = 0.1;
/// Share of a run, at its end, in which no short transfer starts.
const AFTER: f64 = 0.1;

pub(super) struct CandidateScenarios {
    beside_short: Scenario,
    beside_neighbour: Scenario,
    short: String,
    neighbour: String,
    own: Vec<String>,
}

impl CandidateScenarios {
    /// Builds the two scenarios of a candidate. `changed` is the user's scenario with the candidate's changes; `plain`
    /// is the scenario without these changes.
    pub(super) fn new(
        changed: &Draft,
        plain: &Draft,
        path: &PathParameters,
        name: &str,
    ) -> Result<CandidateScenarios, Problem> {
        let changed = resolved_table(changed)?;
        let plain = resolved_table(plain)?;
        let own = path.flows.clone();
        let (short, neighbour) = (unused_name(&changed, "short"), unused_name(&changed, "neighbour"));
        let Some(first) = own.first() else {
            return Err(Problem::at(name, name, 0..name.len(), "there is no TCP flow"));
        };
        let checked = |table: &Table| Draft::parse(&table.to_string(), name)?.check();
        let duration = quantity(path.duration.as_secs(), "s");

        let mut table = changed.clone();
        table.insert("duration".into(), duration.clone());
        add(&mut table, &short, short_flow(flow(&changed, first), path));
        let beside_short = checked(&table)?;

        let mut table = changed;
        table.insert("duration".into(), duration);
        add(&mut table, &neighbour, neighbour_flow(flow(&plain, first), path));
        let beside_neighbour = checked(&table)?;
        Ok(CandidateScenarios { beside_short, beside_neighbour, short, neighbour, own })
    }

    pub(super) fn congestion(&self) -> &'static str {
        let flows = self.beside_short.flows.iter();
        let mut sources = flows.filter_map(|flow| match &flow.traffic {
            Traffic::Tcp { source, .. } if self.own.iter().any(|own| belongs_to(&flow.name, own)) => {
                Some(source)
            }
            _ => None,
        });
        sources.next().map_or("", |source| source.congestion.info.name)
    }

    /// Runs one repetition of both scenarios. Fails if a run gets stuck: virtual time no longer advances.
    pub(super) fn run(&self, seed: u64) -> Result<RepetitionMeasures, Stuck> {
        let observation = Observation { probes: true, ..Observation::default() };
        let (mut short, samples, _) = run_observed(&self.beside_short, seed, observation);
        let mut neighbour = lasthop_sim::run(&self.beside_neighbour, seed);
        if let Some(stuck) = short.stuck.take().or(neighbour.stuck.take()) {
            return Err(stuck);
        }
        Ok(RepetitionMeasures::of(&short, &samples, &neighbour, |name| {
            if belongs_to(name, &self.short) {
                FlowRole::Short
            } else if belongs_to(name, &self.neighbour) {
                FlowRole::Neighbour
            } else if self.own.iter().any(|own| belongs_to(name, own)) {
                FlowRole::Own
            } else {
                FlowRole::Other
            }
        }))
    }

    /// Returns the share of time in which the receive window limits the user's first flow, %; 0 if the share is
    /// unknown.
    pub(super) fn rwnd_limited_pct(&self, seed: u64) -> f64 {
        let outcome = lasthop_sim::run(&self.beside_short, seed);
        let first =
            outcome.flows.iter().find(|flow| self.own.first().is_some_and(|own| belongs_to(&flow.name, own)));
        first.and_then(lasthop_sim::FlowOutcome::rwnd_limited_pct).unwrap_or(0.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowRole {
    Own,
    Short,
    Neighbour,
    Other,
}

pub(super) fn tcp_flows(draft: &Draft) -> Result<Vec<String>, Problem> {
    let table = resolved_table(draft)?;
    let flows = table.get("flow").and_then(Value::as_table);
    let is_tcp = |flow: &Value| flow.get("kind").and_then(Value::as_str) == Some("tcp");
    Ok(flows.into_iter().flatten().filter(|(_, flow)| is_tcp(flow)).map(|(name, _)| name.clone()).collect())
}

/// Returns the scenario as `lasthop show` prints it: all keys with their values.
fn resolved_table(draft: &Draft) -> Result<Table, Problem> {
    let text = draft.show()?;
    // If the text cannot be parsed, the table is empty, and the later check of the scenario fails.
    Ok(text.parse().unwrap_or_default())
}

/// Whether `flow` is the flow `name`, or one of its replicas `name.1`, `name.2` …
pub(super) fn belongs_to(flow: &str, name: &str) -> bool {
    flow.strip_prefix(name).is_some_and(|rest| {
        let number = rest.strip_prefix('.');
        rest.is_empty() || number.is_some_and(|digits| digits.chars().all(|digit| digit.is_ascii_digit()))
    })
}

fn unused_name(table: &Table, wanted: &str) -> String {
    let taken = |name: &str| table.get("flow").and_then(|flows| flows.get(name)).is_some();
    let mut name = wanted.to_owned();
    while taken(&name) {
        name.push('-');
    }
    name
}

fn flow(table: &Table, name: &str) -> Table {
    let found = table.get("flow").and_then(|flows| flows.get(name)).and_then(Value::as_table);
    found.cloned().unwrap_or_default()
}

fn add(table: &mut Table, name: &str, flow: Table) {
    if let Some(flows) = table.get_mut("flow").and_then(Value::as_table_mut) {
        flows.insert(name.to_owned(), Value::Table(flow));
    }
}

fn quantity(number: f64, unit: &str) -> Value {
    Value::String(format!("{number:.6} {unit}"))
}

fn short_flow(mut flow: Table, path: &PathParameters) -> Table {
    let length = path.duration.as_secs() * (1.0 - BEFORE - AFTER);
    let rate = path.rate_bps as f64 / 8.0 * SHARE;
    let least = (length / MAX_SHORT_TRANSFERS).max(0.25);
    let bytes = (rate * least).clamp(SMALLEST, LARGEST);
    let apart = (bytes / rate).max(least);
    let count = (length / apart).floor().max(1.0);
    let values = [
        ("transfer", Value::String(format!("{bytes:.0} bytes"))),
        ("count", Value::Integer(count as i64)),
        ("start", quantity(path.duration.as_secs() * BEFORE, "s")),
        ("stagger", quantity(apart, "s")),
        ("start_spread", quantity(apart / 2.0, "s")),
    ];
    flow.extend(values.map(|(key, value)| (key.to_owned(), value)));
    flow
}

fn neighbour_flow(mut flow: Table, path: &PathParameters) -> Table {
    let values = [
        ("transfer", Value::String("bulk".into())),
        ("count", Value::Integer(1)),
        ("start", Value::String("0 s".into())),
        ("start_spread", quantity((path.duration.as_secs() / 20.0).min(1.0), "s")),
        ("opaque", Value::Boolean(true)),
    ];
    flow.extend(values.map(|(key, value)| (key.to_owned(), value)));
    flow
}
