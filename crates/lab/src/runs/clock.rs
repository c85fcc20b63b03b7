//! Virtual time of runs in progress, and the request to end them early.

use lasthop_base::Duration;
use lasthop_sim::SteppedRun;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of events that a run simulates between two checks of `stop`. Simulating these events takes some
/// milliseconds.
const EVENTS_PER_STEP: usize = 20_000;

/// Virtual time that runs on several threads have simulated.
#[derive(Default, Debug)]
pub struct VirtualClock {
    simulated_us: AtomicU64,
    total_s: f64,
    stop: AtomicBool,
}

impl VirtualClock {
    /// A clock for runs of these durations.
    pub fn of(durations: impl Iterator<Item = Duration>) -> VirtualClock {
        VirtualClock { total_s: durations.map(Duration::as_secs).sum(), ..VirtualClock::default() }
    }

    /// Virtual time that has been simulated, s, over all runs.
    pub fn simulated_s(&self) -> f64 {
        self.simulated_us.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Sum of the durations of all runs, s.
    pub fn total_s(&self) -> f64 {
        self.total_s
    }

    /// Asks runs in progress to end early. Their results then cover the time that has been simulated.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Advances a run to its end, or until [`VirtualClock::stop`]. Returns whether the run reached its end.
    pub(super) fn drive(&self, running: &mut SteppedRun<'_>) -> bool {
        let mut counted = 0;
        loop {
            let has_more = running.advance(EVENTS_PER_STEP);
            let now = (running.now().as_secs() * 1e6) as u64;
            self.simulated_us.fetch_add(now - counted, Ordering::Relaxed);
            counted = now;
            if !has_more {
                return true;
            }
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
        }
    }
}
