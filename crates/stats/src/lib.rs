//! Statistics of repetitions: means with intervals, and changes of a mean relative to a second mean.
//!
//! * [`mean`]: a mean with Student's 95 % interval, and the ratio of two means by the delta method.
//! * [`change`]: change of a mean relative to a second mean, with Fieller's interval.
//!
//! The crate uses neither threads nor files, so that it can also run in web pages.

pub mod change;
pub mod mean;

pub use mean::{Estimate, RatioOfMeans, change_of_means, quantile};
