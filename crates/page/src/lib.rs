//! The engine of a web page. Requests are JSON; an answer is a JSON header followed by columns of numbers.
//!
//! * [`Lab`]: answers requests. It stores the page's files, the current run, and outcomes.
//! * [`request`]: the fields of each request; [`answer`]: the format of answers.
//! * `catalogue`: mechanisms, ready paths and metrics with descriptions; `path`: the parts of a scenario for drawing.
//! * `run`: a run in slices, so that a newer run can replace it; `samples`: the samples of its probes as columns.
//! * `charts`: curves of the newest runs; `hops`: packets on links, for animation; `story`: the history of one segment.
//! * `intervals`: means and confidence intervals over stored outcomes.
//! * `exports`: the three functions that a page calls; only on wasm32.
//!
//! The crate reads neither a clock nor a disk. Files come from the page. Scenarios use the same language as on the
//! command line.

pub mod answer;
mod catalogue;
mod charts;
#[cfg(target_family = "wasm")]
mod exports;
mod files;
mod hops;
mod intervals;
mod lab;
mod path;
pub mod request;
mod request_error;
mod run;
mod samples;
mod story;

pub use lab::Lab;
