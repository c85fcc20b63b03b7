//! Output of a comparison as a table and as JSON objects.

use super::{Comparison, Quantity};
use crate::document::{Cell, Table};
use crate::runs::classes::{Class, class_of, is_named};
use crate::runs::completion::{COMPLETED, RESTRICTED};
use crate::runs::number::{self, signed, with_interval};
use crate::runs::summary::{self, AGGREGATE_METRICS};
use crate::runs::{glance, measure};
use lasthop_sim::{FLOW_METRICS, Outcome};
use serde_json::{Map, Value, json};

/// Largest number of flows for which a table has a row for each flow. With more flows, the table has a row for each
/// class. A class contains all replicas of a flow.
const MAX_FLOWS: usize = 4;
/// Largest number of classes for which a table has a row for each class. With more classes, the table has only means
/// over all flows.
const MAX_CLASSES: usize = 8;

/// Subject of table rows: a metric, and the flow, class or set of all flows to which the metric belongs.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    quantity: Quantity,
    pub(super) flow: Option<&'a str>,
}

impl Subject<'_> {
    fn of(&self, outcome: &Outcome) -> Option<f64> {
        match self.flow {
            Some(flow) => self.quantity.of_flow(outcome, flow),
            None => self.quantity.of_all(outcome),
        }
    }

    fn flow_label(&self) -> &str {
        match (self.flow, self.quantity) {
            (Some(flow), _) => flow,
            (None, Quantity::OfFlow(_)) => "mean",
            (None, Quantity::Aggregate(_)) => "all",
        }
    }
}

impl Comparison {
    /// Returns a table with one row for each metric and case. The user may choose the metrics. The default table shows
    /// the goodput of each flow and the metrics of all flows together, such as fairness. For every other metric that
    /// differs between cases, the default table shows the mean over the flows.
    pub fn table(&self) -> Table {
        self.table_of(&self.subjects())
    }

