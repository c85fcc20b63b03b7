//! Restart after idle (RFC 5681 §4.1): after a pause, cwnd no longer reflects the state of the network.

use lasthop_base::{Duration, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    /// Start of the idle time: time at which the last acknowledged data was sent. Set when no data is outstanding.
    since: Time,
    /// Restart window, bytes; [`CWND_STAYS`] if cwnd does not restart after idle.
    window: u64,
}

/// Restart window that no cwnd exceeds, so that cwnd never restarts.
const CWND_STAYS: u64 = u64::MAX;

impl Idle {
    pub(super) fn new(window: Option<u64>) -> Idle {
        Idle { since: Time::NEVER, window: window.unwrap_or(CWND_STAYS) }
    }

    #[inline(always)]
    pub(super) fn begin(&mut self, sent_at: Time) {
        self.since = sent_at;
    }

    /// Returns the restart window if cwnd is larger and nothing was sent for longer than the RTO.
    pub(super) fn restart_window(&self, now: Time, cwnd: u64, rto: Duration) -> Option<u64> {
        (cwnd > self.window && now.since(self.since) > rto).then_some(self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5681 §4.1: after an idle time longer than the RTO, cwnd becomes the restart window, RW = min(IW, cwnd).
    #[test]
    fn a_large_window_restarts_after_a_timeout() {
        let (at, rto) = (|secs| Time::ZERO + Duration::from_secs(secs), Duration::from_secs(1));
        let mut idle = Idle::new(Some(4000));
        idle.begin(at(10));
        assert_eq!(idle.restart_window(at(11), 9000, rto), None);
        assert_eq!(idle.restart_window(at(12), 9000, rto), Some(4000));
        assert_eq!(idle.restart_window(at(12), 3000, rto), None, "cwnd is below the restart window");
        let mut kept = Idle::new(None);
        kept.begin(at(10));
        assert_eq!(kept.restart_window(at(99), 9000, rto), None);
    }
}
