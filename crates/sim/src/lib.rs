//! Runs a scenario in virtual time.
//!
//! * [`assemble`]: builds an engine from a checked scenario.
//! * [`mod@run`]: runs one repetition ([`run::run`], [`run::run_probed`], [`run::run_observed`]), also in steps
//!   ([`run::SteppedRun`]).
//! * [`outcome`]: results of a run; [`flow_metrics`]: metrics of flows.
//! * [`environment`]: environments for learned congestion control, on sessions.
//! * [`link_metrics`]: metrics of link directions; [`rlc_metrics`]: metrics of RLC links.
//! * [`stuck`]: the error of a run whose time does not advance.
//! * [`probe`]: time series of cwnd, SRTT, queues and more.
//! * [`packet_history`]: the history of each packet.
//! * [`pcap`]: captures at the sources. Comments in a capture report losses and the actions of middleboxes.
//! * [`trace`]: all events as lines of JSON.
//! * [`transport`]: flows whose transport is not Lasthop's TCP.

mod applications;
pub mod assemble;
mod cells;
mod connections;
pub mod environment;
pub mod flow_metrics;
mod idle_path;
pub mod link_metrics;
pub mod outcome;
pub mod packet_history;
pub mod pcap;
pub mod probe;
pub mod qlog;
pub mod rlc_metrics;
pub mod run;
pub mod session;
pub mod stuck;
pub mod trace;
pub mod transport;
mod warm_up;

pub use assemble::is_deterministic;
pub use connections::DEFER_FROM_FLOWS;
pub use flow_metrics::{FLOW_METRICS, FlowMetric};
pub use lasthop_engine::ConcurrentShare;
pub use lasthop_net::counters::RlcCounters;
pub use link_metrics::{LINK_METRICS, LinkDelay, LinkMetric, LinkTraffic};
pub use outcome::{ExchangeOutcome, FlowOutcome, LinkOutcome, Outcome, TransferOutcome};
pub use probe::{FlowSample, QueueSample, Samples};
pub use rlc_metrics::{RLC_METRICS, RlcMetric};
pub use run::{Observation, StackLog, SteppedRun, run, run_observed, run_probed};
pub use session::{Act, FlowLook, LinkLook, Refused, Session, Step, Stopped, Until};
pub use stuck::Stuck;

/// Hash of this crate's sources, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();

/// Hashes of the sources of all crates that determine the result of a run.
pub const ENGINE_SOURCES: [&str; 10] = [
    lasthop_base::SOURCES,
    lasthop_wire::SOURCES,
    lasthop_stack::SOURCES,
    transport::SOURCES,
    lasthop_tcp::SOURCES,
    lasthop_net::SOURCES,
    lasthop_middlebox::SOURCES,
    lasthop_engine::SOURCES,
    lasthop_scenario::SOURCES,
    SOURCES,
];
