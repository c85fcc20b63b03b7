//! Engine of a web page. A request is JSON. An answer is a JSON header followed by columns of numbers.
//!
//! * [`Lab`]: answers requests. `Lab` stores the page's files, the current run, and outcomes.
//! * [`request`]: fields of each request.
//! * [`answer`]: format of answers.
//! * `catalogue`: mechanisms, ready paths and metrics, with descriptions.
//! * `path`: parts of a scenario that a page draws.
//! * `run`: a run that is executed in slices. Between two slices, the page can replace the run.
//! * `samples`: samples of a run as columns.
//! * `charts`: charts of the newest runs.
//! * `hops`: recording of each packet's passage over each link, for animation.
//! * `story`: history of one segment.
//! * `intervals`: means and confidence intervals over the stored outcomes.
//! * `exports`: the three functions that a page calls. This module exists only on wasm32.
//!
//! The crate accesses neither a clock nor a disk. The page provides files. Scenarios look as on the command line.

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
