//! Keep-alive (RFC 9293 §3.8.4): is the peer still there? Asked on connections that are idle, if the application wants it.

use super::{Ended, Endpoint, Special};
use lasthop_base::{Duration, Time};

/// How an idle connection is asked whether its peer is still there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct KeepAlive {
    /// How long nothing must have come from the peer before it is asked (RFC 9293 §3.8.4: at least 2 h by default).
    pub idle: Duration,
    /// How long an answer may take before it is asked again.
    pub interval: Duration,
    /// How many questions in a row may stay unanswered, at least 1; one more interval, and the connection is over.
    pub probes: u32,
}

impl Default for KeepAlive {
    /// 2 h, 75 s, 9 probes: Linux's.
    fn default() -> KeepAlive {
        KeepAlive { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 }
    }
}

impl Endpoint {
    /// Sets the timer of the next look, if the connection is open and is to be looked after.
    pub(super) fn watch_peer(&mut self, now: Time) {
        if let Some(keep_alive) = self.config.keep_alive.filter(|_| self.is_synchronised()) {
            self.set_own_timer((self.heard_at + keep_alive.idle).max(now));
        }
    }

    /// The time for a look has come. It was set long ago: what came from the peer since then puts it off.
    pub(super) fn look_after_peer(&mut self, now: Time) {
        self.own_timer = Time::NEVER;
        let Some(keep_alive) = self.config.keep_alive else { return };
        if self.heard_at >= self.asked_at {
            self.unanswered = 0;
        }
        let idle_until = self.heard_at + keep_alive.idle;
        if self.sending.outstanding() > 0 {
            // Data that waits for its acknowledgement asks by itself.
            self.set_own_timer(idle_until.max(now + keep_alive.interval));
            return;
        }
        if self.unanswered == 0 && now < idle_until {
            self.set_own_timer(idle_until);
            return;
        }
        if self.unanswered >= keep_alive.probes.max(1) {
            self.reset_peer();
            return self.end(Ended::TimedOut);
        }
        self.unanswered += 1;
        self.asked_at = now;
        self.special = Some(Special::KeepAlive);
        self.set_own_timer(now + keep_alive.interval);
    }
}
