//! What repetitions say: means with their intervals, and one mean against another.
//!
//! * [`mean`]: a mean with Student's 95 % interval, and the linearised ratio of two.
//! * [`change`]: a ratio of means with Fieller's interval.
//!
//! No threads, no files: what runs in a page has it, too.

pub mod change;
pub mod mean;

pub use mean::{Estimate, RatioOfMeans, change_of_means, quantile};
