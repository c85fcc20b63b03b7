//! The engine behind a page: a request as JSON in, a header as JSON and columns of numbers out.
//!
//! * [`Lab`]: takes requests; what it keeps between them is the files it was given, the run under way, and the outcomes.
//! * [`request`]: what can be asked, field by field; [`answer`]: the form of answers.
//! * `catalogue`: mechanisms, ready paths and numbers in words; `path`: a scenario as it is drawn.
//! * `run`: a run in slices, so that a newer one can take its place; `samples`: its probes as columns.
//! * `charts`: the curves of the newest runs, drawn; `hops`: packets on links, to be drawn as they move; `story`: what
//!   became of one segment.
//! * `intervals`: means over the outcomes that were kept.
//! * `exports`: the three names that a page calls; on wasm32 alone.
//!
//! Nothing here reads a clock or a disk: files come from the page, scenarios are in the language of the command line.

pub mod answer;
mod catalogue;
mod charts;
#[cfg(target_family = "wasm")]
mod exports;
mod hops;
mod intervals;
mod lab;
mod path;
mod problem;
pub mod request;
mod run;
mod samples;
mod shelf;
mod story;

pub use lab::Lab;
