//! Means over repetitions: a table for people, an object a line for programs.

use super::measure;
use super::number::with_interval;
use crate::change::Change;
use crate::document::{Cell, Table};
use crate::repeat::{estimate, estimate_by};
use crate::stats::Estimate;
use lasthop_sim::{METRICS, Metric, Outcome, RLC_METRICS, RlcCounters};
use serde_json::{Map, Value, json};

/// With more flows than this a table shows their mean instead of each.
const MOST_COLUMNS: usize = 4;

/// Metrics as rows, flows as columns; the totals of several flows below.
pub fn table(outcomes: &[Outcome]) -> Table {
    let names: Vec<&str> = outcomes
        .first()
        .map(|first| first.flows.iter().map(|flow| flow.name.as_str()).collect())
        .unwrap_or_default();
    let each = names.len() <= MOST_COLUMNS;
    let of_flows = |metric: &Metric| -> Vec<Option<Estimate>> {
        match each {
            true => (0..names.len()).map(|flow| estimate(outcomes, flow, metric)).collect(),
            false => vec![estimate_by(outcomes, |outcome| measure::mean_of_flows(outcome, metric))],
        }
    };
    let mut columns = vec!["metric".to_owned()];
    match each {
        true => columns.extend(names.iter().map(|name| (*name).to_owned())),
        false => columns.push(format!("mean of {} flows", names.len())),
    }
    columns.push("what it is".to_owned());
    let width = columns.len();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for metric in METRICS {
        let estimates = of_flows(metric);
        if estimates.iter().any(Option::is_some) {
            let cells = estimates.iter().map(cell);
            rows.push(std::iter::once(word(metric.name)).chain(cells).chain([word(metric.doc)]).collect());
        }
    }
    if names.len() > 1 {
        for (name, of, doc) in TOGETHER {
            let mut row = vec![Cell::Text(String::new()); width];
            row[0] = word(name);
            row[1] = cell(&estimate_by(outcomes, of));
            row[width - 1] = word(doc);
            rows.push(row);
        }
    }
    Table { caption: String::new(), columns, rows }
}

/// What RLC counted: metrics as rows, directions of links as columns; `None` where no link has RLC.
pub fn rlc_table(outcomes: &[Outcome]) -> Option<Table> {
    let directions = rlc_directions(outcomes.first()?);
    let names = directions.iter().map(|direction| direction.name.clone());
    let columns: Vec<String> =
        std::iter::once("metric".to_owned()).chain(names).chain(["what it is".to_owned()]).collect();
    let mut rows = Vec::new();
    for metric in RLC_METRICS {
        let estimates: Vec<Option<Estimate>> =
            directions.iter().map(|direction| direction.estimate(outcomes, metric.of)).collect();
        if estimates.iter().any(Option::is_some) {
            let cells = estimates.iter().map(cell);
            rows.push(std::iter::once(word(metric.name)).chain(cells).chain([word(metric.doc)]).collect());
        }
    }
    (!directions.is_empty()).then(|| Table { caption: "Links with RLC".into(), columns, rows })
}

/// An object for each direction of a link with RLC, named `wireless.down` under `link`.
pub fn rlc_objects(outcomes: &[Outcome]) -> Vec<Value> {
    let Some(first) = outcomes.first() else { return Vec::new() };
    let object = |direction: &RlcDirection| {
        let mut object = Map::new();
        object.insert("link".into(), json!(direction.name));
        for metric in RLC_METRICS {
            let estimate = direction.estimate(outcomes, metric.of);
            object.insert(metric.name.into(), estimate.map_or(Value::Null, |e| value(&e)));
        }
        Value::Object(object)
    };
    rlc_directions(first).iter().map(object).collect()
}

/// One direction of a link, by its places in an outcome.
struct RlcDirection {
    name: String,
    link: usize,
    side: usize,
}

impl RlcDirection {
    fn estimate(&self, outcomes: &[Outcome], of: fn(&RlcCounters) -> Option<f64>) -> Option<Estimate> {
        estimate_by(outcomes, |outcome| outcome.links.get(self.link)?.rlc[self.side].as_ref().and_then(of))
    }
}

fn rlc_directions(outcome: &Outcome) -> Vec<RlcDirection> {
    let mut directions = Vec::new();
    for (link, one) in outcome.links.iter().enumerate() {
        for (side, name) in
            ["down", "up"].into_iter().enumerate().filter(|(side, _)| one.rlc[*side].is_some())
        {
            directions.push(RlcDirection { name: format!("{}.{name}", one.name), link, side });
        }
    }
    directions
}

/// An object for each flow; if there are several, a last one for all of them, whose `flow` is null.
pub fn objects(outcomes: &[Outcome]) -> Vec<Value> {
    let Some(first) = outcomes.first() else { return Vec::new() };
    let mut objects: Vec<Value> = Vec::new();
    for (index, flow) in first.flows.iter().enumerate() {
        let mut object = Map::new();
        object.insert("flow".into(), json!(flow.name));
        for metric in METRICS {
            object.insert(
                metric.name.into(),
                estimate(outcomes, index, metric).map_or(Value::Null, |e| value(&e)),
            );
        }
        objects.push(Value::Object(object));
    }
    if first.flows.len() > 1 {
        let mut object = Map::new();
        object.insert("flow".into(), Value::Null);
        object.insert("flows".into(), json!(first.flows.len()));
        for (name, of, _) in TOGETHER {
            object.insert(name.into(), estimate_by(outcomes, of).map_or(Value::Null, |e| value(&e)));
        }
        objects.push(Value::Object(object));
    }
    objects
}

/// `{"mean", "ci95", "runs"}`; without an interval `ci95` is null.
pub fn value(estimate: &Estimate) -> Value {
    let finite = estimate.ci95.iter().all(|end| end.is_finite());
    json!({ "mean": estimate.mean, "ci95": finite.then_some(estimate.ci95), "runs": estimate.runs })
}

/// `{"mean", "ci95", "runs"}` of a change, %; `ci95` is null where it has no bound, and of one pair.
pub fn change_value(change: &Change) -> Value {
    json!({ "mean": change.percent, "ci95": change.ci95, "runs": change.runs })
}

type Together = (&'static str, fn(&Outcome) -> Option<f64>, &'static str);

/// What several flows have together.
const TOGETHER: [Together; 2] = [
    ("total_goodput_kbps", measure::total_goodput_kbps, "all flows together, kbit/s"),
    ("fairness", measure::fairness, "Jain's index of the flows' goodputs"),
];

fn cell(estimate: &Option<Estimate>) -> Cell {
    match estimate {
        Some(estimate) => Cell::Number(with_interval(estimate)),
        None => Cell::Empty,
    }
}

fn word(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}
