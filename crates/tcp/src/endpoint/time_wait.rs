//! TIME-WAIT, and acceptance of a new connection that replaces one in this state.

use super::{Endpoint, State, opens};
use lasthop_base::Time;
use lasthop_wire::{Flags, Segment, Seq};

impl Endpoint {
    pub(super) fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.restart_time_wait(now);
    }

    /// Restarts TIME-WAIT, because a retransmitted FIN of the peer suggests that our ACK was lost (RFC 9293 §3.10.7.4).
    pub(super) fn restart_time_wait(&mut self, now: Time) {
        self.set_own_timer(now + self.config.time_wait);
    }

    pub(super) fn is_peer_fin(&self, segment: &Segment) -> bool {
        let behind = segment.seq.at(u64::from(segment.sequence_space()));
        segment.flags.has(Flags::FIN) && behind == self.irs.at(self.receiver.next())
    }

    /// Whether this SYN may replace this connection in TIME-WAIT, because the segments of both remain distinguishable
    /// (RFC 6191 §2).
    ///
    /// RFC 6191 says "greater than the last sequence number seen". Here this means greater than RCV.NXT, not greater
    /// than the number of the FIN, which is one less. Linux and FreeBSD do the same. This choice excludes one of the
    /// 2^32 numbers.
    ///
    /// The initial number of the new connection should exceed [`Endpoint::number_after`] (RFC 9293 §3.6.1).
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

    /// The sequence number after the last one that this side has used.
    pub fn number_after(&self) -> Seq {
        self.iss.at(self.sending.nxt())
    }
}
