//! Numbers that can be compared: metrics of each flow, and numbers of all flows together.

use crate::runs::classes::Class;
use crate::runs::measure;
use crate::runs::summary::{AGGREGATE_METRICS, AggregateMetric};
use lasthop_sim::{FLOW_METRICS, FlowMetric, FlowOutcome, Outcome};

/// Suffixes of quantity names that state a unit.
const UNITS: [&str; 6] = ["_kbps", "_bytes", "_s", "_ms", "_pct", "_per_s"];

/// A number to compare.
#[derive(Clone, Copy)]
pub enum Quantity {
    /// A number that each flow has, such as its goodput.
    OfFlow(&'static FlowMetric),
    /// A number of all flows together, such as their fairness.
    Aggregate(&'static AggregateMetric),
}

impl Quantity {
    /// All quantities.
    pub fn all() -> impl Iterator<Item = Quantity> {
        FLOW_METRICS.iter().map(Quantity::OfFlow).chain(AGGREGATE_METRICS.iter().map(Quantity::Aggregate))
    }

    /// The quantity of this name. A name may lack its unit if only one quantity fits: `goodput`.
    pub fn named(name: &str) -> Option<Quantity> {
        let has_unit = |quantity: &Quantity| {
            quantity.name().strip_prefix(name).is_some_and(|unit| UNITS.contains(&unit))
        };
        Quantity::all().find(|quantity| quantity.name() == name).or_else(|| {
            let mut fitting = Quantity::all().filter(has_unit);
            fitting.next().filter(|_| fitting.next().is_none())
        })
    }

    /// Name, with the unit.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::OfFlow(metric) => metric.name,
            Quantity::Aggregate((name, ..)) => name,
        }
    }

    /// Value for one flow; `None` if undefined, or if the quantity is a number of all flows together.
    pub fn of(self, flow: &FlowOutcome) -> Option<f64> {
        match self {
            Quantity::OfFlow(metric) => (metric.of)(flow),
            Quantity::Aggregate(_) => None,
        }
    }

    /// Value for the flow of this name, or for the class of this name.
    pub fn of_flow(self, outcome: &Outcome, name: &str) -> Option<f64> {
        match outcome.flows.iter().find(|flow| flow.name == name) {
            Some(flow) => self.of(flow),
            None => Class::named(outcome, name)?.value(outcome, self),
        }
    }

    /// Value over all flows: the total for goodput, the mean of the flows for other metrics, or the number of all flows
    /// together.
    pub fn of_all(self, outcome: &Outcome) -> Option<f64> {
        match self {
            Quantity::OfFlow(metric) => measure::mean_of_flows(outcome, metric),
            Quantity::Aggregate((_, of, _)) => of(outcome),
        }
    }
}
