//! Keep-alive (RFC 9293 §3.8.4): the peer of an idle connection is asked whether it is still there, if the application wants it.

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

/// Questions whether the peer is still there.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Questions {
    /// When the last one was sent.
    asked_at: Time,
    /// Number of them in a row that were not answered.
    unanswered: u32,
}

/// Conclusion when an idle connection is looked after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    /// The next look is due at this time.
    Wait(Time),
    /// The peer is asked now; the next look is due at this time.
    Ask(Time),
    /// The peer has not answered for too long.
    GiveUp,
}

impl Questions {
    /// Nothing was asked.
    pub(super) const NONE: Questions = Questions { asked_at: Time::ZERO, unanswered: 0 };

    /// No question is open any more.
    pub(super) fn forget(&mut self) {
        self.unanswered = 0;
    }

    /// The time for a look has come. It was set long ago: the peer's last segment, at `heard_at`, puts it off. `waits`: data
    /// that waits for its acknowledgement asks by itself.
    pub(super) fn look(&mut self, now: Time, heard_at: Time, waits: bool, rules: &KeepAlive) -> Look {
        if heard_at >= self.asked_at {
            self.unanswered = 0;
        }
        let idle_until = heard_at + rules.idle;
        if waits {
            return Look::Wait(idle_until.max(now + rules.interval));
        }
        if self.unanswered == 0 && now < idle_until {
            return Look::Wait(idle_until);
        }
        if self.unanswered >= rules.probes.max(1) {
            return Look::GiveUp;
        }
        self.unanswered += 1;
        self.asked_at = now;
        Look::Ask(now + rules.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9293 §3.8.4: asked only when idle, again after each interval, and given up after the last unanswered question.
    #[test]
    fn a_silent_peer_is_given_up_and_one_that_answers_is_not() {
        let (at, secs) = (|secs| Time::ZERO + Duration::from_secs(secs), Duration::from_secs);
        let rules = KeepAlive { idle: secs(100), interval: secs(10), probes: 2 };
        let mut questions = Questions::NONE;
        assert_eq!(questions.look(at(50), at(20), false, &rules), Look::Wait(at(120)));
        assert_eq!(questions.look(at(120), at(20), true, &rules), Look::Wait(at(130)), "data asks");
        assert_eq!(questions.look(at(120), at(20), false, &rules), Look::Ask(at(130)));
        assert_eq!(questions.look(at(130), at(121), false, &rules), Look::Wait(at(221)), "it has answered");
        assert_eq!(questions.look(at(221), at(121), false, &rules), Look::Ask(at(231)));
        assert_eq!(questions.look(at(231), at(121), false, &rules), Look::Ask(at(241)));
        assert_eq!(questions.look(at(241), at(121), false, &rules), Look::GiveUp);
    }
}
