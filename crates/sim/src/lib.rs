//! Runs a scenario in virtual time.
//!
//! * [`assemble`]: builds an engine from a checked scenario.
//! * [`mod@run`]: one repetition: [`run::run`], [`run::run_probed`], [`run::run_watched`]; step by step:
//! [`run::Running`].
//! * [`outcome`]: results of a run; [`flow_metrics`]: metrics of flows.
//! * [`link_metrics`]: metrics of link directions; [`rlc_metrics`]: metrics of RLC links.
//! * [`stuck`]: the error of a run whose time does not advance.
//! * [`probe`]: time series of cwnd, SRTT, queues and more.
//! * [`packets`]: the history of each packet.
//! * [`pcap`]: captures at the sources, with each packet's fate as a comment.
//! * [`trace`]: all events as lines of JSON.

mod applications;
pub mod assemble;
mod cells;
pub mod flow_metrics;
pub mod link_metrics;
mod lives;
pub mod outcome;
pub mod packets;
pub mod pcap;
pub mod probe;
pub mod rlc_metrics;
pub mod run;
pub mod stuck;
pub mod trace;
mod warm_up;

pub use assemble::is_deterministic;
pub use flow_metrics::{METRICS, Metric};
pub use lasthop_engine::Share;
pub use lasthop_net::counters::RlcCounters;
pub use link_metrics::{LINK_METRICS, LinkMetric, LinkTraffic, Wait};
pub use outcome::{Exchanged, FlowOutcome, LinkOutcome, Outcome};
pub use probe::{FlowSample, QueueSample, Samples};
pub use rlc_metrics::{RLC_METRICS, RlcMetric};
pub use run::{Running, Watch, run, run_probed, run_watched};
pub use stuck::Stuck;
