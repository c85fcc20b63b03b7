//! Everything around a run: repetitions and intervals, comparisons, papers, benchmarks, reports.
//!
//! * [`repeat`]: repetitions on all cores; [`in_order`]: results in order, as they finish.
//! * [`stats`]: means and intervals; [`change`]: changes between means.
//! * [`runs`]: results of one scenario; [`compare`]: paired scenario variants; [`mod@bench`]: benchmarks; [`cost`]:
//!   estimated cost.
//! * [`item`]: a published number with our measurement; [`papers`]: the papers, one folder each.
//! * [`trials`]: real TCP traffic under two conditions: simulated and emulated, without and with the agent.
//! * [`document`], [`figure`], [`overview`], [`report`]: content, figures, overview and HTML of reports.
//! * [`digest`]: cache keys; [`progress`]: progress of long computations.

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

pub use lasthop_charts::figure;
pub use lasthop_stats as stats;
pub use lasthop_stats::change;
