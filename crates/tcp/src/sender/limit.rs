//! Time for which cwnd, the receiver's window or the application limits a sender. Linux reports similar times in
//! `tcp_info` (`tcpi_busy_time`, `tcpi_rwnd_limited`), but does not distinguish limits by cwnd from limits by the
//! application.
//!
//! A limit lasts until another limit stops the sender. If both windows are full, cwnd counts as the limit, as in Linux.

use lasthop_base::{Duration, Time};

/// Reason why a sender cannot send more now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The application has no new data, or Nagle's algorithm delays the data.
    Application,
    /// cwnd is full. The time of recoveries and timeouts also counts as limited by cwnd.
    Congestion,
    /// The receiver's window is full.
    Receiver,
}

/// Total time for which each limit applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limited {
    /// Time under [`Limit::Application`].
    pub application: Duration,
    /// Time under [`Limit::Congestion`].
    pub congestion: Duration,
    /// Time under [`Limit::Receiver`].
    pub receiver: Duration,
}

impl Limited {
    /// Increase of each time since the earlier times `before`.
    pub fn since(&self, before: &Limited) -> Limited {
        Limited {
            application: self.application.saturating_sub(before.application),
            congestion: self.congestion.saturating_sub(before.congestion),
            receiver: self.receiver.saturating_sub(before.receiver),
        }
    }

    fn add(&mut self, limit: Limit, span: Duration) {
        let total = match limit {
            Limit::Application => &mut self.application,
            Limit::Congestion => &mut self.congestion,
            Limit::Receiver => &mut self.receiver,
        };
        *total += span;
    }
}

/// Start time of the current limit, and total times of the earlier limits. [`Sender`](super::Sender) holds the current
/// limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitTimer {
    since: Time,
    before: Limited,
}

impl LimitTimer {
    pub(super) const NOT_YET: LimitTimer = LimitTimer {
        since: Time::ZERO,
        before: Limited { application: Duration::ZERO, congestion: Duration::ZERO, receiver: Duration::ZERO },
    };

    /// Total times up to `now`, where `by` is the current limit.
    pub(super) fn until(&self, now: Time, by: Option<Limit>) -> Limited {
        let mut limited = self.before;
        if let Some(limit) = by {
            limited.add(limit, now.since(self.since));
        }
        limited
    }

    pub(super) fn change_limit(&mut self, now: Time, by: Option<Limit>) {
        *self = LimitTimer { since: now, before: self.until(now, by) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_gets_its_span() {
        let (at, secs) = (|secs| Time::ZERO + Duration::from_secs(secs), Duration::from_secs);
        let mut limit_timer = LimitTimer::NOT_YET;
        limit_timer.change_limit(at(2), None);
        limit_timer.change_limit(at(5), Some(Limit::Congestion));
        limit_timer.change_limit(at(6), Some(Limit::Receiver));
        let limited = limit_timer.until(at(10), Some(Limit::Congestion));
        assert_eq!(limited, Limited { application: Duration::ZERO, congestion: secs(7), receiver: secs(1) });
        assert_eq!(limit_timer.until(at(10), None).congestion, secs(3));
    }
}
