//! The engine behind a web page: JSON requests in, JSON headers and columns of numbers out.
//!
//! * [`Lab`]: answers requests; stores the page's files, the current run, and outcomes.
//! * [`request`]: the requests, field by field; [`answer`]: format of answers.
//! * `catalogue`: mechanisms, ready paths and metrics with descriptions; `path`: a scenario for drawing.
//! * `run`: a run in slices, so that a newer run can replace it; `samples`: its probes as columns.
//! * `charts`: curves of the newest runs; `hops`: packets on links, for animation; `story`: history of one segment.
//! * `intervals`: means over stored outcomes.
//! * `exports`: the three functions that a page calls, on wasm32 only.
//!
//! The crate reads no clock and no disk: files come from the page; scenarios use the command line's language.

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
