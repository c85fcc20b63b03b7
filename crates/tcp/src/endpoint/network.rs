//! ICMP errors (RFC 9293 §3.9.2.2): what routers, or the host at the end, say of segments that they did not pass on.
//!
//! Anybody can write one, so that each is believed only as far as it can do no harm (RFC 5927): it must quote a segment
//! that is on its way; an open connection is not given up for it, not even at a hard error (§5.2, RFC 5461); and that the
//! path takes only short segments is doubted until the segment's timer expires if longer ones have gone through (§7.2).
//!
//! A chapter of the endpoint.

use super::handshake::{SMALLEST_MSS, TIMESTAMP_BYTES};
use super::{Ended, Endpoint, State};
use lasthop_base::Time;
use lasthop_wire::Seq;

/// A router says that the path takes no longer segments than this.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    /// Offset of the segment that it did not pass on.
    offset: u64,
    /// Payload that it takes, bytes.
    payload: u64,
}

impl Endpoint {
    /// The segment that begins at `seq` was not delivered, somebody says. A hard error ends a connection that is not
    /// open yet. Whether it is believable; it may be worth telling the application then (a soft error).
    pub fn handle_undelivered(&mut self, seq: Seq, is_hard: bool) -> bool {
        let is_believable = self.has_under_way(seq).is_some();
        if is_believable && is_hard && !self.is_synchronised() {
            self.end(Ended::Unreachable);
        }
        is_believable
    }

    /// The segment that begins at `seq` was too long for a link, somebody says, which takes `room` bytes behind the
    /// fixed TCP header. Whether it is believable; then segments are no longer than that, at once or, if there is
    /// reason to doubt it, when this one's timer expires.
    pub fn handle_too_long(&mut self, now: Time, seq: Seq, room: u32) -> bool {
        let Some(offset) = self.has_under_way(seq).filter(|_| self.is_synchronised()) else { return false };
        self.clock = now;
        let options = if self.agreed.timestamps { TIMESTAMP_BYTES } else { 0 };
        let payload = u64::from(room.saturating_sub(options).max(SMALLEST_MSS));
        let claim = Claim { offset, payload };
        match self.sender().board().largest_acked() > payload {
            true => self.doubted = Some(Box::new(claim)),
            false => self.heed(now, claim),
        }
        true
    }

    /// The timer has expired: if the segment that a claim is about is still not acknowledged, the claim may be true.
    pub(super) fn believe_claim(&mut self, now: Time) {
        if let Some(claim) = self.doubted.take().filter(|claim| claim.offset >= self.sending.una()) {
            self.heed(now, *claim);
        }
    }

    fn heed(&mut self, now: Time, claim: Claim) {
        if claim.payload < self.sending.segment(&self.beginning) {
            self.sender_mut().shorten(now, claim.payload);
            self.leave_room_for_options();
        }
    }

    /// The offset of a segment that begins at `seq`, if it may be on its way (RFC 5927 §4.1).
    fn has_under_way(&self, seq: Seq) -> Option<u64> {
        match self.state {
            State::Closed | State::Listen => None,
            State::SynSent | State::SynReceived => (seq == self.iss).then_some(0),
            _ => {
                let sent = self.sending.una()..self.sending.may_acknowledge();
                self.offset_to_peer(seq).filter(|offset| sent.contains(offset))
            }
        }
    }
}
