//! Records the rate of a real path. The sending side keeps the bottleneck queue full, so the throughput equals the
//! path's rate.
//!
//! Follows Winstein's saturatr, which recorded the traces of Sprout (Winstein et al., NSDI 2013) and of Mahimahi.
//! [`client`] and [`server`] run the phases with their sockets. `saturation` implements one side of a phase without
//! clock and socket. [`recording`] holds the result and checks its validity.
//!
//! This crate does not print, exit, or name output files.
#![cfg(target_os = "linux")]

mod cookie;
mod message;
mod phase_result;
mod receiver_log;
mod saturation;
mod servo;
mod sockets;

pub mod client;
pub mod recording;
pub mod server;

pub use client::{Directions, RecordingOptions, record};
pub use phase_result::SenderResult;
pub use receiver_log::ReceiverResult;
pub use recording::{DirectionResult, Recording};
pub use server::serve;

/// Payload of a packet that fills the queue, bytes. Packets of this size fit into the MTU of tunnels (as in saturatr).
const PAYLOAD: usize = 1400;
/// Maximum duration of a phase, s.
pub const LONGEST_S: u32 = 3600;
/// Default port of the server.
pub const PORT: u16 = 9001;
