//! Columns of a table of flows: one for each flow, or one for the replicas of a flow.

use super::classes::class_of;
use super::completion::Completion;
use super::measure;
use crate::repeat::estimate_by;
use crate::stats::Estimate;
use lasthop_sim::{FlowMetric, FlowOutcome, Outcome};

/// Largest number of columns. With more flows, a table shows only their mean.
const MAX_COLUMNS: usize = 4;

/// Flows that share a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Heading: name of the flow, or `web (mean of 20)`.
    pub label: String,
    /// Indices of the flows.
    pub flows: Vec<usize>,
}

impl Group {
    /// Groups of the flows of an outcome: the replicas `NAME.1`, `NAME.2` … of a flow together. If there are too many
    /// groups for a table, all flows are one group.
    pub fn of(outcome: &Outcome) -> Vec<Group> {
        let names: Vec<&str> = outcome.flows.iter().map(|flow| flow.name.as_str()).collect();
        let mut groups: Vec<Group> = Vec::new();
        for (flow, name) in names.iter().enumerate() {
            match groups.iter().position(|group| group.label == class_of(name)) {
                Some(group) => groups[group].flows.push(flow),
                None if groups.len() == MAX_COLUMNS => {
                    let label = format!("mean of {} flows", names.len());
                    return vec![Group { label, flows: (0..names.len()).collect() }];
                }
                None => groups.push(Group { label: class_of(name).to_owned(), flows: vec![flow] }),
            }
        }
        for group in &mut groups {
            match group.flows[..] {
                [only] => group.label = names[only].to_owned(),
                _ => group.label = format!("{} (mean of {})", group.label, group.flows.len()),
            }
        }
        groups
    }

    /// Mean of a metric over the group's flows, then over repetitions.
    pub fn estimate(&self, outcomes: &[Outcome], metric: &FlowMetric) -> Option<Estimate> {
        estimate_by(outcomes, |outcome| self.mean(outcome, metric.of))
    }

    /// Mean of a number over those flows of the group in which the number is defined.
    pub fn mean(&self, outcome: &Outcome, of: impl Fn(&FlowOutcome) -> Option<f64>) -> Option<f64> {
        measure::mean(self.of_outcome(outcome).filter_map(of))
    }

    /// Completions of the group's transfers.
    pub fn completion(&self, outcomes: &[Outcome]) -> Option<Completion> {
        Completion::of(outcomes.iter().flat_map(|outcome| self.of_outcome(outcome)))
    }

    fn of_outcome<'a>(&'a self, outcome: &'a Outcome) -> impl Iterator<Item = &'a FlowOutcome> {
        self.flows.iter().filter_map(|flow| outcome.flows.get(*flow))
    }
}
