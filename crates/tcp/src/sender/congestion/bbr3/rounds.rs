//! Counter of packet-timed round trips (draft §5.5.1), and the congestion signals of the last round.

use super::AckSample;

/// BBR.round_count and the variables that determine the end of a round.
#[derive(Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    /// BBR.round_start: whether this ACK begins a round.
    pub(super) begins: bool,
    /// BBR.next_round_delivered, bytes.
    ends_at: u64,
    /// C.delivered: total number of bytes delivered.
    pub(super) delivered: u64,
    /// Whether cwnd was full at any time in the current round.
    is_window_full: bool,
    /// Whether cwnd was full at any time in the previous round.
    was_window_full: bool,
}

impl Rounds {
    pub(super) fn advance(&mut self, sample: &AckSample) {
        self.begins = sample.prior.is_some_and(|prior| prior >= self.ends_at);
        if self.begins {
            self.start();
            self.count += 1;
            self.was_window_full = std::mem::take(&mut self.is_window_full);
        }
    }

    pub(super) fn start(&mut self) {
        self.ends_at = self.delivered;
    }

    pub(super) fn note_full_window(&mut self) {
        self.is_window_full = true;
    }

    /// C.is_cwnd_limited: whether cwnd was full at any time in the current or the previous round.
    pub(super) fn is_window_limited(&self) -> bool {
        self.is_window_full || self.was_window_full
    }
}

/// Congestion signals and losses of the last round (draft §5.5.10.3).
#[derive(Default)]
pub(super) struct LastRound {
    /// BBR.bw_latest: largest delivery rate in the round, bytes per second.
    pub(super) bandwidth: f64,
    /// BBR.inflight_latest: largest number of bytes delivered in a round trip.
    pub(super) delivered: u64,
    /// BBR.loss_round_delivered, bytes.
    ends_at: u64,
    /// BBR.loss_round_start: whether the ACK begins a round.
    pub(super) begins: bool,
    /// BBR.is_loss_in_round.
    pub(super) has_loss: bool,
    /// Number of separate ranges of lost bytes in the round (losses of consecutive segments form one range).
    pub(super) holes: u64,
    /// End of the last range of lost bytes.
    hole_ends_at: u64,
}

impl LastRound {
    /// Handles an ACK before the model uses the signals (UpdateLatestDeliverySignals).
    pub(super) fn begin_ack(&mut self, sample: &AckSample, delivered: u64) {
        self.bandwidth = self.bandwidth.max(sample.rate);
        self.delivered = self.delivered.max(sample.delivered);
        self.begins = sample.prior.is_some_and(|prior| prior >= self.ends_at);
        if self.begins {
            self.ends_at = delivered;
        }
    }

    /// Handles an ACK after the model has used the signals (AdvanceLatestDeliverySignals).
    pub(super) fn end_ack(&mut self, sample: &AckSample) {
        if self.begins {
            (self.bandwidth, self.delivered) = (sample.rate, sample.delivered);
            self.holes = 0;
        }
    }

    /// Clears the congestion signals (ResetCongestionSignals).
    pub(super) fn reset(&mut self) {
        (self.has_loss, self.bandwidth, self.delivered) = (false, 0.0, 0);
    }

    /// Records a loss. Implements NoteLoss except for the saving of the model's state. Returns whether the loss is the
    /// first in the round.
    pub(super) fn note_loss(&mut self, delivered: u64) -> bool {
        let is_first = !self.has_loss;
        if is_first {
            self.ends_at = delivered;
        }
        self.has_loss = true;
        is_first
    }

    pub(super) fn note_hole(&mut self, start: u64, end: u64) {
        self.holes += u64::from(start != self.hole_ends_at);
        self.hole_ends_at = end;
    }
}
