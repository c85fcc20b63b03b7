//! Packet-timed round trips (draft §5.5.1), and the congestion signals of the last round.

use super::AckSample;

/// BBR.round_count and its state.
#[derive(Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    /// BBR.round_start: whether this ACK begins a round.
    pub(super) begins: bool,
    /// BBR.next_round_delivered.
    ends_at: u64,
    /// C.delivered.
    pub(super) delivered: u64,
    /// Whether the window was full at any time in this round.
    is_window_full: bool,
    /// Whether the window was full at any time in the previous round.
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

    /// C.is_cwnd_limited: whether the window was full at some time in the last round trip.
    pub(super) fn is_window_limited(&self) -> bool {
        self.is_window_full || self.was_window_full
    }
}

/// Congestion signals of the last round, and its losses (draft §5.5.10.3).
#[derive(Default)]
pub(super) struct LastRound {
    /// BBR.bw_latest, bytes per second.
    pub(super) bandwidth: f64,
    /// BBR.inflight_latest, bytes.
    pub(super) delivered: u64,
    /// BBR.loss_round_delivered.
    ends_at: u64,
    /// BBR.loss_round_start.
    pub(super) begins: bool,
    /// BBR.is_loss_in_round.
    pub(super) has_loss: bool,
    /// Number of separate ranges of lost bytes in the round.
    pub(super) holes: u64,
    /// End of the last of these ranges.
    hole_ends_at: u64,
}

impl LastRound {
    /// UpdateLatestDeliverySignals.
    pub(super) fn begin_ack(&mut self, sample: &AckSample, delivered: u64) {
        self.bandwidth = self.bandwidth.max(sample.rate);
        self.delivered = self.delivered.max(sample.delivered);
        self.begins = sample.prior.is_some_and(|prior| prior >= self.ends_at);
        if self.begins {
            self.ends_at = delivered;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn end_ack(&mut self, sample: &AckSample) {
        if self.begins {
            (self.bandwidth, self.delivered) = (sample.rate, sample.delivered);
            self.holes = 0;
        }
    }

    /// ResetCongestionSignals.
    pub(super) fn reset(&mut self) {
        (self.has_loss, self.bandwidth, self.delivered) = (false, 0.0, 0);
    }

    /// Records a loss, without saving state (NoteLoss). Returns whether this is the first loss of the round.
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
