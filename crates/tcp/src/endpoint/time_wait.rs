//! TIME-WAIT, and acceptance of a new connection that replaces a connection in TIME-WAIT.

use super::{Endpoint, State, opens};
use lasthop_base::Time;
use lasthop_wire::{Flags, Segment, Seq};

impl Endpoint {
    pub(super) fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.restart_time_wait(now);
    }

    /// Restarts the timer of TIME-WAIT, because a retransmitted FIN of the peer suggests that our ACK was lost (RFC
    /// 9293 §3.10.7.4).
    pub(super) fn restart_time_wait(&mut self, now: Time) {
        self.set_own_timer(now + self.config.time_wait);
    }

    pub(super) fn is_peer_fin(&self, segment: &Segment) -> bool {
        let behind = segment.seq.at(u64::from(segment.sequence_space()));
        segment.flags.has(Flags::FIN) && behind == self.irs.at(self.receiver.next())
    }

    /// Whether `syn` may open a new connection in place of this connection in TIME-WAIT (RFC 6191 §2). Segments of the
    /// old and of the new connection must remain distinguishable.
    ///
    /// RFC 6191 requires a sequence number "greater than the last sequence number seen", which is the number of the
    /// FIN. Here, as in Linux and FreeBSD, the SYN's number must exceed RCV.NXT, the number after the FIN. This choice
    /// excludes one more of the 2^32 numbers.
    ///
    /// The new connection must use an initial sequence number of at least [`Endpoint::number_after`] (RFC 9293 §3.6.1).
    pub fn may_be_replaced_by(&self, syn: &Segment) -> bool {
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

    /// Returns the sequence number after the last sequence number that this side has used.
    pub fn number_after(&self) -> Seq {
        self.iss.at(self.sending.nxt())
    }
}
