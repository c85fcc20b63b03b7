//! The wall clock, as the pure crates count time.

use lasthop_base::Time;
use std::time::Instant;

/// Counts from a start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that begins now.
    #[expect(clippy::new_without_default, reason = "it reads the time: no default value does")]
    pub fn new() -> Clock {
        Clock { start: Instant::now() }
    }

    /// Time since the start (monotonic).
    pub fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
