//! What a real path carries: a saturator on each side keeps the queue at the bottleneck full, and what comes through is
//! the path's rate.
//!
//! After Winstein's saturatr, which recorded the traces of Sprout (Winstein et al., NSDI 2013) and of Mahimahi.
//!
//! * `message`: what the two sides say to each other, as datagrams; `cookie`: how an address is proven.
//! * `servo`: how many packets are in flight; `course`: what comes through, and whether a queue waited behind it.
//! * `saturation`: one phase at one side, without clock and socket; `outcome`: what it knows at the end.
//! * [`server`], [`client`]: the two sides with their sockets (`line`); [`recording`]: what came out, and whether to trust it.
//!
//! What is absent: nothing here prints, exits, or names the files that are written.
#![cfg(target_os = "linux")]

mod cookie;
mod course;
mod line;
mod message;
mod outcome;
mod saturation;
mod servo;

pub mod client;
pub mod recording;
pub mod server;

pub use client::{Ask, Ways, record};
pub use course::Recorded;
pub use outcome::Sent;
pub use recording::{Recording, Way};
pub use server::serve;

/// Bytes of a packet that keeps the queue full, without headers: it goes through tunnels (as in saturatr).
const PAYLOAD: usize = 1400;
/// The longest phase, s.
pub const LONGEST_S: u32 = 3600;
/// The server's usual port.
pub const PORT: u16 = 9001;
