//! Everything around a simulation run: repetitions, confidence intervals, comparisons, papers, benchmarks and reports.
//!
//! * [`repeat`]: repetitions on all cores. [`in_order`]: work on several threads whose results arrive in order.
//! * [`stats`]: means with confidence intervals. [`change`]: changes between means.
//! * [`runs`]: results of one scenario. [`compare`]: variants of a scenario, compared repetition by repetition.
//!   [`mod@bench`]: benchmarks. [`cost`]: estimated time and memory of runs.
//! * [`item`]: a published number with our measurement. [`papers`]: the papers, each of which is a folder.
//! * [`trials`]: real TCP traffic under two conditions: simulated and emulated, or without and with the agent.
//! * [`document`]: content of reports. [`figure`]: figures. [`overview`]: first screen. [`report`]: HTML.
//! * [`digest`]: keys of stored results. [`progress`]: progress of long computations.

pub mod advise;
pub mod assertion;
pub mod bench;
pub mod compare;
pub mod cost;
pub mod digest;
pub mod document;
pub mod in_order;
pub mod item;
pub mod overview;
pub mod papers;
pub mod progress;
pub mod ranking;
pub mod repeat;
pub mod report;
pub mod runs;
pub mod study;
pub mod trials;

pub use lasthop_charts::{figure, plot};
pub use lasthop_stats as stats;
pub use lasthop_stats::change;
