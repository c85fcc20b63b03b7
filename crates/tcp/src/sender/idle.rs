//! Restart after idle (RFC 5681 §4.1): nothing was sent for a while, and cwnd says little of the path.

use super::Sender;
use lasthop_base::Time;

/// Since when nothing is outstanding, and what cwnd falls back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    /// When the newest of the data that was acknowledged last was sent, if all is acknowledged.
    pub(super) since: Time,
    /// The restart window, bytes; [`CWND_STAYS`].
    pub(super) window: u64,
}

/// No window is larger than this one.
pub(super) const CWND_STAYS: u64 = u64::MAX;

impl Sender {
    /// If nothing was sent for longer than a timeout, what cwnd says of the path is old. The segment that is on its way out
    /// fits any window. A sender that a closed window freezes was not idle while it probed that.
    #[cold]
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        let window = self.idle.window;
        if self.window.bytes() > window
            && now.since(self.idle.since) > self.rtt.rto()
            && !self.persist.was_frozen()
        {
            self.window.on_idle(window);
        }
    }
}
