//! What limits a sender, and for how long: as Linux counts it for `tcp_info` (`tcp_chrono`: `tcpi_busy_time`,
//! `tcpi_rwnd_limited`), with cwnd and the application as states of their own.
//!
//! The state is that in which sending has stopped last; it holds until sending stops in another one. Where both windows
//! are full it is cwnd, as in Linux.

use super::Sender;
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

/// Since when the state holds that [`Sender`] keeps, and the sums of those before it.
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

    fn until(&self, now: Time, by: Option<Limit>) -> Limited {
        let mut limited = self.before;
        if let Some(limit) = by {
            limited.add(limit, now.since(self.since));
        }
        limited
    }
}

impl Sender {
    /// How long each limit has kept it from sending, from the end of the handshake to `now`.
    pub fn limited(&self, now: Time) -> Limited {
        self.waiting.until(now, self.waits_for)
    }

    #[cold]
    fn turn(&mut self, now: Time, limit: Limit) {
        self.waiting = Waiting { since: now, before: self.limited(now) };
        self.waits_for = Some(limit);
    }

    /// No more can be sent now, because of this.
    #[inline]
    pub(super) fn wait_for(&mut self, now: Time, limit: Limit) {
        if self.waits_for != Some(limit) {
            self.turn(now, limit);
        }
        if self.watches && limit == Limit::Application {
            self.note_silence();
        }
    }
}
