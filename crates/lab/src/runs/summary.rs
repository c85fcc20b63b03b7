//! Means over repetitions: a table for people, an object a line for programs.

use super::completion::{COMPLETED, Completion, RESTRICTED};
use super::measure;
use super::number::with_interval;
use crate::change::Change;
use crate::document::{Cell, Table};
use crate::repeat::{estimate, estimate_by};
use crate::stats::Estimate;
use lasthop_sim::{METRICS, Metric, Outcome};
use serde_json::{Map, Value, json};

/// With more flows than this a table shows their mean instead of each.
const MOST_COLUMNS: usize = 4;

/// Notes on a scenario, an object a line: `{"note": …}`.
pub fn notes(notes: Vec<String>) -> impl Iterator<Item = Value> {
    notes.into_iter().map(|note| json!({ "note": note }))
}

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
    let completions: Vec<Option<Completion>> = match each {
        true => (0..names.len()).map(|flow| Completion::of_flow(outcomes, flow)).collect(),
        false => vec![Completion::of_all(outcomes)],
    };
    let is_whole = completions.iter().flatten().all(Completion::is_whole);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for metric in METRICS {
        let mut estimates = of_flows(metric);
        match metric.name {
            COMPLETED => {
                rows.extend(completion_rows(&completions));
                // A mean of those that finished would not be one of the transfers.
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

/// How many transfers were complete, and the quantiles of their times.
fn completion_rows(completions: &[Option<Completion>]) -> Vec<Vec<Cell>> {
    let Some(any) = completions.iter().flatten().next() else { return Vec::new() };
    let row = |name: &str, doc: &str, of: &dyn Fn(&Completion) -> String| {
        let cells = completions.iter().map(|it| it.as_ref().map_or(Cell::Empty, |it| Cell::Number(of(it))));
        std::iter::once(word(name)).chain(cells).chain([word(doc)]).collect()
    };
    let mut rows =
        vec![row("completed", "finite transfers complete by the run's end, of all", &Completion::count)];
    for (at, (name, _)) in any.rows().iter().enumerate() {
        rows.push(row(name, Completion::ROWS[at].1, &|it| it.rows()[at].1.clone()));
    }
    rows
}

/// An object for each flow; if there are several, a last one for all of them, whose `flow` is null. One after the other:
/// of very many flows they take much more room than the outcomes.
pub fn objects(outcomes: &[Outcome]) -> impl Iterator<Item = Value> {
    let flows = outcomes.first().map_or(0, |first| first.flows.len());
    let together = (flows > 1).then_some(flows).into_iter();
    (0..flows).map(|index| of_one(outcomes, index)).chain(together.map(|flows| of_all(outcomes, flows)))
}

/// A flow's, by its place.
fn of_one(outcomes: &[Outcome], index: usize) -> Value {
    let mut object = Map::new();
    object.insert("flow".into(), json!(outcomes[0].flows[index].name));
    for metric in METRICS {
        let shown = estimate(outcomes, index, metric).map_or(Value::Null, |e| value(&e));
        let shown = match metric.name {
            COMPLETED => completed_value(shown, Completion::of_flow(outcomes, index)),
            _ => shown,
        };
        object.insert(metric.name.into(), shown);
    }
    Value::Object(object)
}

/// What so many flows have together.
fn of_all(outcomes: &[Outcome], flows: usize) -> Value {
    let mut object = Map::new();
    object.insert("flow".into(), Value::Null);
    object.insert("flows".into(), json!(flows));
    for (name, of, _) in TOGETHER {
        object.insert(name.into(), estimate_by(outcomes, of).map_or(Value::Null, |e| value(&e)));
    }
    for name in [COMPLETED, RESTRICTED] {
        let metric = METRICS.iter().find(|metric| metric.name == name);
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

/// A mean of completion times with what is known of all transfers; of some that were cut off there is no mean.
pub fn completed_value(mean: Value, completion: Option<Completion>) -> Value {
    let Some(completion) = completion else { return mean };
    let mut object = match mean {
        Value::Object(object) if completion.is_whole() => object,
        _ => [("mean".to_owned(), Value::Null), ("ci95".to_owned(), Value::Null)].into_iter().collect(),
    };
    completion.extend(&mut object);
    Value::Object(object)
}

/// `{"mean", "ci95", "runs"}`; without an interval `ci95` is null.
pub fn value(estimate: &Estimate) -> Value {
    json!({ "mean": estimate.mean, "ci95": estimate.ci95, "runs": estimate.runs })
}

/// `{"mean", "ci95", "runs"}` of a change, %; `ci95` is null where it has no bound, and of one pair.
pub fn change_value(change: &Change) -> Value {
    json!({ "mean": change.percent, "ci95": change.ci95, "runs": change.runs })
}

/// A number that several flows have together: its name with the unit, how it is had, what it is.
pub type Together = (&'static str, fn(&Outcome) -> Option<f64>, &'static str);

/// What several flows have together.
pub const TOGETHER: [Together; 2] = [
    (
        "total_goodput_kbps",
        measure::total_goodput_kbps,
        "payload delivered by all flows over the run's time, kbit/s",
    ),
    (
        "fairness",
        measure::fairness,
        "Jain's index over TCP flows alive together: what each got of an equal part",
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
