//! What can be seen of a sender: its windows, what it awaits, and of what kind it is.

use super::Sender;
use super::scoreboard::Scoreboard;
use crate::rtt::RttEstimator;

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
        self.window.rules().judges_by_mark()
    }

    /// Whether it judges the loss of each segment by itself, when it is found.
    pub fn judges_one_by_one(&self) -> bool {
        self.judges_by_mark() || self.judge.as_ref().is_some_and(|judge| judge.judges_losses())
    }

    /// Whether its congestion control draws random numbers, so that repetitions may differ.
    pub fn draws(&self) -> bool {
        self.window.rules().draws()
    }

    /// Whether its congestion control answers marks in proportion (RFC 9331).
    pub fn is_scalable(&self) -> bool {
        self.window.rules().is_scalable()
    }
}
