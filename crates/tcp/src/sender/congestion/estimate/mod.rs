//! Bandwidth estimators that use ACKs: Westwood's filter (`tustin`), Jersey's filter (`sliding`) and Westwood+'s filter
//! (`per_rtt`).

mod delivered;
mod per_rtt;
mod sliding;
mod tustin;

pub(super) use delivered::Delivered;
pub(super) use per_rtt::PerRtt;
pub(super) use sliding::Sliding;
pub(super) use tustin::Tustin;
