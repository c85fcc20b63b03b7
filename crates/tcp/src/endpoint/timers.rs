//! Deadlines and their handling.

use super::keep_alive::Check;
use super::{EndReason, Endpoint, Special, State};
use crate::sender::Expiry;
use lasthop_base::Time;

impl Endpoint {
    /// Handles all deadlines that have expired.
    pub fn handle_timeout(&mut self, now: Time) {
        self.clock = now;
        if !self.is_synchronised() {
            self.handshake_timeout(now);
        }
        self.receiver.handle_timeout(now);
        if self.is_synchronised() {
            let timeouts = self.log.frequent.timeouts;
            let expiry = match self.sending.sender_mut() {
                Some(sender) => sender.handle_timeout(now, self.last_arrival, &mut self.log),
                None => Expiry::Continue,
            };
            if expiry == Expiry::Abort {
                self.end(EndReason::TimedOut);
            } else if self.log.frequent.timeouts > timeouts {
                self.accept_mtu(now);
            }
        }
        if now >= self.own_timer {
            match self.state {
                State::TimeWait => self.end(EndReason::Closed),
                _ => self.check_keep_alive(now),
            }
        }
    }

    /// Time at which [`Endpoint::handle_timeout`] is due; [`Time::NEVER`] if no timer runs.
    #[inline(always)]
    pub fn poll_timeout(&self) -> Time {
        let timers = self.sending.timer().min(self.receiver.timer()).min(self.own_timer);
        // Only a connection that is not open has a handshake timer.
        if self.is_synchronised() { timers } else { timers.min(self.handshake_timer()) }
    }

    /// Returns the deadline, like [`Endpoint::poll_timeout`]; `None` if the deadline cannot have become earlier since
    /// the last call. Cheaper than [`Endpoint::poll_timeout`].
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
    pub(super) fn start_keep_alive(&mut self, now: Time) {
        if let Some(keep_alive) = self.config.keep_alive.filter(|_| self.is_synchronised()) {
            self.set_own_timer((self.last_arrival + keep_alive.idle).max(now));
        }
    }

    fn check_keep_alive(&mut self, now: Time) {
        self.own_timer = Time::NEVER;
        let Some(keep_alive) = self.config.keep_alive else { return };
        let waits = self.sending.outstanding() > 0;
        match self.keep_alive_probes.check(now, self.last_arrival, waits, &keep_alive) {
            Check::Wait(at) => self.set_own_timer(at),
            Check::Probe(at) => {
                self.special = Some(Special::KeepAlive);
                self.set_own_timer(at);
            }
            Check::Abort => {
                self.reset_peer();
                self.end(EndReason::TimedOut);
            }
        }
    }
}
