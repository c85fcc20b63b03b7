//! Virtual time of runs in progress, and a flag that requests the early end of these runs.

use lasthop_base::Duration;
use lasthop_sim::SteppedRun;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of events that a run simulates between two checks of the flag `stop`. The simulation of these events takes a
/// few milliseconds.
const EVENTS_PER_STEP: usize = 20_000;

/// Total virtual time that the runs on all threads have simulated so far, and a flag that requests the early end of the
/// runs.
#[derive(Default, Debug)]
pub struct VirtualClock {
    simulated_us: AtomicU64,
    total_s: f64,
    stop: AtomicBool,
}

impl VirtualClock {
    /// Returns a clock for runs of these durations.
    pub fn of(durations: impl Iterator<Item = Duration>) -> VirtualClock {
        VirtualClock { total_s: durations.map(Duration::as_secs).sum(), ..VirtualClock::default() }
    }

    /// Returns the virtual time that all runs together have simulated, s.
    pub fn simulated_s(&self) -> f64 {
        self.simulated_us.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Returns the sum of the durations of all runs, s.
    pub fn total_s(&self) -> f64 {
        self.total_s
    }

    /// Requests that runs in progress end early. The results of a run that ends early cover the virtual time up to its
    /// end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Advances a run to its end, or until [`VirtualClock::stop`] is called. Returns whether the run reached its end.
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
