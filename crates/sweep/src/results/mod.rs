//! Output of a store's results, one combination at a time.
//!
//! * `table`: a row for each combination and flow, with means and intervals.
//! * `json`: the same means as JSON for programs.
//! * `csv`: the numbers of each run.
//! * `difference`: differences from a baseline, paired by seed.

mod csv;
mod difference;
mod json;
mod table;

pub use csv::{flow_header, flow_rows, link_header, link_rows};
pub use difference::base;
pub use json::objects;
pub use table::TableRows;

use crate::store::{Combination, StoredRun, StoredSweep};
use lasthop_lab::compare::{Quantity, Variation};
use lasthop_lab::runs::classes::{class_of, is_named};
use lasthop_lab::runs::completion::{COMPLETED, Completion, RESTRICTED};

/// Selection of the results to output.
#[derive(Clone, Default)]
pub struct ResultSelection {
    /// Quantities to output. An empty list selects the default quantities.
    pub quantities: Vec<Quantity>,
    /// Name of the flow, or of the class of replicated flows, to output. `None` selects all flows.
    pub flow: Option<String>,
    /// Filter of combinations: keys, each with its allowed values. An empty list selects all combinations.
    pub filter: Vec<Variation>,
    /// Baseline with which all combinations are compared: keys, each with one value. If the list is empty, no
    /// differences are output.
    pub against: Vec<Variation>,
}

/// Baseline and its runs.
#[derive(Clone, Copy)]
pub struct BaseRuns<'b> {
    /// Combination that is the baseline.
    pub combination: &'b Combination,
    /// Runs of the baseline.
    pub runs: &'b [StoredRun],
}

impl ResultSelection {
    /// Whether a combination is selected.
    pub fn selects(&self, sweep: &StoredSweep, combination: &Combination) -> bool {
        self.filter.iter().all(|selection| {
            let mut here = sweep.paths.iter().zip(&combination.x);
            here.any(|(path, value)| *path == selection.path && selection.values.contains(value))
        })
    }

    fn selects_flow(&self, name: &str) -> bool {
        self.flow.as_deref().is_none_or(|selection| is_named(name, selection))
    }
}

/// Returns the completion times of the finite transfers of a flow, or of a class of replicated flows. If `flow` is
/// `None`, returns the completion times of all flows.
fn completion(runs: &[StoredRun], flow: Option<&str>) -> Option<Completion> {
    let flows = runs.iter().flat_map(|run| run.flows());
    let its = flows.filter(|(name, _)| flow.is_none_or(|flow| is_named(name, flow)));
    Completion::of_times(
        its.filter_map(|(_, metrics)| {
            Some((metrics.number(RESTRICTED)?, metrics.number(COMPLETED).is_some()))
        })
        .collect(),
    )
}

fn has_several_flows(runs: &[StoredRun]) -> bool {
    runs.iter().any(|run| run.flows().count() > 1)
}

fn flow_names(runs: &[StoredRun]) -> Vec<&str> {
    runs.first().map_or(Vec::new(), |run| run.flows().map(|(name, _)| name).collect())
}

/// Returns the names of the classes that have several flows. A class consists of the replicas of one flow.
fn class_names(runs: &[StoredRun]) -> Vec<&str> {
    let names = flow_names(runs);
    let mut classes: Vec<&str> = names.iter().map(|name| class_of(name)).collect();
    classes.dedup();
    classes.retain(|class| !names.contains(class));
    classes
}
