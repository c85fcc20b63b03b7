//! What is shown of a store, a combination at a time.
//!
//! * `table`: for people: a row for each combination, means with their intervals; `json`: the same for programs.
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

/// What of it is wanted.
#[derive(Clone, Default)]
pub struct Wanted {
    /// Which numbers; none: the usual ones.
    pub quantities: Vec<Quantity>,
    /// Which flow; `None`: every one.
    pub flow: Option<String>,
    /// Which combinations: keys with the values that each may have.
    pub filter: Vec<Variation>,
}

impl Wanted {
    /// Whether a combination is among them.
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

/// When the finite transfers of a flow, or of all flows, were complete.
fn completion(runs: &[Run], flow: Option<&str>) -> Option<Completion> {
    let flows = runs.iter().flat_map(|run| run.flows());
    let its = flows.filter(|(name, _)| flow.is_none_or(|flow| flow == *name));
    Completion::of_times(
        its.filter_map(|(_, part)| Some((part.number(RESTRICTED)?, part.number(COMPLETED).is_some())))
            .collect(),
    )
}

/// Whether any run has several flows.
fn has_several_flows(runs: &[Run]) -> bool {
    runs.iter().any(|run| run.flows().count() > 1)
}

/// The names of the flows, in their order.
fn flow_names(runs: &[Run]) -> Vec<&str> {
    runs.first().map_or(Vec::new(), |run| run.flows().map(|(name, _)| name).collect())
}
