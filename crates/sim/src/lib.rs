//! Runs a scenario in virtual time.
//!
//! * [`assemble`]: a checked scenario becomes an engine with endpoints, links and named random streams.
//! * [`mod@run`]: one repetition, from the start to the scenario's end: [`run::run`], [`run::run_probed`], [`run::run_watched`]; piece by piece:
//!   [`run::Running`].
//! * [`outcome`]: what came out, in numbers with their units; [`flow_metrics`]: of each flow, as columns.
//! * [`link_metrics`]: what each direction of a link carried; [`rlc_metrics`]: what RLC counted.
//! * [`stuck`]: why a run did not come to its end.
//! * [`probe`]: cwnd, SRTT, queues … sampled over time.
//! * [`packets`]: a packet's whole story, from the source to its arrival or loss.
//! * [`pcap`]: a capture at the sources, with each packet's fate as a comment.
//! * [`trace`]: every event as a line of JSON.

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
pub use lasthop_net::counters::Counters as RlcCounters;
pub use link_metrics::{LINK_METRICS, LinkMetric, LinkTraffic, Wait};
pub use outcome::{Exchanged, FlowOutcome, LinkOutcome, Outcome};
pub use probe::{FlowSample, QueueSample, Samples};
pub use rlc_metrics::{RLC_METRICS, RlcMetric};
pub use run::{Running, Watch, run, run_probed, run_watched};
pub use stuck::Stuck;
