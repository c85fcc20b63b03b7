//! Loss that is not attributed to congestion: the segment is retransmitted, and cwnd and ssthresh stay.
//!
//! Both stay during the recovery, in which nothing grows. Afterwards slow start or avoidance continues.

use super::{CongestionControl, Level, Recovered, Reno};

/// Level at the start of a recovery from such a loss; `None` while there is no such recovery.
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
                // If a mark has reduced the window meanwhile, that reduction remains.
                let ssthresh = level.ssthresh.min(reno.ssthresh());
                reno.set_ssthresh(ssthresh);
                reno.set_cwnd(level.window.min(reno.window()) as f64);
            }
            _ => reno.on_recovered(flight, recovered),
        }
    }
}
