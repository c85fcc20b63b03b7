//! Classes of flows. A class contains the replicas `NAME.1`, `NAME.2` … of the flow `NAME`, or a single flow without
//! replicas.

use super::completion::Completion;
use super::csv;
use super::measure;
use super::number::with_interval;
use super::summary::{self, AGGREGATE_METRICS};
use crate::compare::Quantity;
use crate::document::{Cell, Table};
use crate::repeat::estimate_by;
use lasthop_sim::{FLOW_METRICS, FlowMetric, FlowOutcome, Outcome};
use serde_json::{Map, Value, json};

/// Metrics that are the columns of a table of classes by default.
const COLUMNS: [&str; 5] =
    ["total_goodput_kbps", "goodput_kbps", "fairness", "mean_rtt_ms", "retransmissions"];

/// A class of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Name of the flow in the scenario, without the number of a replica.
    pub name: String,
    /// Indices of the flows in the outcome.
    pub flows: Vec<usize>,
}

/// Returns the name of a flow's class: the flow's name without the number of the replica (`web.3` becomes `web`). Only
/// replicas have a dot in the name.
pub fn class_of(flow: &str) -> &str {
    match flow.rsplit_once('.') {
        Some((class, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => class,
        _ => flow,
    }
}

/// Whether `name` is the name of the flow or of its class.
pub fn is_named(flow: &str, name: &str) -> bool {
    flow == name || class_of(flow) == name
}

impl Class {
    /// Returns the classes of an outcome, in the order of their first flows.
    pub fn all(outcome: &Outcome) -> Vec<Class> {
        let mut classes: Vec<Class> = Vec::new();
        for (index, flow) in outcome.flows.iter().enumerate() {
            let name = class_of(&flow.name);
            // Replicas of a flow have adjacent indices.
            match classes.last_mut().filter(|class| class.name == name) {
                Some(class) => class.flows.push(index),
                None => classes.push(Class { name: name.to_owned(), flows: vec![index] }),
            }
        }
        classes
    }

    /// Returns the class with this name. Returns `None` if the outcome has no such class.
    pub fn named(outcome: &Outcome, name: &str) -> Option<Class> {
        let flows: Vec<usize> =
            (0..outcome.flows.len()).filter(|flow| class_of(&outcome.flows[*flow].name) == name).collect();
        (!flows.is_empty()).then(|| Class { name: name.to_owned(), flows })
    }

    /// Returns the class's flows in an outcome.
    pub fn of_outcome<'a>(&'a self, outcome: &'a Outcome) -> impl Iterator<Item = &'a FlowOutcome> + Clone {
        self.flows.iter().filter_map(|flow| outcome.flows.get(*flow))
    }

    /// Returns the value of a quantity for the class. A metric of single flows is averaged over the class's flows. A
    /// metric of several flows together, such as fairness, is computed from the class's flows alone.
    pub fn value(&self, outcome: &Outcome, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::OfFlow(metric) => measure::mean(self.of_outcome(outcome).filter_map(metric.of)),
            Quantity::Aggregate((name, ..)) if *name == AGGREGATE_METRICS[0].0 => {
                measure::total_goodput_of(self.of_outcome(outcome), outcome.duration_s)
            }
            Quantity::Aggregate(_) => measure::fairness_of(self.of_outcome(outcome)),
        }
    }

    fn completion(&self, outcomes: &[Outcome]) -> Option<Completion> {
        Completion::of(outcomes.iter().flat_map(|outcome| self.of_outcome(outcome)))
    }
}

/// Returns the classes that the table of classes shows. The list is empty if no class has several flows, or if only one
/// class exists.
fn shown(outcomes: &[Outcome]) -> Vec<Class> {
    let classes = outcomes.first().map(Class::all).unwrap_or_default();
    let is_useful = classes.len() > 1 && classes.iter().any(|class| class.flows.len() > 1);
    if is_useful { classes } else { Vec::new() }
}

/// Returns a table with one row for each class: sums, means over flows, fairness, and quantiles of completion times.
/// Returns `None` if no class has several flows, or if only one class exists.
pub fn table(outcomes: &[Outcome], chosen: &[Quantity]) -> Option<Table> {
    let classes = shown(outcomes);
    if classes.is_empty() {
        return None;
    }
    let default = || COLUMNS.iter().filter_map(|name| Quantity::named(name)).collect();
    let quantities: Vec<Quantity> = if chosen.is_empty() { default() } else { chosen.to_vec() };
    let completions: Vec<Option<Completion>> =
        classes.iter().map(|class| class.completion(outcomes)).collect();
    let has_completions = chosen.is_empty() && completions.iter().any(Option::is_some);
    let mut columns: Vec<String> = ["class", "flows"].map(String::from).to_vec();
    columns.extend(quantities.iter().map(|quantity| quantity.name().to_owned()));
    if has_completions {
        columns.extend(["completed", Completion::ROWS[0].0, Completion::ROWS[1].0].map(String::from));
    }
    let row = |(class, completion): (&Class, &Option<Completion>)| {
        let mut row = vec![Cell::Text(class.name.clone()), Cell::Number(class.flows.len().to_string())];
        row.extend(quantities.iter().map(|quantity| {
            let mean = estimate_by(outcomes, |outcome| class.value(outcome, *quantity));
            mean.map_or(Cell::Empty, |mean| Cell::Number(with_interval(&mean)))
        }));
        if has_completions {
            row.extend(match completion {
                Some(it) => {
                    let [(_, half), (_, most), _] = it.rows();
                    [it.count(), half, most].map(Cell::Number)
                }
                None => [Cell::Empty, Cell::Empty, Cell::Empty],
            });
        }
        row
    };
    let rows = classes.iter().zip(&completions).map(row).collect();
    Some(Table { caption: String::new(), columns, rows })
}

/// Returns JSON objects of the classes with several flows, or of all classes if `with_single` is true. An object has
/// the fields of a flow's object, as means over the class's flows. In addition, the object has the metrics of the
/// class's flows together, such as fairness.
pub fn objects(outcomes: &[Outcome], chosen: &[Quantity], with_single: bool) -> Vec<Value> {
    let classes = outcomes.first().map(Class::all).unwrap_or_default();
    let classes = classes.iter().filter(|class| with_single || class.flows.len() > 1);
    let is_chosen = |quantity: &Quantity| {
        chosen.is_empty() || chosen.iter().any(|chosen| chosen.name() == quantity.name())
    };
    let object = |class: &Class| {
        let mut object = Map::new();
        object.insert("class".into(), json!(class.name));
        object.insert("flows".into(), json!(class.flows.len()));
        for quantity in Quantity::all().filter(is_chosen) {
            let mean = estimate_by(outcomes, |outcome| class.value(outcome, quantity));
            let mean = mean.map_or(Value::Null, |mean| summary::value(&mean));
            object.insert(
                quantity.name().into(),
                match quantity {
                    Quantity::OfFlow(metric) => completed(mean, metric, || class.completion(outcomes)),
                    Quantity::Aggregate(_) => mean,
                },
            );
        }
        Value::Object(object)
    };
    classes.map(object).collect()
}

fn completed(mean: Value, metric: &FlowMetric, completion: impl FnOnce() -> Option<Completion>) -> Value {
    if metric.name == super::completion::COMPLETED {
        summary::completed_value(mean, completion())
    } else {
        mean
    }
}

/// Returns the header of [`rows`].
pub fn header() -> String {
    let names = AGGREGATE_METRICS.iter().map(|(name, ..)| *name);
    let names = names.chain(FLOW_METRICS.iter().map(|metric| metric.name));
    csv::line(["class", "flows", "run", "seed"].into_iter().chain(names))
}

/// Returns one CSV row for each class of a repetition: first the metrics of the class's flows together, such as
/// fairness, then the means over these flows.
pub fn rows(run: usize, outcome: &Outcome) -> String {
    let row = |class: &Class| {
        let place =
            [class.name.clone(), class.flows.len().to_string(), run.to_string(), outcome.seed.to_string()];
        let quantities = AGGREGATE_METRICS.iter().map(Quantity::Aggregate);
        let quantities = quantities.chain(FLOW_METRICS.iter().map(Quantity::OfFlow));
        let values = quantities.map(|quantity| csv::number(class.value(outcome, quantity)));
        csv::line(place.into_iter().chain(values))
    };
    Class::all(outcome).iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_scenario::Draft;

    fn outcomes() -> Vec<Outcome> {
        let text = "title = \"classes\"\nduration = \"5 s\"\n\
                    [link.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\none_way_delay = \"10 ms\"\n\
                    queue = \"30 packets\"\n\
                    [flow.many]\nfrom = \"a\"\nto = \"b\"\ncount = 3\nstart_spread = \"100 ms\"\n\
                    [flow.one]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"100 kB\"\n";
        let scenario = Draft::parse(text, "test").unwrap().check().unwrap();
        (1..=2).map(|seed| lasthop_sim::run(&scenario, seed)).collect()
    }

    #[test]
    fn the_name_of_a_class_has_no_number() {
        assert_eq!(["many.12", "many", "a-b.1"].map(class_of), ["many", "many", "a-b"]);
        assert!(is_named("many.2", "many") && is_named("many.2", "many.2") && !is_named("many.2", "many.1"));
    }

    /// The total goodput of a class is computed from the sum of the bytes that its flows deliver. The mean goodput is
    /// the mean of the flows' goodputs. The fairness is close to Jain's index of these goodputs, because the lifetimes
    /// of the flows differ only by their start times.
    #[test]
    fn a_class_adds_and_averages_its_flows() {
        let outcomes = outcomes();
        let outcome = &outcomes[0];
        let classes = Class::all(outcome);
        assert_eq!(
            classes.iter().map(|it| (&*it.name, it.flows.len())).collect::<Vec<_>>(),
            [("many", 3), ("one", 1)]
        );
        let many = &classes[0];
        assert_eq!(Class::named(outcome, "many").as_ref(), Some(many));
        let value = |name: &str| many.value(outcome, Quantity::named(name).unwrap()).unwrap();
        let flows = &outcome.flows[..3];
        let bytes: u64 = flows.iter().map(|flow| flow.delivered_bytes).sum();
        assert!((value("total_goodput_kbps") - bytes as f64 * 8.0 / 5.0 / 1e3).abs() < 1e-9);
        let goodputs: Vec<f64> = flows.iter().map(FlowOutcome::goodput_kbps).collect();
        let sum: f64 = goodputs.iter().sum();
        assert!((value("goodput_kbps") - sum / 3.0).abs() < 1e-9);
        let jain = sum * sum / (3.0 * goodputs.iter().map(|one| one * one).sum::<f64>());
        assert!((value("fairness") - jain).abs() < 0.02, "{} {jain}", value("fairness"));
    }

    #[test]
    fn tables_objects_and_rows_have_the_classes() {
        let outcomes = outcomes();
        let table = table(&outcomes, &[]).expect("two classes");
        assert_eq!(table.columns[..4], ["class", "flows", "total_goodput_kbps", "goodput_kbps"]);
        assert!(table.columns.ends_with(&[
            "completed".into(),
            "completed_p50_s".into(),
            "completed_p95_s".into()
        ]));
        assert_eq!(table.rows.iter().map(|row| row[0].text()).collect::<Vec<_>>(), ["many", "one"]);
        let several = objects(&outcomes, &[], false);
        assert_eq!(
            (several.len(), &several[0]["class"], &several[0]["flows"]),
            (1, &json!("many"), &json!(3))
        );
        let all = objects(&outcomes, &[], true);
        assert_eq!(all[1]["completed_s"]["completed"], json!(2));
        let text = header() + &rows(1, &outcomes[0]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("class,flows,run,seed,total_goodput_kbps,fairness,goodput_kbps,"),
            "{text}"
        );
        assert!(lines[1].starts_with("many,3,1,1,") && lines[2].starts_with("one,1,1,1,"), "{text}");
        assert!(lines.iter().all(|line| line.split(',').count() == lines[0].split(',').count()));
    }
}
