//! User timeout (RFC 9293 §3.8.3, RFC 5482).

use crate::config::UserTimeouts;
use lasthop_base::{Duration, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    Continue,
    /// R2 has elapsed: the connection aborts.
    Abort,
}

/// A stall: consecutive expiries of the retransmission timer for the same data.
#[derive(Clone, Copy, Debug)]
struct Stall {
    /// Offset of the first outstanding byte, constant during a stall; 0 before the first stall. Only the first expiry
    /// of a stall reduces ssthresh.
    una: u64,
    /// Start time of the timer whose first expiry began the stall.
    since: Time,
    expiries: u32,
}

/// Limits R1 and R2 (RFC 9293 §3.8.3), and the current stall. R1 is a number of expiries; R2 is a duration.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct UserTimeout {
    stall: Stall,
    r1_expiries: u32,
    /// Duration of R2; [`Duration::MAX`] means no limit.
    abort_after: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Expired {
    pub(super) first: bool,
    /// Whether this expiry reaches R1, so that the path may be broken.
    pub(super) reached_r1: bool,
    /// Time at which the connection aborts (R2).
    pub(super) end: Time,
}

impl UserTimeout {
    pub(super) fn new(user_timeouts: &UserTimeouts) -> UserTimeout {
        UserTimeout {
            stall: Stall { una: 0, since: Time::ZERO, expiries: 0 },
            r1_expiries: user_timeouts.r1,
            abort_after: user_timeouts.data.unwrap_or(Duration::MAX),
        }
    }

    /// Sets R2; `None` means no limit.
    pub(super) fn set_limit(&mut self, limit: Option<Duration>) {
        self.abort_after = limit.unwrap_or(Duration::MAX);
    }

    pub(super) fn has_reached_r1(&self, una: u64) -> bool {
        una == self.stall.una && self.stall.expiries >= self.r1_expiries
    }

    /// Time at which the connection aborts (R2), if the peer has been silent since `silent_since`.
    pub(super) fn ends(&self, silent_since: Time) -> Time {
        silent_since + self.abort_after
    }

    /// Handles an expiry of the retransmission timer after `rto`; `None` means abort. `una`: first outstanding byte.
    /// `heard_at`: time of the last segment from a receiver with a closed window, otherwise `None`. Such a segment
    /// restarts R2, because the receiver is alive (RFC 9293 §3.8.6).
    pub(super) fn expire(
        &mut self,
        now: Time,
        rto: Duration,
        una: u64,
        heard_at: Option<Time>,
    ) -> Option<Expired> {
        let before = Some(self.stall).filter(|stall| stall.una == una);
        let stall = before.unwrap_or(Stall { una, since: now - rto, expiries: 0 });
        let end = self.ends(heard_at.map_or(stall.since, |heard_at| stall.since.max(heard_at)));
        if now >= end {
            return None;
        }
        let expiries = stall.expiries.saturating_add(1);
        self.stall = Stall { expiries, ..stall };
        Some(Expired { first: before.is_none(), reached_r1: expiries == self.r1_expiries, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Duration::from_secs(secs)
    }

    /// R1 = 3 is reached at the third expiry for the same data. R2 = 10 s ends ten seconds after the start of the timer
    /// that expired first.
    #[test]
    fn r1_and_r2_count_what_does_not_move() {
        let limit = Duration::from_secs(10);
        let user_timeouts = UserTimeouts { r1: 3, data: Some(limit), ..UserTimeouts::default() };
        let mut user_timeout = UserTimeout::new(&user_timeouts);
        let second = Duration::from_secs(1);
        let mut expire = |now, una| user_timeout.expire(at(now), second, una, None);
        assert_eq!(expire(1, 5), Some(Expired { first: true, reached_r1: false, end: at(10) }));
        assert_eq!(expire(3, 5), Some(Expired { first: false, reached_r1: false, end: at(10) }));
        assert_eq!(expire(7, 5), Some(Expired { first: false, reached_r1: true, end: at(10) }));
        // An ACK has advanced the first outstanding byte from 5 to 6, so a new stall begins and R2 starts anew.
        assert_eq!(expire(9, 6), Some(Expired { first: true, reached_r1: false, end: at(18) }));
        assert_eq!(expire(18, 6), None);
    }

    /// R2 counts from the receiver's last segment while its window is closed (RFC 9293 §3.8.6): 8 s + 10 s = 18 s.
    #[test]
    fn a_closed_window_is_no_silence() {
        let user_timeouts = UserTimeouts { data: Some(Duration::from_secs(10)), ..UserTimeouts::default() };
        let mut user_timeout = UserTimeout::new(&user_timeouts);
        let second = Duration::from_secs(1);
        user_timeout.expire(at(1), second, 5, None);
        let expired = user_timeout.expire(at(11), second, 5, Some(at(8)));
        assert_eq!(expired.map(|expired| expired.end), Some(at(18)));
    }
}
