//! Tools around a simulation run: repetitions, confidence intervals, comparisons, papers, benchmarks and reports.
//!
//! * [`repeat`]: repetitions on all cores.
//! * [`in_order`]: jobs on several threads, whose results are returned in the order of the jobs.
//! * [`stats`]: means with confidence intervals.
//! * [`change`]: changes between means.
//! * [`runs`]: results of one scenario.
//! * [`compare`]: variants of a scenario, compared repetition by repetition.
//! * [`mod@bench`]: benchmarks of the simulator.
//! * [`cost`]: estimates of the time and memory of runs.
//! * [`item`]: a published number with our measurement.
//! * [`papers`]: the papers. Each paper is a folder.
//! * [`trials`]: pairs of TCP measurements under two conditions, of which at least one has real traffic. The conditions
//!   are simulated and emulated, or without and with the agent.
//! * [`document`]: content of reports.
//! * [`figure`]: figures of reports.
//! * [`overview`]: first screen of a report.
//! * [`report`]: HTML of reports.
//! * [`digest`]: keys of stored results.
//! * [`progress`]: progress of long computations.

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
