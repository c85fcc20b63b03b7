//! Zero-window probes (RFC 9293 §3.8.6.1), sent while nothing is outstanding and the receiver's window is closed.

use super::user_timeout::{Expiry, UserTimeout};
use lasthop_base::Time;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Persist {
    /// Number of probes since the window closed. Each probe doubles the next timeout.
    probes: u32,
    is_due: bool,
    /// Whether an expiry of the retransmission timer at a zero window is not treated as a loss (Freeze-TCP, Goff et al.
    /// 2000).
    freezes: bool,
    /// Whether the retransmission timer has expired at a zero window, and the window is still closed.
    frozen: bool,
    /// Sending time of the last probe.
    probed_at: Time,
    /// Sending time of the first unanswered probe; [`Time::NEVER`] if all probes are answered.
    unanswered_since: Time,
}

impl Persist {
    pub(super) fn new(freezes: bool) -> Persist {
        let (probed_at, unanswered_since) = (Time::ZERO, Time::NEVER);
        Persist { probes: 0, is_due: false, freezes, frozen: false, probed_at, unanswered_since }
    }

    #[inline]
    pub(super) fn end(&mut self) {
        self.probes = 0;
        self.is_due = false;
    }

    #[inline]
    pub(super) fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Whether the sender uses Freeze-TCP (Goff et al. 2000) and the receiver's window is closed now.
    pub(super) fn was_frozen(&self) -> bool {
        self.freezes && self.probes > 0
    }

    /// Whether an ACK may cover the byte of a probe. The scoreboard counts this byte as sent only when it is
    /// acknowledged.
    pub(super) fn has_probed(&self) -> bool {
        self.probes > 0
    }

    pub(super) fn freezes(&self) -> bool {
        self.freezes
    }

    #[inline(always)]
    pub(super) fn permits_fast_path(&self) -> bool {
        let Persist { frozen, probes: _, is_due: _, freezes: _, probed_at: _, unanswered_since: _ } = self;
        !frozen
    }

    pub(super) fn doublings(&self) -> u32 {
        self.probes
    }

    /// Whether the persist timer has expired, so that the sender must send a probe, or data if the window permits.
    /// Clears the flag that this function returns.
    pub(super) fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.is_due)
    }

    /// Records that a probe is sent. Returns the sending time of the first unanswered probe, and whether an earlier
    /// probe carried the same byte.
    pub(super) fn probe(&mut self, now: Time) -> (Time, bool) {
        let is_retransmission = self.probes > 0;
        if !is_retransmission {
            self.unanswered_since = Time::NEVER;
        }
        self.probed_at = now;
        self.probes += 1;
        self.unanswered_since = self.unanswered_since.min(now);
        (self.unanswered_since, is_retransmission)
    }

    /// Handles an expiry of the persist timer, which is not a loss. `heard_at`: time of the peer's last segment;
    /// `waits`: whether new data waits for the receiver's window.
    pub(super) fn expire(&mut self, now: Time, heard_at: Time, waits: bool, limit: &UserTimeout) -> Expiry {
        if heard_at >= self.probed_at {
            self.unanswered_since = Time::NEVER;
        }
        let since = self.unanswered_since;
        if self.probes > 0 && since < Time::NEVER && now >= limit.ends(since) {
            return Expiry::Abort;
        }
        self.is_due = waits;
        Expiry::Continue
    }

    /// Handles an expiry of the retransmission timer at a zero window. Returns the sending time of the first unanswered
    /// probe. `None`: the user timeout has elapsed, and the connection aborts.
    pub(super) fn freeze(&mut self, now: Time, heard_at: Time, limit: &UserTimeout) -> Option<Time> {
        if !self.frozen || heard_at >= self.probed_at {
            self.unanswered_since = Time::NEVER;
        }
        self.unanswered_since = self.unanswered_since.min(now);
        if now >= limit.ends(self.unanswered_since) {
            return None;
        }
        self.probes = if self.frozen { self.probes + 1 } else { 1 };
        self.probed_at = now;
        self.frozen = true;
        Some(self.unanswered_since)
    }

    pub(super) fn thaw(&mut self) {
        (self.frozen, self.probes) = (false, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::UserTimeouts;
    use lasthop_base::Duration;

    fn at(secs: u64) -> Time {
        Time::ZERO + Duration::from_secs(secs)
    }

    fn limit() -> UserTimeout {
        UserTimeout::new(&UserTimeouts { data: Some(Duration::from_secs(10)), ..UserTimeouts::default() })
    }

    /// RFC 9293 §3.8.6.1: a connection stays open while the peer answers zero-window probes. It aborts if the peer is
    /// silent for the user timeout of 10 s.
    #[test]
    fn answered_probes_are_borne_for_ever() {
        let mut persist = Persist::new(false);
        assert_eq!(persist.probe(at(1)), (at(1), false));
        assert_eq!(persist.expire(at(20), at(2), true, &limit()), Expiry::Continue);
        assert!(persist.take_due() && !persist.take_due());
        assert_eq!(persist.probe(at(20)), (at(20), true));
        assert_eq!(persist.expire(at(29), at(2), true, &limit()), Expiry::Continue);
        assert_eq!(persist.expire(at(30), at(2), true, &limit()), Expiry::Abort);
    }

    /// Freeze-TCP: each expiry of the retransmission timer at a closed window counts as a probe and doubles the next
    /// timeout, until the window opens. After the user timeout of 10 s the connection aborts.
    #[test]
    fn a_frozen_sender_doubles_its_probes() {
        let mut persist = Persist::new(true);
        assert_eq!(persist.freeze(at(1), at(0), &limit()), Some(at(1)));
        assert_eq!((persist.doublings(), persist.permits_fast_path()), (1, false));
        assert_eq!(persist.freeze(at(3), at(0), &limit()), Some(at(1)));
        assert_eq!(persist.doublings(), 2);
        assert_eq!(persist.freeze(at(11), at(0), &limit()), None);
        persist.thaw();
        assert_eq!((persist.doublings(), persist.permits_fast_path()), (0, true));
    }
}
