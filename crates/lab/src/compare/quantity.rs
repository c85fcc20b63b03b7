//! Numbers that can be compared: metrics of each flow, and numbers of all flows together.

use crate::runs::classes::Class;
use crate::runs::measure;
use crate::runs::summary::{AGGREGATE_METRICS, AggregateMetric};
use lasthop_sim::{FLOW_METRICS, FlowMetric, FlowOutcome, Outcome};

/// Suffixes of quantity names that state the unit.
const UNITS: [&str; 6] = ["_kbps", "_bytes", "_s", "_ms", "_pct", "_per_s"];

/// A number to compare.
#[derive(Clone, Copy)]
pub enum Quantity {
    /// A number of each flow, such as the flow's goodput.
    OfFlow(&'static FlowMetric),
    /// A number of all flows together, such as fairness.
    Aggregate(&'static AggregateMetric),
}

impl Quantity {
    /// Returns all quantities.
    pub fn all() -> impl Iterator<Item = Quantity> {
        FLOW_METRICS.iter().map(Quantity::OfFlow).chain(AGGREGATE_METRICS.iter().map(Quantity::Aggregate))
    }

    /// Returns the quantity of this name. The name may omit the unit suffix if only one quantity then fits: `goodput`.
    pub fn named(name: &str) -> Option<Quantity> {
        let has_unit = |quantity: &Quantity| {
            quantity.name().strip_prefix(name).is_some_and(|unit| UNITS.contains(&unit))
        };
        Quantity::all().find(|quantity| quantity.name() == name).or_else(|| {
            let mut fitting = Quantity::all().filter(has_unit);
            fitting.next().filter(|_| fitting.next().is_none())
        })
    }

    /// Returns the name, with the unit suffix.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::OfFlow(metric) => metric.name,
            Quantity::Aggregate((name, ..)) => name,
        }
    }

    /// Returns the value for one flow. Returns `None` if the value is undefined, or if the quantity is a number of all
    /// flows together.
    pub fn of(self, flow: &FlowOutcome) -> Option<f64> {
        match self {
            Quantity::OfFlow(metric) => (metric.of)(flow),
            Quantity::Aggregate(_) => None,
        }
    }

    /// Returns the value for the flow or class of this name.
    pub fn of_flow(self, outcome: &Outcome, name: &str) -> Option<f64> {
        match outcome.flows.iter().find(|flow| flow.name == name) {
            Some(flow) => self.of(flow),
            None => Class::named(outcome, name)?.value(outcome, self),
        }
    }

    /// Returns the value over all flows. For goodput, the value is the total of the flows. For any other metric of
    /// flows, the value is the mean of the flows.
    pub fn of_all(self, outcome: &Outcome) -> Option<f64> {
        match self {
            Quantity::OfFlow(metric) => measure::mean_of_flows(outcome, metric),
            Quantity::Aggregate((_, of, _)) => of(outcome),
        }
    }
}