    /// Returns a shorter table than [`Comparison::table`]. If the user has not chosen metrics, the table is limited to
    /// the most important metrics. Also returns the number of omitted metrics.
    pub fn glance(&self) -> (Table, usize) {
        let mut subjects = self.subjects();
        if !self.chosen.is_empty() {
            return (self.table_of(&subjects), 0);
        }
        let all = subjects.len();
        let is_first = |subject: &Subject<'_>| match subject.quantity {
            Quantity::OfFlow(metric) => glance::METRICS.contains(&metric.name),
            Quantity::Aggregate(_) => true,
        };
        subjects.retain(is_first);
        let more = all - subjects.len();
        (self.table_of(&subjects), more)
    }

    fn table_of(&self, subjects: &[Subject<'_>]) -> Table {
        let mut columns = vec!["metric".to_owned()];
        columns.extend(self.has_several_flows().then(|| "flow".to_owned()));
        columns.extend(self.paths.iter().cloned());
        columns.extend(["mean", "difference", "difference, %"].map(String::from));
        let mut rows = Vec::new();
        for subject in subjects {
            let is_completion = subject.quantity.name() == COMPLETED;
            if is_completion {
                rows.extend(self.completion_rows(subject));
            }
            // A mean over only the completed transfers would be biased. The mean is therefore shown only if all
            // transfers completed.
            let is_shown =
                !is_completion || (self.is_whole() && self.differs(&|outcome| subject.of(outcome)));
            if is_shown {
                rows.extend((0..self.cases.len()).map(|case| self.row(subject, case)));
            }
        }
        Table { caption: String::new(), columns, rows }
    }

    fn subjects(&self) -> Vec<Subject<'_>> {
        if let Some(flow) = self.only.as_deref() {
            return self.subjects_of(flow);
        }
        let several = self.has_several_flows();
        let names = if several { self.flow_names() } else { Vec::new() };
        let each = |quantity: Quantity| {
            let shown = if let Quantity::OfFlow(_) = quantity { &names[..] } else { &[] };
            shown.iter().map(move |flow| Subject { quantity, flow: Some(*flow) }).collect::<Vec<Subject>>()
        };
        let all = |quantity: Quantity| Subject { quantity, flow: None };
        if !self.chosen.is_empty() {
            return self.chosen.iter().flat_map(|it| each(*it).into_iter().chain([all(*it)])).collect();
        }
        let goodput = Quantity::OfFlow(&FLOW_METRICS[0]);
        let mut subjects = each(goodput);
        if subjects.is_empty() {
            subjects.push(all(goodput));
        }
        if several {
            subjects.extend(AGGREGATE_METRICS.iter().map(|together| all(Quantity::Aggregate(together))));
        }
        let others = FLOW_METRICS.iter().skip(1).map(|metric| all(Quantity::OfFlow(metric)));
        subjects.extend(others.filter(|subject| match subject.quantity.name() {
            COMPLETED => true,
            RESTRICTED if self.is_whole() => false,
            _ => self.differs(&|outcome| subject.of(outcome)),
        }));
        subjects
    }

    /// Returns the table rows of a flow or class: the metrics that the user has chosen. The defaults are goodput and
    /// every metric that differs between cases.
    fn subjects_of<'a>(&'a self, flow: &'a str) -> Vec<Subject<'a>> {
        let of = |quantity: Quantity| Subject { quantity, flow: Some(flow) };
        if !self.chosen.is_empty() {
            return self.chosen.iter().map(|quantity| of(*quantity)).collect();
        }
        let goodput = of(Quantity::OfFlow(&FLOW_METRICS[0]));
        let others = FLOW_METRICS.iter().skip(1).map(|metric| of(Quantity::OfFlow(metric)));
        let others = others.filter(|subject| match subject.quantity.name() {
            COMPLETED => true,
            RESTRICTED if self.is_whole() => false,
            _ => self.differs(&|outcome| subject.of(outcome)),
        });
        [goodput].into_iter().chain(others).collect()
    }

    /// Returns the names of the flows of all cases, in the order of the cases. If the number of flows exceeds
    /// `MAX_FLOWS`, returns the names of the classes instead. If only one class or more than `MAX_CLASSES` classes
    /// exist, returns an empty list.
    fn flow_names(&self) -> Vec<&str> {
        let flows = || self.cases.iter().flat_map(|case| &case.scenario.flows).map(|flow| flow.name.as_str());
        let names = distinct(flows(), MAX_FLOWS);
        if names.len() <= MAX_FLOWS {
            return names;
        }
        let classes = distinct(flows().map(class_of), MAX_CLASSES);
        if (2..=MAX_CLASSES).contains(&classes.len()) { classes } else { Vec::new() }
    }

    fn row(&self, subject: &Subject<'_>, case: usize) -> Vec<Cell> {
        let compared = self.compared(case, subject.quantity, subject.flow, &|outcome| subject.of(outcome));
        let shown = [
            compared.mean.as_ref().map(with_interval),
            compared.difference.as_ref().map(signed),
            compared.percent.as_ref().map(number::change),
        ];
        self.cells(subject.quantity.name(), subject, case, shown)
    }

    /// Returns the cells of a row: name of the metric, label of the flow, values of the varied keys, and three numbers.
    pub(super) fn cells(
        &self,
        name: &str,
        subject: &Subject<'_>,
        case: usize,
        shown: [Option<String>; 3],
    ) -> Vec<Cell> {
        let mut row = vec![Cell::Text(name.to_owned())];
        row.extend(self.has_several_flows().then(|| Cell::Text(subject.flow_label().to_owned())));
        row.extend(self.cases[case].values.iter().map(|value| Cell::Text(value.clone())));
        row.extend(shown.into_iter().map(|text| text.map_or(Cell::Empty, Cell::Number)));
        row
    }

    /// Returns the JSON objects of each case: one object for each flow, one for each class with several flows
    /// (`class`), and one for all flows together if the case has several flows (`flow` is null). The last objects are
    /// the notes on the scenarios.
    pub fn objects(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        for (case, outcomes) in self.outcomes.iter().enumerate() {
            let Some(first) = outcomes.first() else { continue };
            let is_wanted = |name: &str| self.only.as_deref().is_none_or(|only| is_named(name, only));
            let flows = first.flows.iter().filter(|flow| is_wanted(&flow.name));
            objects.extend(flows.map(|flow| self.object(case, "flow", Some(&flow.name))));
            let classes = Class::all(first).into_iter();
            let classes = classes.filter(|class| class.flows.len() > 1 && is_wanted(&class.name));
            objects.extend(classes.map(|class| self.object(case, "class", Some(&class.name))));
            if first.flows.len() > 1 && self.only.is_none() {
                objects.push(self.object(case, "flow", None));
            }
        }
        objects.extend(summary::notes(self.scenario_notes()));
        objects
    }

    /// Returns the notes on the scenarios of all cases, without duplicates.
    pub fn scenario_notes(&self) -> Vec<String> {
        lasthop_scenario::notes_of_all(self.cases.iter().map(|case| &case.scenario))
    }

    /// Returns the values of the varied keys in the case's baseline. Returns null if the case is its own baseline.
    fn against(&self, case: usize) -> Value {
        match self.baseline().base(case) {
            base if base == case => Value::Null,
            base => self.x(base),
        }
    }

    fn x(&self, case: usize) -> Value {
        let values = self.paths.iter().cloned().zip(self.cases[case].values.iter().map(|value| json!(value)));
        Value::Object(values.collect())
    }

    fn object(&self, case: usize, kind: &str, flow: Option<&str>) -> Value {
        let mut object = Map::new();
        object.insert("x".into(), self.x(case));
        object.insert("against".into(), self.against(case));
        object.insert(kind.into(), json!(flow));
        let is_wanted = |quantity: &Quantity| {
            let is_chosen = self.chosen.iter().any(|chosen| chosen.name() == quantity.name());
            self.chosen.is_empty() || is_chosen
        };
        for quantity in Quantity::all().filter(is_wanted) {
            if matches!(quantity, Quantity::Aggregate(_)) && flow.is_some() && kind == "flow" {
                continue;
            }
            let of = |outcome: &Outcome| match (quantity, flow) {
                (Quantity::OfFlow(metric), None) => measure::of_all_flows(outcome, metric),
                (Quantity::Aggregate((_, of, _)), None) => of(outcome),
                (_, Some(flow)) => quantity.of_flow(outcome, flow),
            };
            let compared = self.compared(case, quantity, flow, &of).value();
            let shown = match quantity.name() {
                COMPLETED => summary::completed_value(compared, self.completion(case, flow)),
                _ => compared,
            };
            object.insert(quantity.name().into(), shown);
        }
        Value::Object(object)
    }
}

/// Returns the names without duplicates, in order. Returns at most `most` + 1 names.
fn distinct<'n>(all: impl Iterator<Item = &'n str>, most: usize) -> Vec<&'n str> {
    let mut names: Vec<&str> = Vec::new();
    for name in all {
        if names.len() <= most && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
