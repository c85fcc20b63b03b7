//! A loss that its control does not take for congestion: what is lost goes again, window and threshold stay.
//!
//! They stay over the recovery, too, in which nothing grows; then slow start or avoidance goes on where it was.

use super::{CongestionControl, Level, Recovered, Reno};

/// The loss that is being repaired, if it is such a one.
#[derive(Debug, Default)]
pub(super) struct Harmless {
    level: Option<Level>,
}

impl Harmless {
    /// A loss that costs nothing.
    pub(super) fn note(&mut self, reno: &Reno) {
        self.level.get_or_insert(Level { window: reno.window(), ssthresh: reno.ssthresh() });
    }

    /// One that costs something, or a timeout.
    pub(super) fn forget(&mut self) {
        self.level = None;
    }

    /// Recovery is over.
    pub(super) fn on_recovered(&mut self, reno: &mut Reno, flight: u64, recovered: Recovered) {
        match (self.level.take(), recovered) {
            (Some(level), Recovered::Kept) => {
                // What else came down meanwhile, at a mark, stays down.
                let ssthresh = level.ssthresh.min(reno.ssthresh());
                reno.set_ssthresh(ssthresh);
                reno.set(level.window.min(reno.window()) as f64);
            }
            _ => reno.on_recovered(flight, recovered),
        }
    }
}
