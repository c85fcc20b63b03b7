//! Everything around a run: repetitions and intervals, comparisons, the papers, benchmarks, reports.
//!
//! * [`repeat`]: repetitions on all cores; [`in_order`]: the same, one finished result after the other; [`stats`]: means with their intervals (a crate of
//!   its own); [`change`]: one mean against another.
//! * [`runs`]: what is shown of one scenario's repetitions; [`compare`]: values beside each other, paired; [`mod@bench`]: speed; [`cost`]: what runs will take.
//! * [`item`]: a published number beside ours; [`papers`]: the papers, each a folder.
//! * [`trials`]: streams of real TCP in two ways beside each other: simulated and emulated, without the agent and with it.
//! * [`document`], [`figure`], [`overview`], [`report`]: what a report says, what it draws, what it shows first, and the HTML for it.
//! * [`digest`]: the key of what decides a result.
//! * [`progress`]: how far a long computation has come.

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
