//! Trials with real TCP: the same byte streams are transferred under two conditions. The conditions are compared
//! repetition by repetition.
//!
//! * [`stream`]: outcome of a stream, simulated or real; [`metric`]: metrics of streams.
//! * [`paired`]: two means with intervals, and their change.
//! * [`crosscheck`]: compares a simulated and an emulated scenario. [`agent`]: compares real senders without and with
//!   the agent.

pub mod agent;
pub mod crosscheck;
pub mod metric;
pub mod paired;
pub mod stream;

pub use stream::StreamOutcome;
