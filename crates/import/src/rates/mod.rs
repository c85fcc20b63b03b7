//! Converts throughput over time to a trace of packet delivery opportunities, in Mahimahi's format.

mod columns;
pub(crate) mod csv;
pub(crate) mod iperf3;
pub(crate) mod mahimahi;
pub mod opportunities;
mod rate_series;
mod time_format;

pub(crate) use opportunities::Opportunities;
