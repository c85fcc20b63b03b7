//! Output of a store, one combination at a time.
//!
//! * `table`: a row for each combination, means with intervals; `json`: the same for programs.
//! * `csv`: each run.

mod csv;
mod json;
mod table;

pub use csv::{flow_header, flow_rows, link_header, link_rows};
pub use json::objects;
pub use table::TableRows;

use crate::store::{Combination, StoredRun, StoredSweep};
use lasthop_lab::compare::{Quantity, Variation};
use lasthop_lab::runs::completion::{COMPLETED, Completion, RESTRICTED};

/// Selection of results.
#[derive(Clone, Default)]
pub struct ResultSelection {
    /// Quantities; empty: the usual ones.
    pub quantities: Vec<Quantity>,
    /// Flow; `None`: all.
    pub flow: Option<String>,
    /// Combinations: keys with their allowed values.
    pub filter: Vec<Variation>,
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
        self.flow.as_deref().is_none_or(|selection| selection == name)
    }
}

/// Completion times of the finite transfers of a flow, or of all flows.
fn completion(runs: &[StoredRun], flow: Option<&str>) -> Option<Completion> {
    let flows = runs.iter().flat_map(|run| run.flows());
    let its = flows.filter(|(name, _)| flow.is_none_or(|flow| flow == *name));
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
