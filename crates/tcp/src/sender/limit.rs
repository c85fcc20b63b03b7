//! What limits a sender, and for how long: as Linux counts it for `tcp_info` (`tcp_chrono`: `tcpi_busy_time`,
//! `tcpi_rwnd_limited`), with cwnd and the application as states of their own.
//!
//! The state is that in which sending has stopped last; it holds until sending stops in another one. Where both windows
//! are full it is cwnd, as in Linux.

use lasthop_base::{Duration, Time};

/// What keeps a sender from sending more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The application: there is nothing new to send, or less than Nagle's algorithm lets go.
    Application,
    /// cwnd: the network as the sender sees it, repairs and timeouts included.
    Congestion,
    /// The receiver's window.
    Receiver,
}

/// How long each of them has done so.
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
    /// How long after `before`.
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

/// Time since which the state holds that [`Sender`](super::Sender) keeps, and the sums of those before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    since: Time,
    before: Limited,
}

impl Waiting {
    pub(super) const NOT_YET: Waiting = Waiting {
        since: Time::ZERO,
        before: Limited { application: Duration::ZERO, congestion: Duration::ZERO, receiver: Duration::ZERO },
    };

    /// Sums up to `now`, where the state `by` holds.
    pub(super) fn until(&self, now: Time, by: Option<Limit>) -> Limited {
        let mut limited = self.before;
        if let Some(limit) = by {
            limited.add(limit, now.since(self.since));
        }
        limited
    }

    /// The state `by` ends.
    pub(super) fn turn(&mut self, now: Time, by: Option<Limit>) {
        *self = Waiting { since: now, before: self.until(now, by) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans add up to the time since the first state began.
    #[test]
    fn each_state_gets_its_span() {
        let (at, secs) = (|secs| Time::ZERO + Duration::from_secs(secs), Duration::from_secs);
        let mut waiting = Waiting::NOT_YET;
        waiting.turn(at(2), None);
        waiting.turn(at(5), Some(Limit::Congestion));
        waiting.turn(at(6), Some(Limit::Receiver));
        let limited = waiting.until(at(10), Some(Limit::Congestion));
        assert_eq!(limited, Limited { application: Duration::ZERO, congestion: secs(7), receiver: secs(1) });
        assert_eq!(waiting.until(at(10), None).congestion, secs(3));
    }
}
