//! Receiver mechanisms on a real, unmodified host: the agent intercepts and rewrites the pure ACKs of the host's
//! kernel.
//!
//! The agent has two data paths. With NFQUEUE this process decides on each ACK ([`rules`], [`tap`], [`inject`]). With
//! BPF a kernel [`program`] decides according to this process's requests. [`flow`] is the state machine of a connection
//! for both data paths.
//!
//! Limits: with NFQUEUE, an ACK that carries data keeps the kernel's own window. The kernel alone decides when ACKs are
//! sent. This crate never prints and never exits.

pub mod counters;
pub mod flow;
pub mod settings;
pub mod table;

#[cfg(target_os = "linux")]
pub mod daemon;
#[cfg(target_os = "linux")]
pub mod doctor;
#[cfg(target_os = "linux")]
mod events;
#[cfg(target_os = "linux")]
pub mod hook;
#[cfg(target_os = "linux")]
pub mod inject;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod privilege;
#[cfg(target_os = "linux")]
pub mod program;
#[cfg(target_os = "linux")]
pub mod report;
#[cfg(target_os = "linux")]
pub mod rules;
#[cfg(target_os = "linux")]
pub mod run_directory;
#[cfg(target_os = "linux")]
pub mod tap;
#[cfg(target_os = "linux")]
pub mod watchdog;

pub use counters::AgentCounters;
pub use flow::ObservedFlow;
pub use settings::AckSettings;
pub use table::ConnectionTable;

#[cfg(target_os = "linux")]
pub use daemon::Agent;
#[cfg(target_os = "linux")]
pub use lasthop_os::SystemError;
#[cfg(target_os = "linux")]
use lasthop_os::arrival;
