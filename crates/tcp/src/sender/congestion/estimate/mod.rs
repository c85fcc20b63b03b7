//! How much bandwidth does the path give this connection? From the returning ACKs.
//!
//! * `delivered.rs`: how many bytes an ACK says were delivered, duplicates included.
//! * `tustin.rs`: a sample per ACK, Westwood's filter.
//! * `sliding.rs`: a sample per ACK, Jersey's window of a round-trip time.
//! * `per_rtt.rs`: a sample per round-trip time, Westwood+'s filter.

mod delivered;
mod per_rtt;
mod sliding;
mod tustin;

pub(super) use delivered::Delivered;
pub(super) use per_rtt::PerRtt;
pub(super) use sliding::Sliding;
pub(super) use tustin::Tustin;
