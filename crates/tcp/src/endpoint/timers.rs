//! Deadlines and their handling.

use super::keep_alive::Look;
use super::{Ended, Endpoint, Special, State};
use crate::sender::Expiry;
use lasthop_base::Time;

impl Endpoint {
    /// Handles expired deadlines.
    pub fn handle_timeout(&mut self, now: Time) {
        self.clock = now;
        if !self.is_synchronised() {
            self.handshake_timeout(now);
        }
        self.receiver.handle_timeout(now);
        if self.is_synchronised() {
            let timeouts = self.log.often.timeouts;
            let expiry = match self.sending.sender_mut() {
                Some(sender) => sender.handle_timeout(now, self.heard_at, &mut self.log),
                None => Expiry::Continue,
            };
            if expiry == Expiry::Abort {
                self.end(Ended::TimedOut);
            } else if self.log.often.timeouts > timeouts {
                self.believe_claim(now);
            }
        }
        if now >= self.own_timer {
            match self.state {
                State::TimeWait => self.end(Ended::Closed),
                _ => self.look_after_peer(now),
            }
        }
    }

    /// Deadline for [`Endpoint::handle_timeout`], or [`Time::NEVER`].
    #[inline(always)]
    pub fn poll_timeout(&self) -> Time {
        let timers = self.sending.timer().min(self.receiver.timer()).min(self.own_timer);
        // An open connection has no handshake timer.
        if self.is_synchronised() { timers } else { timers.min(self.handshake_timer()) }
    }

    /// As [`Endpoint::poll_timeout`]; `None`, which is cheaper, if the deadline is not earlier than at the last call.
    #[inline]
    pub fn poll_earlier_timeout(&mut self) -> Option<Time> {
        let is_sooner = self.sending.is_sooner() | self.receiver.is_sooner() | self.sooner;
        (is_sooner || !self.is_synchronised()).then(|| self.note_timeout())
    }

    fn note_timeout(&mut self) -> Time {
        if let Some(sender) = self.sending.sender_mut() {
            sender.note_timer();
        }
        self.receiver.note_timer();
        self.sooner = false;
        self.poll_timeout()
    }

    pub(super) fn set_own_timer(&mut self, at: Time) {
        self.own_timer = at;
        self.sooner = true;
    }

    /// Starts keep-alive, if configured, on an open connection.
    pub(super) fn watch_peer(&mut self, now: Time) {
        if let Some(keep_alive) = self.config.keep_alive.filter(|_| self.is_synchronised()) {
            self.set_own_timer((self.heard_at + keep_alive.idle).max(now));
        }
    }

    fn look_after_peer(&mut self, now: Time) {
        self.own_timer = Time::NEVER;
        let Some(keep_alive) = self.config.keep_alive else { return };
        let waits = self.sending.outstanding() > 0;
        match self.questions.look(now, self.heard_at, waits, &keep_alive) {
            Look::Wait(at) => self.set_own_timer(at),
            Look::Ask(at) => {
                self.special = Some(Special::KeepAlive);
                self.set_own_timer(at);
            }
            Look::GiveUp => {
                self.reset_peer();
                self.end(Ended::TimedOut);
            }
        }
    }
}
