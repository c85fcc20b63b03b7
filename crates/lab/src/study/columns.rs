//! Values of the names in formulas. A name denotes a column of flows or links, or an axis of the grid.

use super::expression::{Expression, NameRef, Scope};
use super::file::Ordered;
use super::value::{Coordinates, Texts};
use lasthop_scenario::{Scenario, hint};
use lasthop_sim::{FLOW_METRICS, FlowMetric, FlowOutcome, LINK_METRICS, Outcome, RLC_METRICS};

/// Columns of flows that formulas of studies may use, in addition to the columns of `lasthop run`.
pub const COUNTS: &[FlowMetric] = &[
    FlowMetric {
        name: "segments_received",
        doc: "data segments that reached the receiver, copies included",
        of: |flow| Some(flow.destination.data_received as f64),
    },
    FlowMetric {
        name: "acks_sent",
        doc: "ACKs sent by the receiver",
        of: |flow| Some(flow.destination.acks_sent as f64),
    },
    FlowMetric {
        name: "cwnd_bytes",
        doc: "congestion window at the end, bytes",
        of: |flow| Some(flow.cwnd_bytes as f64),
    },
    FlowMetric {
        name: "cwnd_inflated_bytes",
        doc: "congestion window inflated during recovery by the bytes that have left the network, bytes",
        of: |flow| Some(flow.inflated_bytes as f64),
    },
    FlowMetric {
        name: "wireless_judged",
        doc: "wireless losses classified by loss discrimination",
        of: |flow| Some(flow.account.accuracy.wireless as f64),
    },
    FlowMetric {
        name: "wireless_right",
        doc: "wireless losses classified as wireless",
        of: |flow| Some(flow.account.accuracy.wireless_correct as f64),
    },
    FlowMetric {
        name: "congestion_judged",
        doc: "congestion losses classified by loss discrimination",
        of: |flow| Some(flow.account.accuracy.congestion as f64),
    },
    FlowMetric {
        name: "congestion_right",
        doc: "congestion losses classified as congestion",
        of: |flow| Some(flow.account.accuracy.congestion_correct as f64),
    },
];

/// Column of links with RLC that formulas of studies may use, in addition to the columns of `lasthop run`.
const SDUS_BEHIND_A_GAP: &str = "sdus_behind_gap";

fn column(name: &str) -> Option<&'static FlowMetric> {
    FLOW_METRICS.iter().chain(COUNTS).find(|metric| metric.name == name)
}

fn of_link(outcome: &Outcome, name: &str) -> Option<f64> {
    let (coordinates, column) = name.rsplit_once('.')?;
    let (link, direction) = coordinates.rsplit_once('.')?;
    let link = outcome.links.iter().find(|one| one.name == link)?;
    let index = match direction {
        "down" => 0,
        "up" => 1,
        _ => return None,
    };
    if let Some(metric) = LINK_METRICS.iter().find(|metric| metric.name == column) {
        return (metric.of)(&link.traffic[index]);
    }
    let counters = link.rlc[index].as_ref()?;
    if column == SDUS_BEHIND_A_GAP {
        return Some(counters.behind_gap as f64);
    }
    (RLC_METRICS.iter().find(|metric| metric.name == column)?.of)(counters)
}

/// Whether a formula needs a run that measures link delays.
pub fn needs_link_delays(formula: &Expression) -> bool {
    let mut needs = false;
    formula.each_name(&mut |named| {
        if let NameRef::Column { name, .. } = named
            && let Some((_, column)) = name.rsplit_once('.')
        {
            needs |= LINK_METRICS.iter().any(|metric| metric.name == column && metric.is_delay());
        }
    });
    needs
}

/// Scope of a formula: values of names from the outcome of one run.
pub struct RunScope<'a> {
    /// Outcome of the run.
    pub outcome: &'a Outcome,
    /// Coordinates of the run in its grid.
    pub coordinates: &'a Coordinates,
    /// Groups of flows: name of each group, and patterns of flow names.
    pub groups: &'a Ordered<Texts>,
}

