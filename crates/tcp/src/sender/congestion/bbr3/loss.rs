//! Reaction of the model to losses (draft §5.5.10), and undo of the reaction if the losses were spurious (§5.5.11).

use super::{AckSample, Bbr3, Bbr3State};
use crate::sender::congestion::{LossPhase, LostSegment};
use lasthop_base::Time;

/// Short-term bounds, set after a round with losses.
#[derive(Clone, Copy)]
pub(super) struct ShortTerm {
    /// BBR.bw_shortterm, bytes per second.
    pub(super) bandwidth: f64,
    /// BBR.inflight_shortterm, bytes.
    pub(super) inflight: u64,
}

impl ShortTerm {
    pub(super) const UNBOUND: ShortTerm = ShortTerm { bandwidth: f64::INFINITY, inflight: u64::MAX };

    pub(super) fn reset(&mut self) {
        *self = ShortTerm::UNBOUND;
    }
}

/// State of the model before losses, which is restored if the losses were spurious.
pub(super) struct Undo {
    state: Option<Bbr3State>,
    short: ShortTerm,
    long_term: u64,
}

impl Undo {
    pub(super) const NOTHING: Undo =
        Undo { state: None, short: ShortTerm { bandwidth: 0.0, inflight: 0 }, long_term: 0 };
}

impl Bbr3 {
    pub(super) fn handle_lost(&mut self, now: Time, lost: &LostSegment) {
        let is_first = self.last.note_loss(lost.delivered);
        if is_first && (!self.constants.saves_once || self.phase == LossPhase::Open) {
            self.save_state();
        }
        self.last.note_hole(lost.range.start, lost.range.end);
        let sample = AckSample {
            in_flight: lost.in_flight,
            lost: lost.lost,
            app_limited: lost.app_limited,
            ..AckSample::default()
        };
        if self.cycle.is_probe && self.is_too_high(&sample) {
            let in_flight = self.inflight_at_loss(&sample, lost.range.len());
            self.handle_too_high(now, &AckSample { in_flight, ..sample });
        }
    }

    pub(super) fn is_too_high(&self, sample: &AckSample) -> bool {
        sample.lost as f64 > sample.in_flight as f64 * self.constants.most_lost
            || (sample.lost > 0 && !self.selective)
    }

    /// Returns the bytes in flight at which the loss rate exceeded its threshold (InflightAtLoss). The threshold was
    /// exceeded within the lost segment, which has `size` bytes.
    fn inflight_at_loss(&self, sample: &AckSample, size: u64) -> u64 {
        let in_flight = sample.in_flight.saturating_sub(size) as f64;
        let lost = sample.lost.saturating_sub(size) as f64;
        let most = self.constants.most_lost;
        (in_flight + (most * in_flight - lost) / (1.0 - most)).max(0.0) as u64
    }

    fn handle_too_high(&mut self, now: Time, sample: &AckSample) {
        self.cycle.was_too_high = true;
        self.cycle.is_probe = false;
        if !sample.app_limited {
            let least = (self.constants.beta * self.target_inflight() as f64) as u64;
            self.long_term = sample.in_flight.max(least);
        }
        if self.state == Bbr3State::Up {
            self.undo.state = Some(Bbr3State::Up);
            self.start_down(now);
        }
    }

    /// Leaves Startup if a round had many losses (CheckStartupHighLoss, draft §5.3.1.3). The first loss begins a round.
    /// If that round ends during recovery, recovery has lasted for a full round.
    pub(super) fn check_startup_loss(&mut self, sample: &AckSample) {
        if self.state != Bbr3State::Startup || self.phase != LossPhase::Recovery || self.pipe.was_full {
            return;
        }
        let is_much = if self.selective {
            self.last.begins && self.last.holes >= self.constants.most_holes && self.is_too_high(sample)
        } else {
            self.last.has_loss
        };
        if is_much {
            self.undo.state = Some(Bbr3State::Startup);
            // The text of §5.3.1.3 sets only BBR.full_bw_reached. The draft's test case "Exiting STARTUP on Loss" also
            // expects BBR.full_bw_now.
            (self.pipe.was_full, self.pipe.is_full) = (true, true);
            self.long_term = self.product(self.bandwidth(), 1.0).max(self.last.delivered);
        }
    }

    /// Lowers the short-term bounds after a round with losses, except in states that probe for bandwidth
    /// (UpdateCongestionSignals).
    pub(super) fn adapt_to_losses(&mut self) {
        if !self.last.begins {
            return;
        }
        let has_loss = std::mem::take(&mut self.last.has_loss);
        if !has_loss || self.state.accelerates() {
            return;
        }
        let short = &mut self.short;
        if short.bandwidth == f64::INFINITY {
            short.bandwidth = self.max_bandwidth.largest();
        }
        if short.inflight == u64::MAX {
            short.inflight = self.cwnd;
        }
        short.bandwidth = self.last.bandwidth.max(self.constants.beta * short.bandwidth);
        short.inflight = self.last.delivered.max((self.constants.beta * short.inflight as f64) as u64);
    }

    pub(super) fn long_term_with_headroom(&self) -> u64 {
        if self.long_term == u64::MAX {
            return u64::MAX;
        }
        let headroom = ((self.constants.headroom * self.long_term as f64) as u64).max(self.mss);
        self.long_term.saturating_sub(headroom).max(self.fewest())
    }

    pub(super) fn save_state(&mut self) {
        self.save_window();
        self.undo = Undo { state: None, short: self.short, long_term: self.long_term };
    }

    pub(super) fn handle_spurious_loss(&mut self) {
        self.restore_window();
        self.last.has_loss = false;
        self.pipe.reset(0.0);
        let undo = std::mem::replace(&mut self.undo, Undo::NOTHING);
        self.short.bandwidth = self.short.bandwidth.max(undo.short.bandwidth);
        self.short.inflight = self.short.inflight.max(undo.short.inflight);
        self.long_term = self.long_term.max(undo.long_term);
        match undo.state {
            Some(Bbr3State::Startup) if self.state != Bbr3State::Startup => {
                self.pipe.was_full = false;
                if self.state != Bbr3State::ProbeRtt {
                    self.enter(Bbr3State::Startup);
                }
            }
            Some(Bbr3State::Up) if self.state != Bbr3State::Up && self.state != Bbr3State::ProbeRtt => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
