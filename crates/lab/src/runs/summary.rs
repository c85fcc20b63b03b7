//! Means over repetitions as a table and as JSON objects.

use super::completion::{COMPLETED, Completion, RESTRICTED};
use super::measure;
use super::number::with_interval;
use crate::change::PercentChange;
use crate::document::{Cell, Table};
use crate::repeat::{estimate, estimate_by};
use crate::stats::Estimate;
use lasthop_sim::{FLOW_METRICS, FlowMetric, Outcome};
use serde_json::{Map, Value, json};

/// Largest number of flows with a column each. With more flows, a table shows only their mean.
const MOST_COLUMNS: usize = 4;

/// Notes on a scenario as JSON objects: `{"note": …}`.
pub fn notes(notes: Vec<String>) -> impl Iterator<Item = Value> {
    notes.into_iter().map(|note| json!({ "note": note }))
}

/// Table with metrics as rows and flows as columns. If there are several flows, numbers of all flows together follow
/// below.
pub fn table(outcomes: &[Outcome]) -> Table {
    let names: Vec<&str> = outcomes
        .first()
        .map(|first| first.flows.iter().map(|flow| flow.name.as_str()).collect())
        .unwrap_or_default();
    let each = names.len() <= MOST_COLUMNS;
    let of_flows = |metric: &FlowMetric| -> Vec<Option<Estimate>> {
        if each {
            (0..names.len()).map(|flow| estimate(outcomes, flow, metric)).collect()
        } else {
            vec![estimate_by(outcomes, |outcome| measure::mean_of_flows(outcome, metric))]
        }
    };
    let mut columns = vec!["metric".to_owned()];
    if each {
        columns.extend(names.iter().map(|name| (*name).to_owned()))
    } else {
        columns.push(format!("mean of {} flows", names.len()))
    }
    columns.push("meaning".to_owned());
    let width = columns.len();
    let completions: Vec<Option<Completion>> = if each {
        (0..names.len()).map(|flow| Completion::of_flow(outcomes, flow)).collect()
    } else {
        vec![Completion::of_all(outcomes)]
    };
    let is_whole = completions.iter().flatten().all(Completion::is_whole);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for metric in FLOW_METRICS {
        let mut estimates = of_flows(metric);
        match metric.name {
            COMPLETED => {
                rows.extend(completion_rows(&completions));
                // A mean over completed transfers only would be biased. The mean is left out if transfers were cut off.
                for (estimate, completion) in estimates.iter_mut().zip(&completions) {
                    estimate.take_if(|_| completion.as_ref().is_some_and(|it| !it.is_whole()));
                }
            }
            RESTRICTED if is_whole => continue,
            _ => {}
        }
        if estimates.iter().any(Option::is_some) {
            let cells = estimates.iter().map(cell);
            rows.push(std::iter::once(word(metric.name)).chain(cells).chain([word(metric.doc)]).collect());
        }
    }
    if names.len() > 1 {
        for (name, of, doc) in AGGREGATE_METRICS {
            let mut row = vec![Cell::Text(String::new()); width];
            row[0] = word(name);
            row[1] = cell(&estimate_by(outcomes, of));
            row[width - 1] = word(doc);
            rows.push(row);
        }
    }
    Table { caption: String::new(), columns, rows }
}

fn completion_rows(completions: &[Option<Completion>]) -> Vec<Vec<Cell>> {
    let Some(any) = completions.iter().flatten().next() else { return Vec::new() };
    let row = |name: &str, doc: &str, of: &dyn Fn(&Completion) -> String| {
        let cells = completions.iter().map(|it| it.as_ref().map_or(Cell::Empty, |it| Cell::Number(of(it))));
        std::iter::once(word(name)).chain(cells).chain([word(doc)]).collect()
    };
    let mut rows = vec![row(
        "completed",
        "finite transfers completed by the run's end, of all finite transfers",
        &Completion::count,
    )];
    for (at, (name, _)) in any.rows().iter().enumerate() {
        rows.push(row(name, Completion::ROWS[at].1, &|it| it.rows()[at].1.clone()));
    }
    rows
}

/// One JSON object for each flow, and one for all flows together if there are several (`flow` is null). The iterator is
/// lazy, because the objects need much memory.
pub fn objects(outcomes: &[Outcome]) -> impl Iterator<Item = Value> {
    let flows = outcomes.first().map_or(0, |first| first.flows.len());
    let together = (flows > 1).then_some(flows).into_iter();
    (0..flows).map(|index| of_one(outcomes, index)).chain(together.map(|flows| of_all(outcomes, flows)))
}

fn of_one(outcomes: &[Outcome], index: usize) -> Value {
    let mut object = Map::new();
    object.insert("flow".into(), json!(outcomes[0].flows[index].name));
    for metric in FLOW_METRICS {
        let shown = estimate(outcomes, index, metric).map_or(Value::Null, |e| value(&e));
        let shown = match metric.name {
            COMPLETED => completed_value(shown, Completion::of_flow(outcomes, index)),
            _ => shown,
        };
        object.insert(metric.name.into(), shown);
    }
    Value::Object(object)
}

fn of_all(outcomes: &[Outcome], flows: usize) -> Value {
    let mut object = Map::new();
    object.insert("flow".into(), Value::Null);
    object.insert("flows".into(), json!(flows));
    for (name, of, _) in AGGREGATE_METRICS {
        object.insert(name.into(), estimate_by(outcomes, of).map_or(Value::Null, |e| value(&e)));
    }
    for name in [COMPLETED, RESTRICTED] {
        let metric = FLOW_METRICS.iter().find(|metric| metric.name == name);
        let mean = |outcome: &Outcome| measure::mean_of_flows(outcome, metric?);
        let shown = estimate_by(outcomes, mean).map_or(Value::Null, |e| value(&e));
        let shown = match name {
            COMPLETED => completed_value(shown, Completion::of_all(outcomes)),
            _ => shown,
        };
        object.insert(name.into(), shown);
    }
    Value::Object(object)
}

/// JSON of a mean completion time, with counts and quantiles. The mean is null if transfers were cut off.
pub fn completed_value(mean: Value, completion: Option<Completion>) -> Value {
    let Some(completion) = completion else { return mean };
    let mut object = match mean {
        Value::Object(object) if completion.is_whole() => object,
        _ => [("mean".to_owned(), Value::Null), ("ci95".to_owned(), Value::Null)].into_iter().collect(),
    };
    completion.extend(&mut object);
    Value::Object(object)
}

/// JSON object with the fields `mean`, `ci95` and `runs`; `ci95` is null without an interval.
pub fn value(estimate: &Estimate) -> Value {
    json!({ "mean": estimate.mean, "ci95": estimate.ci95, "runs": estimate.runs })
}

/// JSON object of a change, %, with the fields `mean`, `ci95` and `runs`. `ci95` is null if the interval has no bound
/// or there is only one pair.
pub fn change_value(change: &PercentChange) -> Value {
    json!({ "mean": change.percent, "ci95": change.ci95, "runs": change.runs })
}

/// A number of all flows together: name with unit, function, description.
pub type AggregateMetric = (&'static str, fn(&Outcome) -> Option<f64>, &'static str);

/// Numbers of all flows together.
pub const AGGREGATE_METRICS: [AggregateMetric; 2] = [
    (
        "total_goodput_kbps",
        measure::total_goodput_kbps,
        "payload delivered by all flows over the run's time, kbit/s",
    ),
    (
        "fairness",
        measure::fairness,
        "Jain's fairness index of TCP flows with overlapping lifetimes (1: equal shares)",
    ),
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
