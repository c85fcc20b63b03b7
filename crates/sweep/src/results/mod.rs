//! Output of a store, one combination at a time.
//!
//! * `table`: a row for each combination, means with intervals; `json`: the same for programs.
//! * `csv`: each run.

mod csv;
mod json;
mod table;

pub use csv::{flow_header, flow_rows, link_header, link_rows};
pub use json::objects;
pub use table::Rows;

use crate::store::{Place, Run, Sweep};
use lasthop_lab::compare::{Quantity, Variation};
use lasthop_lab::runs::completion::{COMPLETED, Completion, RESTRICTED};

/// Selection of results.
#[derive(Clone, Default)]
pub struct Wanted {
    /// Quantities; empty: the usual ones.
    pub quantities: Vec<Quantity>,
    /// Flow; `None`: all.
    pub flow: Option<String>,
    /// Combinations: keys with their allowed values.
    pub filter: Vec<Variation>,
}

impl Wanted {
    /// Whether a combination is selected.
    pub fn takes(&self, sweep: &Sweep, place: &Place) -> bool {
        self.filter.iter().all(|wanted| {
            let mut here = sweep.paths.iter().zip(&place.x);
            here.any(|(path, value)| *path == wanted.path && wanted.values.contains(value))
        })
    }

    fn takes_flow(&self, name: &str) -> bool {
        self.flow.as_deref().is_none_or(|wanted| wanted == name)
    }
}

/// Completion times of the finite transfers of a flow, or of all flows.
fn completion(runs: &[Run], flow: Option<&str>) -> Option<Completion> {
    let flows = runs.iter().flat_map(|run| run.flows());
    let its = flows.filter(|(name, _)| flow.is_none_or(|flow| flow == *name));
    Completion::of_times(
        its.filter_map(|(_, part)| Some((part.number(RESTRICTED)?, part.number(COMPLETED).is_some())))
            .collect(),
    )
}

fn has_several_flows(runs: &[Run]) -> bool {
    runs.iter().any(|run| run.flows().count() > 1)
}

fn flow_names(runs: &[Run]) -> Vec<&str> {
    runs.first().map_or(Vec::new(), |run| run.flows().map(|(name, _)| name).collect())
}
