//! Extension module of the Python package `lasthop`: all code that needs the engine. `python/lasthop` is the public
//! API.

mod error;
mod events;
mod gym;
mod results;
mod scenario;
mod session;
mod strategy;
mod sweep;
mod table;
mod work;

use pyo3::prelude::*;

/// Scenarios, runs and tables of the package `lasthop`.
#[pymodule]
mod _lasthop {
    #[pymodule_export]
    use super::gym::{Environment, Environments, GymPath, GymSettings};
    #[pymodule_export]
    use super::results::{Comparison, Runs};
    #[pymodule_export]
    use super::scenario::{Scenario, mechanisms, ready_paths, schema};
    #[pymodule_export]
    use super::session::{FlowLook, LinkLook, Session};
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
