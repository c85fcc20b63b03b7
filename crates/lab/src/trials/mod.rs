//! Trials with real TCP: the same streams in two ways, repetition by repetition, and what that comes to.
//!
//! * [`stream`]: what has become of a stream of bytes, simulated or real; [`metric`]: numbers of it.
//! * [`paired`]: a number both ways: two means with their intervals, and the change from one to the other.
//! * [`crosscheck`]: a scenario simulated and emulated; [`agent`]: real senders without the agent and with it.

pub mod agent;
pub mod crosscheck;
pub mod metric;
pub mod paired;
pub mod stream;

pub use stream::StreamOutcome;
