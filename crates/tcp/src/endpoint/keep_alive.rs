//! Keep-alive probes for idle connections (RFC 9293 §3.8.4).

use lasthop_base::{Duration, Time};

/// Parameters of keep-alive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct KeepAlive {
    /// Idle time before the first probe (RFC 9293 §3.8.4: at least 2 h by default).
    pub idle: Duration,
    /// Time between probes.
    pub interval: Duration,
    /// Number of unanswered probes, at least 1. The connection aborts one interval after the last probe.
    pub probes: u32,
}

impl Default for KeepAlive {
    /// Linux's values: 2 h idle, an interval of 75 s, 9 probes.
    fn default() -> KeepAlive {
        KeepAlive { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 }
    }
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct KeepAliveProbes {
    probed_at: Time,
    unanswered: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Check {
    /// No probe is due. The value is the time of the next check.
    Wait(Time),
    /// A probe is due. The value is the time of the next check.
    Probe(Time),
    /// The connection must abort, because too many probes are unanswered.
    Abort,
}

impl KeepAliveProbes {
    pub(super) const NONE: KeepAliveProbes = KeepAliveProbes { probed_at: Time::ZERO, unanswered: 0 };

    pub(super) fn reset(&mut self) {
        self.unanswered = 0;
    }

    /// Checks whether a probe or the abort of the connection is due. `last_arrival`: time of the peer's last segment;
    /// `waits`: whether data is unacknowledged.
    pub(super) fn check(&mut self, now: Time, last_arrival: Time, waits: bool, rules: &KeepAlive) -> Check {
        if last_arrival >= self.probed_at {
            self.unanswered = 0;
        }
        let idle_until = last_arrival + rules.idle;
        if waits {
            return Check::Wait(idle_until.max(now + rules.interval));
        }
        if self.unanswered == 0 && now < idle_until {
            return Check::Wait(idle_until);
        }
        if self.unanswered >= rules.probes.max(1) {
            return Check::Abort;
        }
        self.unanswered += 1;
        self.probed_at = now;
        Check::Probe(now + rules.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9293 §3.8.4: probes are sent only when the connection is idle, and repeated after each interval. After the
    /// last unanswered probe the connection aborts.
    #[test]
    fn a_silent_peer_is_given_up_and_one_that_answers_is_not() {
        let (at, secs) = (|secs| Time::ZERO + Duration::from_secs(secs), Duration::from_secs);
        let rules = KeepAlive { idle: secs(100), interval: secs(10), probes: 2 };
        let mut probes = KeepAliveProbes::NONE;
        assert_eq!(probes.check(at(50), at(20), false, &rules), Check::Wait(at(120)));
        assert_eq!(
            probes.check(at(120), at(20), true, &rules),
            Check::Wait(at(130)),
            "outstanding data: no keep-alive probe"
        );
        assert_eq!(probes.check(at(120), at(20), false, &rules), Check::Probe(at(130)));
        assert_eq!(
            probes.check(at(130), at(121), false, &rules),
            Check::Wait(at(221)),
            "the peer has answered"
        );
        assert_eq!(probes.check(at(221), at(121), false, &rules), Check::Probe(at(231)));
        assert_eq!(probes.check(at(231), at(121), false, &rules), Check::Probe(at(241)));
        assert_eq!(probes.check(at(241), at(121), false, &rules), Check::Abort);
    }
}
