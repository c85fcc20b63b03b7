//! The numbers that several flows have together.

use lasthop_sim::{METRICS, Metric, Outcome};

/// Goodput of all flows together, kbit/s.
pub fn total_goodput_kbps(outcome: &Outcome) -> Option<f64> {
    Some(outcome.flows.iter().map(|flow| flow.goodput_kbps()).sum())
}

/// Jain's index of the flows' goodputs: 1 when all are equal, 1/n when one has all; undefined when nobody has any.
pub fn fairness(outcome: &Outcome) -> Option<f64> {
    let goodputs = || outcome.flows.iter().map(|flow| flow.goodput_kbps());
    let (sum, squares): (f64, f64) = (goodputs().sum(), goodputs().map(|goodput| goodput * goodput).sum());
    (squares > 0.0).then(|| sum * sum / (outcome.flows.len() as f64 * squares))
}

/// A metric's mean over the flows in which it is defined.
pub fn mean_of_flows(outcome: &Outcome, metric: &Metric) -> Option<f64> {
    let values: Vec<f64> = outcome.flows.iter().filter_map(metric.of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A metric of all flows: the total of goodput, the mean of everything else (of one flow: its own value).
pub fn of_all_flows(outcome: &Outcome, metric: &Metric) -> Option<f64> {
    match std::ptr::eq(metric, &METRICS[0]) {
        true => total_goodput_kbps(outcome),
        false => mean_of_flows(outcome, metric),
    }
}
