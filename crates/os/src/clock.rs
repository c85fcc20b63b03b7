//! Monotonic clock that returns the time as `lasthop_base::Time`.

use lasthop_base::Time;
use std::time::Instant;

/// Monotonic clock whose time zero is its creation.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Creates a clock that starts now.
    #[expect(clippy::new_without_default, reason = "the constructor reads the time, unlike a default value")]
    pub fn new() -> Clock {
        Clock { start: Instant::now() }
    }

    /// Time since the start (monotonic).
    pub fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
