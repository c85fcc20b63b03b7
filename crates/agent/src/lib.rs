//! Receiver mechanisms on a live, unmodified host: the pure ACKs that its kernel sends are intercepted and rewritten.
//!
//! * [`flow`]: what is known of a connection, and what becomes of an ACK of its; a pure state machine.
//! * [`table`]: all connections, by their addresses.
//! * [`settings`]: which window, which shape, which judge.
//! * [`rules`], [`tap`], [`inject`]: the kernel's side: what is queued, what is only seen, what is sent beside.
//! * [`program`]: the kernel decides, by a program of ours, where it can; here its wishes are written (`kernel`), and what it
//!   tells of packets is read (`events`); [`hook`]: how it is attached.
//! * [`daemon`]: all of it together; [`watchdog`]: that it stands in nobody's way and leaves nothing behind.
//! * [`report`]: what it says of itself: `status`, metrics; [`counters`] are its numbers.
//! * [`doctor`]: what this machine lacks.
//!
//! What is absent: by NFQUEUE an ACK that travels with data carries the kernel's own window; when ACKs are sent is the
//! kernel's business; nothing here prints or exits.

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
pub mod folder;
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
pub mod tap;
#[cfg(target_os = "linux")]
pub mod watchdog;

pub use counters::Counters;
pub use flow::Flow;
pub use settings::Settings;
pub use table::Table;

#[cfg(target_os = "linux")]
pub use daemon::Agent;
#[cfg(target_os = "linux")]
pub use lasthop_os::SystemError;
#[cfg(target_os = "linux")]
use lasthop_os::arrival;
