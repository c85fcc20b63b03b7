//! Trials with real TCP: the same streams under two conditions, compared repetition by repetition.
//!
//! * [`stream`]: outcome of a stream, simulated or real; [`metric`]: metrics of streams.
//! * [`paired`]: two means with intervals, and their change.
//! * [`crosscheck`]: a scenario simulated and emulated; [`agent`]: real senders without and with the agent.

pub mod agent;
pub mod crosscheck;
pub mod metric;
pub mod paired;
pub mod stream;

pub use stream::StreamOutcome;
