//! Read-only views of a sender.

use super::scoreboard::Scoreboard;
use super::{Limited, Sender};
use crate::rtt::RttEstimator;
use lasthop_base::Time;

impl Sender {
    /// cwnd, bytes. During a gradual window reduction (PRR), this is the current limit on the bytes in flight.
    pub fn window(&self) -> u64 {
        self.reductions.allowance().unwrap_or(self.window.bytes())
    }

    /// Slow start threshold, bytes.
    pub fn ssthresh(&self) -> u64 {
        self.window.control().ssthresh()
    }

    /// Bytes in flight, as the recovery mechanism estimates them (`pipe` of RFC 6675).
    pub fn in_flight(&self) -> u64 {
        self.repair.recovery().in_flight(&self.scoreboard)
    }

    /// cwnd as papers plot it, inflated during recovery by the data that has left the network: window + outstanding −
    /// in flight.
    pub fn inflated_window(&self) -> u64 {
        (self.window() + self.scoreboard.outstanding()).saturating_sub(self.in_flight())
    }

    /// State of the outstanding data.
    pub fn scoreboard(&self) -> &Scoreboard {
        &self.scoreboard
    }

    /// Estimator of the round-trip time and of the RTO.
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

    pub(crate) fn has_option_space(&self) -> bool {
        self.full_payload != self.mss
    }

    pub(crate) fn end_of_data(&self) -> u64 {
        self.application.written()
    }

    /// Data written and not sent yet, bytes.
    pub fn unsent(&self) -> u64 {
        self.application.written().saturating_sub(self.scoreboard.nxt())
    }

    pub(super) fn has_new_data(&self) -> bool {
        self.scoreboard.nxt() < self.application.end()
    }

    /// Whether the FIN was sent and acknowledged.
    pub fn is_finished(&self) -> bool {
        self.application.is_finishing() && self.scoreboard.una() > self.application.written()
    }

    /// Time spent under each sending limit, from the end of the handshake to `now`.
    pub fn limited(&self, now: Time) -> Limited {
        self.limit_timer.until(now, self.current_limit)
    }

    /// Time at which the timer expires.
    pub fn timer(&self) -> Time {
        self.timer.next()
    }

    #[inline]
    pub(crate) fn is_sooner(&self) -> bool {
        self.timer.is_sooner()
    }

    /// Whether the path may be broken: the same data was retransmitted R1 times (RFC 9293 §3.8.3).
    pub fn has_reached_r1(&self) -> bool {
        self.user_timeout.has_reached_r1(self.scoreboard.una())
    }

    /// Whether the fast path is permitted ([`Config::has_fast_path`](crate::Config::has_fast_path)).
    #[inline]
    pub(crate) fn has_fast_path(&self) -> bool {
        self.has_fast_path
    }

    /// Highest acceptable ACK number. Includes the byte of a zero-window probe, which the scoreboard counts as sent
    /// only when the byte is acknowledged.
    pub(crate) fn may_acknowledge(&self) -> u64 {
        self.scoreboard.nxt() + u64::from(self.persist.has_probed() && self.has_new_data())
    }

    /// Lowest acceptable ACK number (RFC 5961 §5).
    pub(crate) fn oldest_ack(&self) -> u64 {
        self.scoreboard.una().saturating_sub(self.peer.largest_window())
    }

    pub(crate) fn uses_sack(&self) -> bool {
        self.repair.recovery().uses_sack()
    }

    /// Whether a mechanism attributes losses to congestion or to the wireless link. If so, the attributions are
    /// counted.
    pub fn discriminates_losses(&self) -> bool {
        self.discriminator.as_ref().is_some_and(|discriminator| discriminator.discriminates_losses())
            || self.discriminates_each_loss()
    }

    /// Whether ECN echoes on duplicate ACKs decide the cause of a loss: congestion if the echo is set, otherwise a
    /// random error.
    pub fn judges_by_mark(&self) -> bool {
        self.window.control().nature().judges_by_mark
    }

    /// Whether each loss is attributed to congestion or to the wireless link as soon as the loss is detected.
    pub fn discriminates_each_loss(&self) -> bool {
        self.judges_by_mark()
            || self
                .discriminator
                .as_ref()
                .is_some_and(|discriminator| discriminator.discriminates_each_loss())
    }

    /// Whether congestion control draws random numbers, so that repetitions may differ.
    pub fn draws(&self) -> bool {
        self.window.control().nature().draws
    }

    /// Whether congestion control reduces the window in proportion to the marks (RFC 9331).
    pub fn is_scalable(&self) -> bool {
        self.window.control().nature().is_scalable
    }

    pub(crate) fn takes_orders(&self) -> bool {
        self.window.control().nature().takes_orders
    }

    /// Whether packets carry ECT(1) if the peer supports AccECN.
    pub fn sends_ect1(&self) -> bool {
        self.window.control().nature().sends_ect1
    }
}
