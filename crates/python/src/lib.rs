//! The extension module behind the Python package `lasthop`. What users call stands in `python/lasthop`; here is what
//! needs the engine.
//!
//! * `scenario`: a scenario with its changes, checked; errors with their place (`error`).
//! * `work`: repetitions without Python's lock, which Ctrl-C ends.
//! * `results`: what came out of a scenario's runs, or of several in pairs: numbers, means, what was seen over time.
//! * `table`: columns in Arrow's form; `events`: every packet and event of a run as such a table.
//! * `sweep`: a sweep under way, its runs done here or elsewhere.
//! * `strategy`: mechanisms that are Python objects.

mod error;
mod events;
mod results;
mod scenario;
mod strategy;
mod sweep;
mod table;
mod work;

use pyo3::prelude::*;

/// Scenarios, runs and tables of the package `lasthop`.
#[pymodule]
mod _lasthop {
    #[pymodule_export]
    use super::results::{Comparison, Runs};
    #[pymodule_export]
    use super::scenario::{Scenario, mechanisms, ready_paths, schema};
    #[pymodule_export]
    use super::strategy::{
        Ack, Arrival, Backlog, Due, Gap, Loss, LostSegment, Packet, PathEstimate, QueueState, Recovered,
        SenderCounts, Start, UplinkCounts,
    };
    #[pymodule_export]
    use super::sweep::{Sweep, merge_stores, read_store, run_orders};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::work::{compare, run};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
