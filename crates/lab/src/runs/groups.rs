//! Columns of a table of flows. A column shows one flow, or the replicas of one flow.

use super::classes::class_of;
use super::completion::Completion;
use super::measure;
use crate::repeat::estimate_by;
use crate::stats::Estimate;
use lasthop_sim::{FlowMetric, FlowOutcome, Outcome};

/// Largest number of columns. With more groups of flows, a table has one column with the mean over all flows.
const MAX_COLUMNS: usize = 4;

/// Flows that share a column of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Heading of the column: name of the flow, or a text such as `web (mean of 20)`.
    pub label: String,
    /// Indices of the flows in the outcome.
    pub flows: Vec<usize>,
}

impl Group {
    /// Returns the groups of an outcome's flows. The replicas `NAME.1`, `NAME.2` … of a flow form one group. If the
    /// groups are too many for a table, all flows form one group.
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

    /// Returns the mean over repetitions of a metric that is averaged over the group's flows.
    pub fn estimate(&self, outcomes: &[Outcome], metric: &FlowMetric) -> Option<Estimate> {
        estimate_by(outcomes, |outcome| self.mean(outcome, metric.of))
    }

    /// Returns the mean of a number over the group's flows. Flows in which the number is undefined are omitted.
    pub fn mean(&self, outcome: &Outcome, of: impl Fn(&FlowOutcome) -> Option<f64>) -> Option<f64> {
        measure::mean(self.of_outcome(outcome).filter_map(of))
    }

    /// Returns the completions of the group's finite transfers.
    pub fn completion(&self, outcomes: &[Outcome]) -> Option<Completion> {
        Completion::of(outcomes.iter().flat_map(|outcome| self.of_outcome(outcome)))
    }

    fn of_outcome<'a>(&'a self, outcome: &'a Outcome) -> impl Iterator<Item = &'a FlowOutcome> {
        self.flows.iter().filter_map(|flow| outcome.flows.get(*flow))
    }
}
