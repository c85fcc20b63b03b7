//! What the application may change while the connection is open.

use super::{Endpoint, KeepAlive, State};
use crate::sender::Sender;
use lasthop_base::{Duration, Time};
use std::sync::Arc;

impl Endpoint {
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
        self.unanswered = 0;
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
