//! Limits of a sender and their durations, counted like Linux's `tcp_info` (`tcp_chrono`: `tcpi_busy_time`,
//! `tcpi_rwnd_limited`), with separate states for cwnd and the application.
//!
//! The state changes when another reason stops the sender. If both windows are full, the state is cwnd, as in Linux.

use lasthop_base::{Duration, Time};

/// Reason why a sender sends no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// No new data exists, or Nagle's algorithm delays it.
    Application,
    /// cwnd is full; the time of repairs and timeouts counts here, too.
    Congestion,
    /// The receiver's window is full.
    Receiver,
}

/// Duration of each limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limited {
    /// [`Limit::Application`].
    pub application: Duration,
    /// [`Limit::Congestion`].
    pub congestion: Duration,
    /// [`Limit::Receiver`].
    pub receiver: Duration,
}

impl Limited {
    /// Durations since `before`.
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

/// Start of the current state, and the sums of the earlier states. [`Sender`](super::Sender) holds the current state.
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

    /// Sums up to `now`; `by` is the current limit.
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
