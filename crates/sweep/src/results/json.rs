//! Output of means over runs as JSON. Each combination has one object for each flow, each class of flows, all flows
//! together, and each link direction. The fields are the combination's values, followed by the fields of `lasthop run
//! --format json`.

use super::difference::{Difference, against};
use super::{BaseRuns, ResultSelection, class_names, completion, flow_names, has_several_flows};
use crate::store::{Combination, StoredRun, StoredSweep};
use lasthop_lab::compare::Quantity;
use lasthop_lab::runs::completion::COMPLETED;
use lasthop_lab::runs::summary::{completed_value, value};
use lasthop_lab::stats::Estimate;
use lasthop_sim::FLOW_METRICS;
use serde_json::{Map, Value, json};

/// Returns the JSON objects of one combination. `base` is the combination's baseline with its runs.
pub fn objects(
    sweep: &StoredSweep,
    combination: &Combination,
    runs: &[StoredRun],
    base: Option<BaseRuns<'_>>,
    selection: &ResultSelection,
) -> Vec<Value> {
    let Some(first) = runs.first() else { return Vec::new() };
    let baseline = base.map(|base| base.combination);
    let head = |of: &str, name: Value| {
        let x = sweep.paths.iter().cloned().zip(combination.x.iter().map(|value| json!(value)));
        let mut object = Map::new();
        object.insert("sweep".into(), json!(sweep.number));
        object.insert("x".into(), Value::Object(x.collect()));
        if !selection.against.is_empty() {
            object.insert("against".into(), against(sweep, baseline));
        }
        object.insert(of.into(), name);
        object
    };
    // If a baseline was chosen, all objects have fields of differences. In the baseline's objects, these fields are
    // null.
    let base = (!selection.against.is_empty()).then_some(base.map_or(&[][..], |base| base.runs));
    let named = flow_names(runs).into_iter().filter(|name| selection.selects_flow(name));
    let mut flows: Vec<(&str, Option<&str>)> = named.map(|name| ("flow", Some(name))).collect();
    let classes = class_names(runs).into_iter().filter(|name| selection.selects_flow(name));
    flows.extend(classes.map(|name| ("class", Some(name))));
    flows.extend((selection.flow.is_none() && has_several_flows(runs)).then_some(("flow", None)));
    let mut objects = Vec::new();
    for (kind, flow) in flows {
        let mut object = head(kind, json!(flow));
        for quantity in quantities(selection) {
            let mean = match (flow, quantity) {
                (Some(_), Quantity::Aggregate(_)) => continue,
                (Some(flow), Quantity::OfFlow(metric)) => {
                    mean(runs, base, |run| run.of_flow(flow, metric.name))
                }
                // For all flows together, goodput is the total. Any other quantity is the mean over flows. The command
                // `lasthop compare` uses the same rule.
                (None, Quantity::OfFlow(metric)) if std::ptr::eq(metric, &FLOW_METRICS[0]) => {
                    mean(runs, base, |run| run.together("total_goodput_kbps"))
                }
                (None, _) => mean(runs, base, |run| run.of_all(quantity)),
            };
            let shown = match quantity.name() {
                COMPLETED => completed_value(mean, completion(runs, flow)),
                _ => mean,
            };
            object.insert(quantity.name().into(), shown);
        }
        objects.push(Value::Object(object));
    }
    if selection.quantities.is_empty() && selection.flow.is_none() {
        for (name, metrics) in first.links() {
            let mut object = head("link", json!(name));
            for (metric, _) in &metrics.numbers {
                let of = |run: &StoredRun| run.links().find(|(known, _)| *known == name)?.1.number(metric);
                object.insert(metric.to_string(), mean(runs, base, of));
            }
            objects.push(Value::Object(object));
        }
    }
    objects
}

fn quantities(selection: &ResultSelection) -> Vec<Quantity> {
    if selection.quantities.is_empty() { Quantity::all().collect() } else { selection.quantities.clone() }
}

fn mean(runs: &[StoredRun], base: Option<&[StoredRun]>, of: impl Fn(&StoredRun) -> Option<f64>) -> Value {
    let values: Vec<f64> = runs.iter().filter_map(&of).collect();
    let mut mean = Estimate::of(&values).map_or(Value::Null, |estimate| value(&estimate));
    if let Some(base) = base {
        Difference::of(runs, base, of).extend(&mut mean);
    }
    mean
}
