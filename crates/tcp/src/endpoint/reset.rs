//! Resets and challenge ACKs.

use super::{Endpoint, Role, Special, State};
use lasthop_base::Time;
use lasthop_wire::{Flags, Segment, Seq};

/// Returns the reset that answers a segment for which neither a connection nor a listener exists (RFC 9293 §3.10.7.1);
/// `None` if the segment itself is a reset.
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    if segment.flags.has(Flags::RST) {
        return None;
    }
    let reset = if segment.flags.has(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        Segment {
            seq: Seq(0),
            ack: segment.seq.at(u64::from(segment.sequence_space())),
            flags: Flags::RST | Flags::ACK,
            ..Segment::default()
        }
    };
    Some(reset)
}

impl Endpoint {
    pub(super) fn refuse(&mut self, segment: &Segment) {
        let unopened = self.role == Role::Active && self.ended.is_none() && self.state == State::Closed;
        if let Some(reset) = reset_for(segment).filter(|_| !unopened) {
            let ack = reset.flags.has(Flags::ACK).then_some(reset.ack);
            self.special = Some(Special::Reset { seq: reset.seq, ack });
        }
    }

    /// Queues a reset for an aborted connection, if the peer may still consider the connection open (RFC 9293 §3.10.5).
    pub(super) fn reset_peer(&mut self) {
        let has_peer = matches!(
            self.state,
            State::SynReceived | State::Established | State::FinWait1 | State::FinWait2 | State::CloseWait
        );
        if has_peer {
            let seq = self.iss.at(self.sending.nxt());
            self.special = Some(Special::Reset { seq, ack: Some(self.irs.at(self.receiver.next())) });
        }
    }

    /// Queues a challenge ACK, which answers a segment that may be forged or may come from an honest peer that lost its
    /// state. The challenge ACK carries the right sequence numbers. The rate limit (RFC 5961 §7) also ends a loop
    /// between two ends that reject each other's ACKs.
    #[cold]
    pub(super) fn challenge(&mut self, now: Time) {
        if self.challenges.take(now) {
            self.log.rare().challenges += 1;
            self.receiver.acknowledge_now();
        }
    }
}
