//! Calls of the application (RFC 9293 §3.10.1 to §3.10.5), and settings that may change while the connection is open.

use super::{EndReason, Endpoint, KeepAlive, Role, State};
use crate::sender::congestion::Steer;
use crate::sender::{Sender, takes_orders};
use lasthop_base::{Duration, Time};
use std::sync::Arc;

impl Endpoint {
    /// Opens the connection: sends a SYN or listens, depending on the role.
    pub fn open(&mut self, now: Time) {
        self.clock = now;
        if self.state == State::Closed && self.ended.is_none() {
            match self.role {
                Role::Active => self.begin_handshake(now),
                Role::Passive => self.state = State::Listen,
            }
        }
    }

    /// Adds `bytes` bytes to the data to send; has no effect after [`Endpoint::close`].
    pub fn write(&mut self, bytes: u64) {
        if self.is_synchronised() {
            self.sender_mut().write(bytes);
        } else {
            self.sending.write(&mut self.pending_sender, bytes);
        }
    }

    /// Whether congestion control takes orders ([`Endpoint::steer`]).
    pub fn takes_orders(&self) -> bool {
        match self.sending.sender() {
            Some(sender) => sender.takes_orders(),
            None => takes_orders(&self.config),
        }
    }

    /// Sets cwnd or the pacing rate by an order from outside the simulation, at `now`. Before the connection is open,
    /// the order is kept until then. Has no effect unless [`Endpoint::takes_orders`]. Poll segments afterwards.
    pub fn steer(&mut self, now: Time, order: &Steer) {
        self.sending.steer(&mut self.pending_sender, now, order);
    }

    /// Ends the data to send: a FIN follows the written data.
    pub fn close(&mut self) {
        let next = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            State::SynReceived => {
                // The FIN is queued until the connection is open (RFC 9293 §3.10.4).
                self.closes_when_open = true;
                return;
            }
            State::Listen | State::SynSent => {
                self.end(EndReason::Closed);
                return;
            }
            _ => return,
        };
        self.sender_mut().finish();
        self.state = next;
    }

    /// Closes like [`Endpoint::close`], but also works before the connection is open. The FIN follows the written data.
    pub fn close_when_sent(&mut self) {
        match self.state {
            State::Closed | State::Listen | State::SynSent => self.closes_when_open = true,
            _ => self.close(),
        }
    }

    /// Aborts the connection with a reset (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        self.reset_peer();
        self.end(EndReason::Aborted);
    }

    /// Records that the application leaves `bytes` bytes of the delivered data unread in the receive buffer.
    pub fn hold_unread(&mut self, bytes: u64) {
        self.receiver.hold_unread(bytes, self.agreed.shift);
    }

    /// Turns Nagle's algorithm on or off. If on, a short segment waits while data is outstanding (RFC 9293 §3.7.4).
    pub fn set_nagle(&mut self, nagle: bool) {
        Arc::make_mut(&mut self.config).nagle = nagle;
        if let Some(sender) = self.sending.sender_mut() {
            sender.set_nagle(nagle);
        }
    }

    /// Sets the user timeout for unacknowledged data (RFC 9293 §3.8.3, RFC 5482); `None` means no limit.
    pub fn set_user_timeout(&mut self, limit: Option<Duration>) {
        Arc::make_mut(&mut self.config).user_timeouts.data = limit;
        if let Some(sender) = self.sending.sender_mut() {
            sender.set_user_timeout(limit);
        }
    }

    /// Sets the parameters of keep-alive; `None` turns keep-alive off.
    pub fn set_keep_alive(&mut self, now: Time, keep_alive: Option<KeepAlive>) {
        Arc::make_mut(&mut self.config).keep_alive = keep_alive;
        self.keep_alive_probes.reset();
        if self.state != State::TimeWait {
            self.own_timer = Time::NEVER;
            self.start_keep_alive(now);
        }
    }

    /// Whether the path may be broken: the same data or SYN was retransmitted R1 times (RFC 9293 §3.8.3).
    pub fn has_reached_r1(&self) -> bool {
        self.sending.sender().is_some_and(Sender::has_reached_r1)
            || self.syn_repeats >= self.config.user_timeouts.r1
    }
}
