//! Means over repetitions as a table and as JSON objects.

use super::classes;
use super::completion::{COMPLETED, Completion, RESTRICTED};
use super::groups::Group;
use super::measure;
use super::number::with_interval;
use crate::change::PercentChange;
use crate::compare::Quantity;
use crate::document::{Cell, Table};
use crate::repeat::{estimate, estimate_by};
use crate::stats::Estimate;
use lasthop_sim::{FLOW_METRICS, FlowMetric, Outcome};
use serde_json::{Map, Value, json};

/// Returns the notes on a scenario as JSON objects: `{"note": …}`.
pub fn notes(notes: Vec<String>) -> impl Iterator<Item = Value> {
    notes.into_iter().map(|note| json!({ "note": note }))
}

/// Returns a table with one row for each metric, including the meaning of the metric. The columns are groups of flows
/// ([`Group`]). If the outcomes have several flows, the last rows show the numbers of all flows together.
pub fn table(outcomes: &[Outcome]) -> Table {
    let rows = Rows::of(outcomes);
    Table { caption: String::new(), columns: rows.columns(true), rows: rows.all(true) }
}

/// Computes the rows of a table whose columns are groups of flows.
pub(super) struct Rows<'a> {
    outcomes: &'a [Outcome],
    pub(super) groups: Vec<Group>,
    completions: Vec<Option<Completion>>,
}

/// Row of a table: a metric, with one cell for each group of flows.
pub(super) struct Row {
    pub(super) name: &'static str,
    cells: Vec<Cell>,
    doc: &'static str,
    pub(super) is_zero: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn of(outcomes: &'a [Outcome]) -> Rows<'a> {
        let groups = outcomes.first().map(Group::of).unwrap_or_default();
        let completions = groups.iter().map(|group| group.completion(outcomes)).collect();
        Rows { outcomes, groups, completions }
    }

    pub(super) fn columns(&self, with_meaning: bool) -> Vec<String> {
        let labels = self.groups.iter().map(|group| group.label.clone());
        let meaning = with_meaning.then(|| "meaning".to_owned());
        std::iter::once("metric".to_owned()).chain(labels).chain(meaning).collect()
    }

    fn all(&self, with_meaning: bool) -> Vec<Vec<Cell>> {
        let rows = FLOW_METRICS.iter().flat_map(|metric| self.rows(metric)).chain(self.aggregates());
        rows.map(|row| row.cells(with_meaning)).collect()
    }

    /// Returns the rows of a metric. An undefined metric has no row. The completion time has several rows.
    pub(super) fn rows(&self, metric: &'static FlowMetric) -> Vec<Row> {
        let mut estimates: Vec<Option<Estimate>> =
            self.groups.iter().map(|group| group.estimate(self.outcomes, metric)).collect();
        let mut rows = Vec::new();
        match metric.name {
            COMPLETED => {
                rows.extend(completion_rows(&self.completions));
                // A mean over only the completed transfers would be biased. The mean is therefore omitted if any
                // transfer was cut off.
                for (estimate, completion) in estimates.iter_mut().zip(&self.completions) {
                    estimate.take_if(|_| completion.as_ref().is_some_and(|it| !it.is_whole()));
                }
            }
            RESTRICTED if self.completions.iter().flatten().all(Completion::is_whole) => return rows,
            _ => {}
        }
        if estimates.iter().any(Option::is_some) {
            rows.push(Row::of(metric.name, &estimates, metric.doc));
        }
        rows
    }

    /// Returns the rows of the numbers of all flows together. The list is empty if the outcomes have only one flow.
    pub(super) fn aggregates(&self) -> Vec<Row> {
        let flows: usize = self.groups.iter().map(|group| group.flows.len()).sum();
        if flows < 2 {
            return Vec::new();
        }
        AGGREGATE_METRICS.iter().map(|metric| self.aggregate(metric)).collect()
    }

    pub(super) fn aggregate(&self, (name, of, doc): &'static AggregateMetric) -> Row {
        let mut row = Row::of(name, &[estimate_by(self.outcomes, of)], doc);
        row.cells.resize(self.groups.len(), Cell::Text(String::new()));
        row
    }
}

impl Row {
    fn of(name: &'static str, estimates: &[Option<Estimate>], doc: &'static str) -> Row {
        let is_zero = estimates.iter().flatten().all(|estimate| estimate.mean == 0.0);
        Row { name, cells: estimates.iter().map(cell).collect(), doc, is_zero }
    }

