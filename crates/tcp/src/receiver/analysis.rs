//! Path estimates and loss discrimination at the receiver.

use super::burst::Burst;
use super::loss_discrimination::{Gap, Observation};
use super::window_estimate::WindowEstimator;
use super::{DataSegment, Receiver};
use crate::event::Log;
use crate::ranges::Range;
use lasthop_base::{Stream, Time};
use lasthop_wire::Backlog;

/// State for loss discrimination, path estimates, ACK splitting, and windows that use planned rate changes of the link.
pub(super) struct Analysis {
    /// Time of the next call of
    /// [`AdvertisedWindow::on_decision_time`](super::window::AdvertisedWindow::on_decision_time).
    pub(super) next_window_decision: Time,
    pub(super) estimator: WindowEstimator,
    pub(super) random: Stream,
    pub(super) burst: Option<Burst>,
    pub(super) uplink: Backlog,
    /// Uplink queue before the last ACK that was due, and the number of ACKs sent in place of that ACK. `None` as soon
    /// as these ACKs are in the uplink queue.
    pub(super) split_ack: Option<(Backlog, u32)>,
}

impl Receiver {
    /// Path estimator; always `Some` if a mechanism needs an estimate.
    pub fn estimator(&self) -> Option<&WindowEstimator> {
        self.analysis.as_ref().map(|analysis| &analysis.estimator)
    }

    /// Updates the path estimate, and attributes the gap `opened` to a cause. The ACK splitting handles the loss before
    /// the estimator halves cwnd_r. `highest`: offset after the highest byte received before `data`.
    pub(super) fn analyse(
        &mut self,
        now: Time,
        data: &DataSegment,
        highest: u64,
        opened: Option<Range>,
        log: &mut Log,
    ) {
        if data.range.end > highest {
            self.discriminator.observe(&Observation { now, range: data.range, sent: data.sent });
        }
        let Some(analysis) = self.analysis.as_deref_mut() else { return };
        let Analysis { estimator, random, .. } = analysis;
        if self.needs_estimate {
            estimator.on_arrival(now, data.range.len(), self.segment, data.rtt);
        }
        if let Some(range) = opened {
            if self.discriminates {
                let gap = Gap { range, segment: self.segment };
                let cause = self.discriminator.discriminate(&gap, estimator.path(), random);
                log.loss_classified(now, range, cause);
                self.ack_splitting.on_loss(cause, estimator.path());
            }
            estimator.on_gap(self.reassembly.highest());
        } else {
            estimator.on_advance(now, self.reassembly.next());
        }
    }

    pub(crate) fn handle_true_window(&mut self, segments: f64) {
        if let Some(analysis) = &mut self.analysis {
            analysis.estimator.set_true_window(segments);
        }
    }

    pub(crate) fn handle_discarded(&mut self, range: Range) {
        self.discriminator.on_report(range);
    }
}
