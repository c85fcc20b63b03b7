//! Trials with real TCP. The same byte streams are transferred under two conditions, which are compared repetition by
//! repetition.
//!
//! * [`stream`]: outcome of a simulated or real stream.
//! * [`metric`]: metrics of streams.
//! * [`paired`]: two means with intervals, and the change between the means.
//! * [`crosscheck`]: comparison of a simulated with an emulated scenario.
//! * [`agent`]: comparison of real senders without and with the agent.

pub mod agent;
pub mod crosscheck;
pub mod metric;
pub mod paired;
pub mod stream;

pub use stream::StreamOutcome;