impl Scope for RunScope<'_> {
    fn name(&self, name: &str) -> Option<f64> {
        if let Some(metric) = column(name) {
            return match &self.outcome.flows[..] {
                [flow] => (metric.of)(flow),
                _ => None,
            };
        }
        if let Some(value) = self.coordinates.get(name) {
            return value.number();
        }
        of_link(self.outcome, name)
    }

    fn flows(&self, of: &Expression, group: Option<&str>) -> Vec<f64> {
        let flows = self.outcome.flows.iter().filter(|flow| is_member(self.groups, group, &flow.name));
        flows.filter_map(|flow| of.value(&FlowScope { run: self, flow })).collect()
    }
}

/// Whether a flow belongs to the group. If `group` is `None`, every flow belongs. The replicas of a flow with `count`
/// have the names `bulk.1`, `bulk.2` and so on; patterns may also match the name `bulk`.
pub fn is_member(groups: &Ordered<Texts>, group: Option<&str>, flow: &str) -> bool {
    let Some(group) = group else { return true };
    let whole = flow.rsplit_once('.').map_or(flow, |(name, _)| name);
    groups.get(group).is_some_and(|patterns| patterns.matches(flow) || patterns.matches(whole))
}

struct FlowScope<'a> {
    run: &'a RunScope<'a>,
    flow: &'a FlowOutcome,
}

impl Scope for FlowScope<'_> {
    fn name(&self, name: &str) -> Option<f64> {
        match column(name) {
            Some(metric) => (metric.of)(self.flow),
            None => self.run.name(name),
        }
    }

    fn flows(&self, of: &Expression, group: Option<&str>) -> Vec<f64> {
        self.run.flows(of, group)
    }
}

/// Checks the names of a formula. Returns a message and a hint for the first unknown name.
pub fn check(
    formula: &Expression,
    scenario: &Scenario,
    coordinates: &Coordinates,
    groups: &Ordered<Texts>,
) -> Result<(), (String, String)> {
    let mut wrong = None;
    formula.each_name(&mut |named| {
        if wrong.is_none() {
            wrong = match named {
                NameRef::Group(group) => unknown_group(group, groups),
                NameRef::Column { name, of_flows } => unknown_column(name, of_flows, scenario, coordinates),
            };
        }
    });
    wrong.map_or(Ok(()), Err)
}

fn unknown_group(group: &str, groups: &Ordered<Texts>) -> Option<(String, String)> {
    if groups.contains_key(group) {
        return None;
    }
    let known: Vec<&str> = groups.keys().map(String::as_str).collect();
    let help = if known.is_empty() {
        "the grid has no `groups`".to_owned()
    } else {
        format!("its groups: {}", known.join(", "))
    };
    Some((format!("`@ {group}` is not a group of flows of this grid"), help))
}

fn unknown_column(
    name: &str,
    of_flows: bool,
    scenario: &Scenario,
    coordinates: &Coordinates,
) -> Option<(String, String)> {
    if column(name).is_some() {
        let several = scenario.flows.len() > 1 && !of_flows;
        return several.then(|| {
            let count = scenario.flows.len();
            (
                format!("`{name}` is ambiguous: there are {count} flows"),
                format!("write sum({name}), mean({name}), jain({name}) …"),
            )
        });
    }
    if coordinates.contains_key(name) {
        return None;
    }
    let links = scenario
        .links
        .iter()
        .flat_map(|link| ["down", "up"].map(|direction| format!("{}.{direction}", link.name)));
    let links: Vec<String> = links.collect();
    if let Some((prefix, column)) = name.rsplit_once('.')
        && links.iter().any(|link| link == prefix)
    {
        let known = LINK_METRICS.iter().map(|metric| metric.name);
        let known: Vec<&str> =
            known.chain(RLC_METRICS.iter().map(|metric| metric.name)).chain([SDUS_BEHIND_A_GAP]).collect();
        let message = || format!("`{column}` is not a column of links");
        return (!known.contains(&column)).then(|| (message(), format!("its columns: {}", known.join(", "))));
    }
    let known: Vec<&str> = FLOW_METRICS.iter().chain(COUNTS).map(|metric| metric.name).collect();
    let help = match hint(name, known.iter().copied()) {
        Some(hint) => hint,
        None => format!("columns: {}; of links: {}.COLUMN", known.join(", "), links.join(".COLUMN, ")),
    };
    Some((format!("`{name}` is neither a column, nor an axis of this grid"), help))
}
