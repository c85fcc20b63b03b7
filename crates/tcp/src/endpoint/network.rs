//! ICMP errors (RFC 9293 §3.9.2.2): reports that a router or the remote host did not deliver a segment.
//!
//! ICMP errors are easily forged, so the effects of an error must be harmless even if the error is forged (RFC 5927).
//! An error must quote a segment in flight, and never closes an open connection (§5.2, RFC 5461). If longer segments
//! were delivered before, a smaller path MTU is accepted only after the timer of the quoted segment has expired (§7.2).

use super::handshake::{SMALLEST_MSS, TIMESTAMP_BYTES};
use super::{EndReason, Endpoint, State};
use lasthop_base::Time;
use lasthop_wire::Seq;

#[derive(Clone, Copy, Debug)]
pub(super) struct MtuReport {
    offset: u64,
    /// Payload that fits the path, bytes.
    payload: u64,
}

impl Endpoint {
    /// Handles an ICMP error about the segment at `seq`. A hard error closes a connection that is not open yet. Returns
    /// whether the error is credible. If credible, the error may be reported to the application (soft error).
    pub fn handle_undelivered(&mut self, seq: Seq, is_hard: bool) -> bool {
        let is_credible = self.in_flight_offset(seq).is_some();
        if is_credible && is_hard && !self.is_synchronised() {
            self.end(EndReason::Unreachable);
        }
        is_credible
    }

    /// Handles an ICMP error that reports the segment at `seq` as too long for a link. `room`: bytes that the link
    /// carries after the fixed TCP header. If longer segments were delivered before, shortens segments only when the
    /// timer of the segment expires; otherwise shortens segments at once. Returns whether the error is credible.
    pub fn handle_too_long(&mut self, now: Time, seq: Seq, room: u32) -> bool {
        let Some(offset) = self.in_flight_offset(seq).filter(|_| self.is_synchronised()) else {
            return false;
        };
        self.clock = now;
        let options = if self.agreed.timestamps { TIMESTAMP_BYTES } else { 0 };
        let payload = u64::from(room.saturating_sub(options).max(SMALLEST_MSS));
        let report = MtuReport { offset, payload };
        if self.sender().scoreboard().largest_acked() > payload {
            self.pending_mtu = Some(Box::new(report));
        } else {
            self.apply_mtu(now, report);
        }
        true
    }

    /// Accepts a pending report after the retransmission timer has expired, if the quoted segment is still
    /// unacknowledged.
    pub(super) fn accept_mtu(&mut self, now: Time) {
        if let Some(report) = self.pending_mtu.take().filter(|report| report.offset >= self.sending.una()) {
            self.apply_mtu(now, *report);
        }
    }

    fn apply_mtu(&mut self, now: Time, report: MtuReport) {
        if report.payload < self.sending.segment(&self.pending_sender) {
            self.sender_mut().reduce_segment_size(now, report.payload);
            self.leave_room_for_options();
        }
    }

    /// Offset of the segment at `seq`, if the segment may be in flight (RFC 5927 §4.1).
    fn in_flight_offset(&self, seq: Seq) -> Option<u64> {
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
