//! Throughput over time as a trace of opportunities to send, in Mahimahi's format.

mod clock;
mod columns;
mod course;
pub(crate) mod csv;
pub(crate) mod iperf3;
pub(crate) mod mahimahi;
pub mod opportunities;

pub(crate) use opportunities::Opportunities;
