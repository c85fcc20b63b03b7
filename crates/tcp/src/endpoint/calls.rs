//! Calls of the application (RFC 9293 §3.10.1 to §3.10.5): to open, to send, to close, to give up, and what may change while the
//! connection is open. A chapter of the endpoint.

use super::{Ended, Endpoint, KeepAlive, Role, State};
use crate::sender::Sender;
use lasthop_base::{Duration, Time};
use std::sync::Arc;

impl Endpoint {
    /// Opens: sends the SYN, or listens for one.
    pub fn open(&mut self, now: Time) {
        self.clock = now;
        if self.state == State::Closed && self.ended.is_none() {
            match self.role {
                Role::Active => self.begin_handshake(now),
                Role::Passive => self.state = State::Listen,
            }
        }
    }

    /// The application has `bytes` more to send; ignored after it has closed.
    pub fn write(&mut self, bytes: u64) {
        if self.is_synchronised() {
            self.sender_mut().write(bytes);
        } else {
            self.sending.write(&mut self.beginning, bytes);
        }
    }

    /// The application has nothing more to send: a FIN follows what was written.
    pub fn close(&mut self) {
        let next = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            State::SynReceived => {
                // Queued until the connection is open (RFC 9293 §3.10.4).
                self.closes_when_open = true;
                return;
            }
            State::Listen | State::SynSent => {
                self.end(Ended::Closed);
                return;
            }
            _ => return,
        };
        self.sender_mut().finish();
        self.state = next;
    }

    /// Like [`Endpoint::close`], but may be called before the connection is open: it closes once what was written is sent.
    pub fn close_when_sent(&mut self) {
        match self.state {
            State::Closed | State::Listen | State::SynSent => self.closes_when_open = true,
            _ => self.close(),
        }
    }

    /// Gives the connection up: a reset tells the peer (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        self.reset_peer();
        self.end(Ended::Aborted);
    }

    /// The application holds `bytes` of what was delivered unread: they take room in the receive buffer.
    pub fn hold_unread(&mut self, bytes: u64) {
        self.receiver.hold_unread(bytes, self.agreed.shift);
    }

    /// Whether short segments wait while data is outstanding, from now on (RFC 9293 §3.7.4).
    pub fn set_nagle(&mut self, nagle: bool) {
        Arc::make_mut(&mut self.config).nagle = nagle;
        if let Some(sender) = self.sending.made_mut() {
            sender.set_nagle(nagle);
        }
    }

    /// The user timeout from now on: how long data may go unacknowledged; `None`: for ever (RFC 9293 §3.8.3, RFC 5482).
    pub fn set_user_timeout(&mut self, limit: Option<Duration>) {
        Arc::make_mut(&mut self.config).patience.data = limit;
        if let Some(sender) = self.sending.made_mut() {
            sender.give_up_after(limit);
        }
    }

    /// Turns keep-alive probes on or off, from now on.
    pub fn set_keep_alive(&mut self, now: Time, keep_alive: Option<KeepAlive>) {
        Arc::make_mut(&mut self.config).keep_alive = keep_alive;
        self.questions.forget();
        if self.state != State::TimeWait {
            self.own_timer = Time::NEVER;
            self.watch_peer(now);
        }
    }

    /// Whether the same data (or SYN) was sent again so often that the path may be broken (R1, RFC 9293 §3.8.3).
    pub fn is_troubled(&self) -> bool {
        self.sending.made().is_some_and(Sender::is_troubled)
            || self.syn_repeats >= self.config.patience.troubled_after
    }
}
