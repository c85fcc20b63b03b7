//! What the application asks for (RFC 9293 §3.10.1 to §3.10.5): to open, to send, to close, to give up.

use super::{Ended, Endpoint, Role, State};
use lasthop_base::Time;

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
}
