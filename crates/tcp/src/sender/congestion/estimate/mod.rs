//! Bandwidth estimates from returning ACKs.
//!
//! * `delivered.rs`: bytes delivered per ACK, duplicates included.
//! * `tustin.rs`: Westwood's filter, one sample per ACK.
//! * `sliding.rs`: Jersey's filter, one sample per ACK over a window of one RTT.
//! * `per_rtt.rs`: Westwood+'s filter, one sample per RTT.

mod delivered;
mod per_rtt;
mod sliding;
mod tustin;

pub(super) use delivered::Delivered;
pub(super) use per_rtt::PerRtt;
pub(super) use sliding::Sliding;
pub(super) use tustin::Tustin;