    pub(super) fn cells(self, with_meaning: bool) -> Vec<Cell> {
        let meaning = with_meaning.then(|| word(self.doc));
        std::iter::once(word(self.name)).chain(self.cells).chain(meaning).collect()
    }
}

fn completion_rows(completions: &[Option<Completion>]) -> Vec<Row> {
    let Some(any) = completions.iter().flatten().next() else { return Vec::new() };
    let row = |name: &'static str, doc: &'static str, of: &dyn Fn(&Completion) -> String| {
        let cells = completions.iter().map(|it| it.as_ref().map_or(Cell::Empty, |it| Cell::Number(of(it))));
        Row { name, cells: cells.collect(), doc, is_zero: false }
    };
    let mut rows = vec![row(
        "completed",
        "finite transfers that completed before the run's end, out of all finite transfers",
        &Completion::count,
    )];
    for (at, (name, _)) in any.rows().iter().enumerate() {
        rows.push(row(name, Completion::ROWS[at].1, &|it| it.rows()[at].1.clone()));
    }
    rows
}

/// Returns one JSON object for each flow, and one for each class with several flows. If the outcomes have several
/// flows, the last object covers all flows together, and its `flow` is null. The objects hold the `chosen` metrics, or
/// all metrics if `chosen` is empty. The iterator is lazy because the objects need much memory.
pub fn objects(outcomes: &[Outcome], chosen: &[Quantity]) -> impl Iterator<Item = Value> {
    let flows = outcomes.first().map_or(0, |first| first.flows.len());
    let together = (flows > 1).then_some(flows).into_iter();
    (0..flows)
        .map(|index| of_one(outcomes, index, chosen))
        .chain(classes::objects(outcomes, chosen, false))
        .chain(together.map(|flows| of_all(outcomes, flows, chosen)))
}

/// Returns one JSON object for each class. If the outcomes have several flows, the last object covers all flows
/// together.
pub fn class_objects(outcomes: &[Outcome], chosen: &[Quantity]) -> impl Iterator<Item = Value> {
    let flows = outcomes.first().map_or(0, |first| first.flows.len());
    let together = (flows > 1).then(|| of_all(outcomes, flows, chosen));
    classes::objects(outcomes, chosen, true).into_iter().chain(together)
}

fn is_chosen(name: &str, chosen: &[Quantity]) -> bool {
    chosen.is_empty() || chosen.iter().any(|quantity| quantity.name() == name)
}

fn of_one(outcomes: &[Outcome], index: usize, chosen: &[Quantity]) -> Value {
    let mut object = Map::new();
    object.insert("flow".into(), json!(outcomes[0].flows[index].name));
    for metric in FLOW_METRICS.iter().filter(|metric| is_chosen(metric.name, chosen)) {
        let shown = estimate(outcomes, index, metric).map_or(Value::Null, |e| value(&e));
        let shown = match metric.name {
            COMPLETED => completed_value(shown, Completion::of_flow(outcomes, index)),
            _ => shown,
        };
        object.insert(metric.name.into(), shown);
    }
    Value::Object(object)
}

fn of_all(outcomes: &[Outcome], flows: usize, chosen: &[Quantity]) -> Value {
    let mut object = Map::new();
    object.insert("flow".into(), Value::Null);
    object.insert("flows".into(), json!(flows));
    for (name, of, _) in AGGREGATE_METRICS.iter().filter(|(name, ..)| is_chosen(name, chosen)) {
        object.insert((*name).into(), estimate_by(outcomes, of).map_or(Value::Null, |e| value(&e)));
    }
    // Completion times are the only metrics of flows in this object by default. The user may choose different metrics.
    let of_flows = FLOW_METRICS.iter().filter(|metric| match chosen {
        [] => [COMPLETED, RESTRICTED].contains(&metric.name),
        _ => is_chosen(metric.name, chosen),
    });
    for metric in of_flows {
        let mean = |outcome: &Outcome| measure::mean_of_flows(outcome, metric);
        let shown = estimate_by(outcomes, mean).map_or(Value::Null, |e| value(&e));
        let shown = match metric.name {
            COMPLETED => completed_value(shown, Completion::of_all(outcomes)),
            _ => shown,
        };
        object.insert(metric.name.into(), shown);
    }
    Value::Object(object)
}

/// Returns the JSON of a mean completion time, with counts and quantiles. The mean is null if any transfer was cut off.
pub fn completed_value(mean: Value, completion: Option<Completion>) -> Value {
    let Some(completion) = completion else { return mean };
    let mut object = match mean {
        Value::Object(object) if completion.is_whole() => object,
        _ => [("mean".to_owned(), Value::Null), ("ci95".to_owned(), Value::Null)].into_iter().collect(),
    };
    completion.extend(&mut object);
    Value::Object(object)
}

/// Returns a JSON object with the fields `mean`, `ci95` and `runs`. `ci95` is null if the estimate has no interval.
pub fn value(estimate: &Estimate) -> Value {
    json!({ "mean": estimate.mean, "ci95": estimate.ci95, "runs": estimate.runs })
}

/// Returns a JSON object of a change, %, with the fields `mean`, `ci95` and `runs`. `ci95` is null if the interval has
/// no bound, or if only one pair of repetitions exists.
pub fn change_value(change: &PercentChange) -> Value {
    json!({ "mean": change.percent, "ci95": change.ci95, "runs": change.runs })
}

/// A number of all flows together: name with unit suffix, function, and description.
pub type AggregateMetric = (&'static str, fn(&Outcome) -> Option<f64>, &'static str);

/// Numbers of all flows together.
pub const AGGREGATE_METRICS: [AggregateMetric; 2] = [
    (
        "total_goodput_kbps",
        measure::total_goodput_kbps,
        "payload delivered by all flows, divided by the run's duration, kbit/s",
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
