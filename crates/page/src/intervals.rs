//! Means over the stored outcomes with 95 % confidence intervals, and changes relative to the first variant.

use lasthop_sim::{FLOW_METRICS, FlowMetric, Outcome};
use lasthop_stats::Estimate;
use lasthop_stats::change::PercentChange;
use serde_json::{Map, Value, json};

/// Returns four values for each variant, flow and metric: mean, interval, number of runs, and change relative to the
/// first variant in per cent. The change is computed from pairs of repetitions with the same number, because such
/// repetitions have the same random losses.
pub(crate) fn of(stored: &[Vec<Outcome>]) -> Value {
    let base = stored.first().map_or(&[][..], Vec::as_slice);
    let variants: Vec<Value> = stored
        .iter()
        .map(|outcomes| {
            let names = outcomes.first().map_or(&[][..], |first| &first.flows[..]);
            let flows = names.iter().enumerate().map(|(flow, it)| {
                let numbers = FLOW_METRICS
                    .iter()
                    .map(|metric| (metric.name.to_owned(), number(outcomes, base, flow, metric)));
                let mut object = Map::from_iter([("flow".to_owned(), json!(it.name))]);
                object.extend(numbers);
                Value::Object(object)
            });
            Value::Array(flows.collect())
        })
        .collect();
    json!({ "variants": variants })
}

fn number(outcomes: &[Outcome], base: &[Outcome], flow: usize, metric: &FlowMetric) -> Value {
    let of = |outcome: &Outcome| outcome.flows.get(flow).and_then(metric.of);
    let values: Vec<f64> = outcomes.iter().filter_map(of).collect();
    let Some(estimate) = Estimate::of(&values) else { return Value::Null };
    let pairs = outcomes.iter().zip(base).filter_map(|(one, other)| Some((of(one)?, of(other)?)));
    let (ones, others): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let change = PercentChange::of(&ones, &others)
        .map(|change| json!({ "percent": change.percent, "ci95": change.ci95 }));
    json!({ "mean": estimate.mean, "ci95": estimate.ci95, "runs": estimate.runs, "change": change })
}
