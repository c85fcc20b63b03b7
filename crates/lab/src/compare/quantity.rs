//! What can be compared: the metrics of each flow, and the numbers that several flows have together.

use crate::runs::measure;
use crate::runs::summary::{TOGETHER, Together};
use lasthop_sim::{FlowOutcome, METRICS, Metric, Outcome};

/// A number to compare.
#[derive(Clone, Copy)]
pub enum Quantity {
    /// Every flow has one.
    OfFlow(&'static Metric),
    /// All flows have it together.
    Together(&'static Together),
}

impl Quantity {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Quantity> {
        METRICS.iter().map(Quantity::OfFlow).chain(TOGETHER.iter().map(Quantity::Together))
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Quantity> {
        Quantity::all().find(|quantity| quantity.name() == name)
    }

    /// Its name, with the unit.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::OfFlow(metric) => metric.name,
            Quantity::Together((name, ..)) => name,
        }
    }

    /// Of one flow; `None` where it is undefined, or that of all flows together.
    pub fn of(self, flow: &FlowOutcome) -> Option<f64> {
        match self {
            Quantity::OfFlow(metric) => (metric.of)(flow),
            Quantity::Together(_) => None,
        }
    }

    /// Of the flow of this name.
    pub fn of_flow(self, outcome: &Outcome, flow: &str) -> Option<f64> {
        outcome.flows.iter().find(|other| other.name == flow).and_then(|flow| self.of(flow))
    }

    /// Of all flows: the mean of what each has, or what they have together.
    pub fn of_all(self, outcome: &Outcome) -> Option<f64> {
        match self {
            Quantity::OfFlow(metric) => measure::mean_of_flows(outcome, metric),
            Quantity::Together((_, of, _)) => of(outcome),
        }
    }
}
