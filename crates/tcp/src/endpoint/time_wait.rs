//! TIME-WAIT, and the connection that may take its place. A chapter of the endpoint.

use super::{Endpoint, State, opens};
use lasthop_base::Time;
use lasthop_wire::{Flags, Segment, Seq};

impl Endpoint {
    pub(super) fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.wait_again(now);
    }

    /// The peer's FIN came again: our ACK of it may have been lost (RFC 9293 §3.10.7.4).
    pub(super) fn wait_again(&mut self, now: Time) {
        self.set_own_timer(now + self.config.time_wait);
    }

    /// Whether the segment ends with the FIN that came before.
    pub(super) fn is_their_fin(&self, segment: &Segment) -> bool {
        let behind = segment.seq.at(u64::from(segment.sequence_space()));
        segment.flags.has(Flags::FIN) && behind == self.irs.at(self.receiver.next())
    }

    /// Whether this SYN may open a new connection between the same sockets in place of this one, which is in TIME-WAIT:
    /// nothing that is left of the old connection can be taken for part of the new one (RFC 6191 §2).
    ///
    /// "Greater than the last sequence number seen" is greater than RCV.NXT here, the number of the peer's last ACKs, and
    /// not than its FIN's, one below: so Linux and FreeBSD have it, and it costs one number of 2^32.
    ///
    /// The new connection's own first number should lie behind [`Endpoint::number_after`] (RFC 9293 §3.6.1).
    pub fn yields_to(&self, syn: &Segment) -> bool {
        if self.state != State::TimeWait || !opens(syn) {
            return false;
        }
        let beyond = syn.seq.0.wrapping_sub(self.irs.at(self.receiver.next()).0) as i32 > 0;
        match syn.timestamps.filter(|_| self.config.timestamps) {
            None => beyond,
            Some(_) if !self.agreed.timestamps => true,
            Some(stamps) => match stamps.value.wrapping_sub(self.ts_recent) as i32 {
                0 => beyond,
                later => later > 0,
            },
        }
    }

    /// The number behind the last one that this side has used.
    pub fn number_after(&self) -> Seq {
        self.iss.at(self.sending.nxt())
    }
}
