//! Reaction to a loss that is not attributed to congestion: the sender retransmits the segment, and cwnd and ssthresh
//! stay.
//!
//! cwnd does not grow during the recovery. After the recovery, slow start or congestion avoidance continues.

use super::{CongestionControl, Level, Recovered, Reno};

/// Values of cwnd and ssthresh at the start of a recovery from a loss without congestion; `None` in any other state.
#[derive(Debug, Default)]
pub(super) struct NonCongestion {
    level: Option<Level>,
}

impl NonCongestion {
    pub(super) fn note(&mut self, reno: &Reno) {
        self.level.get_or_insert(Level { window: reno.window(), ssthresh: reno.ssthresh() });
    }

    pub(super) fn forget(&mut self) {
        self.level = None;
    }

    pub(super) fn on_recovered(&mut self, reno: &mut Reno, flight: u64, recovered: Recovered) {
        match (self.level.take(), recovered) {
            (Some(level), Recovered::Kept) => {
                // A mark may have reduced cwnd and ssthresh during the recovery. That reduction remains.
                let ssthresh = level.ssthresh.min(reno.ssthresh());
                reno.set_ssthresh(ssthresh);
                reno.set_cwnd(level.window.min(reno.window()) as f64);
            }
            _ => reno.on_recovered(flight, recovered),
        }
    }
}
