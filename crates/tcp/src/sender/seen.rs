//! Views of a sender, without an effect: its windows, what it has to send, what it awaits, and of what kind it is.
//!
//! A chapter of the sender.

use super::scoreboard::Scoreboard;
use super::{Limited, Sender};
use crate::rtt::RttEstimator;
use lasthop_base::Time;

impl Sender {
    /// cwnd, bytes: in a recovery what the reduction leaves of it so far.
    pub fn window(&self) -> u64 {
        self.reductions.allowance().unwrap_or(self.window.bytes())
    }

    /// Slow start threshold, bytes.
    pub fn ssthresh(&self) -> u64 {
        self.window.rules().ssthresh()
    }

    /// Bytes in the network by the recovery's account.
    pub fn in_flight(&self) -> u64 {
        self.repair.recovery().in_flight(&self.board)
    }

    /// cwnd as the papers draw it, inflated by what has left: window + outstanding - in flight.
    pub fn inflated_window(&self) -> u64 {
        (self.window() + self.board.outstanding()).saturating_sub(self.in_flight())
    }

    /// What is outstanding.
    pub fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// Round-trip time and timeout.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Whether fast recovery is under way.
    pub fn is_recovering(&self) -> bool {
        self.repair.recovery().is_recovering()
    }

    /// Payload of a full segment, bytes.
    pub fn segment(&self) -> u64 {
        self.mss
    }

    /// Whether segments with new data leave some of a full segment to options.
    pub(crate) fn leaves_room(&self) -> bool {
        self.fits != self.mss
    }

    /// The byte behind the last one written, so far.
    pub(crate) fn end_of_data(&self) -> u64 {
        self.application.written()
    }

    /// Data written and not sent yet, bytes.
    pub fn unsent(&self) -> u64 {
        self.application.written().saturating_sub(self.board.nxt())
    }

    pub(super) fn has_new_data(&self) -> bool {
        self.board.nxt() < self.application.end()
    }

    /// Whether the FIN was sent and acknowledged.
    pub fn is_finished(&self) -> bool {
        self.application.is_finishing() && self.board.una() > self.application.written()
    }

    /// Time for which each limit has kept it from sending, from the end of the handshake to `now`.
    pub fn limited(&self, now: Time) -> Limited {
        self.waiting.until(now, self.waits_for)
    }

    /// When the timer expires.
    pub fn timer(&self) -> Time {
        self.timer.next()
    }

    /// Whether [`Sender::timer`] may be earlier than at the last [`Sender::note_timer`].
    #[inline]
    pub(crate) fn is_sooner(&self) -> bool {
        self.timer.is_sooner()
    }

    /// Whether the same data was sent again so often that the path may be broken (R1, RFC 9293 §3.8.3).
    pub fn is_troubled(&self) -> bool {
        self.user_timeout.is_troubled(self.board.una())
    }

    /// Whether short ways may be taken ([`Config::has_shortcut`](crate::Config::has_shortcut)).
    #[inline]
    pub(crate) fn has_shortcut(&self) -> bool {
        self.has_shortcut
    }

    /// The byte behind the highest one that may be acknowledged: a probe's byte counts as sent only once it is.
    pub(crate) fn may_acknowledge(&self) -> u64 {
        self.board.nxt() + u64::from(self.persist.has_probed() && self.has_new_data())
    }

    /// The oldest acknowledgement that is still believable (RFC 5961 §5).
    pub(crate) fn oldest_ack(&self) -> u64 {
        self.board.una().saturating_sub(self.peer.largest_window())
    }

    /// Whether its recovery needs SACK.
    pub(crate) fn uses_sack(&self) -> bool {
        self.repair.recovery().uses_sack()
    }

    /// Whether it judges losses at all, once they are repaired or by marks: its judgements are accounted.
    pub fn judges(&self) -> bool {
        self.judge.as_ref().is_some_and(|judge| judge.judges()) || self.judges_one_by_one()
    }

    /// Whether it tells random errors from congestion by the marks of duplicate ACKs.
    pub fn judges_by_mark(&self) -> bool {
        self.window.rules().nature().judges_by_mark
    }

    /// Whether it judges the loss of each segment by itself, when it is found.
    pub fn judges_one_by_one(&self) -> bool {
        self.judges_by_mark() || self.judge.as_ref().is_some_and(|judge| judge.judges_losses())
    }

    /// Whether its congestion control draws random numbers, so that repetitions may differ.
    pub fn draws(&self) -> bool {
        self.window.rules().nature().draws
    }

    /// Whether its congestion control answers marks in proportion (RFC 9331).
    pub fn is_scalable(&self) -> bool {
        self.window.rules().nature().is_scalable
    }
}
