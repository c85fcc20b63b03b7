//! Restart after idle (RFC 5681 §4.1): nothing was sent for a while, and cwnd says little of the path.

use super::Sender;
use lasthop_base::Time;

/// Since when nothing is outstanding, and what cwnd falls back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    /// When the newest of the data that was acknowledged last was sent, if all is acknowledged.
    pub(super) since: Time,
    /// The restart window, bytes; `None`: cwnd stays.
    pub(super) window: Option<u64>,
}

impl Sender {
    /// If nothing was sent for longer than a timeout, what cwnd says of the path is old. The segment that is on its way out
    /// fits any window. A sender that a closed window freezes was not idle while it probed that.
    #[cold]
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        if let Some(window) = self.idle.window
            && now.since(self.idle.since) > self.rtt.rto()
            && self.cwnd > window
            && !self.persist.was_frozen()
        {
            self.congestion.on_idle(window);
            self.cwnd = self.congestion.window();
        }
    }

    /// Whether the window may not grow: less than half of it was in use when the ACK came (RFC 7661 §4.4.1).
    pub(super) fn leaves_window_unused(&self, flight: u64) -> bool {
        self.validates && flight.saturating_mul(2) < self.cwnd
    }
}
