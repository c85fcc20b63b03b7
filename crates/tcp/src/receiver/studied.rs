//! Path estimates and loss discrimination at the receiver.

use super::burst::Burst;
use super::loss_discrimination::{Gap, Observation};
use super::window_estimate::WindowEstimator;
use super::{Data, Receiver};
use crate::event::Log;
use crate::ranges::Range;
use lasthop_base::{Stream, Time};
use lasthop_wire::Backlog;

/// State for loss discrimination, window estimates, windows with foresight, and ACK splitting.
pub(super) struct Studied {
    /// Next call of [`AdvertisedWindow::on_turn`](super::window::AdvertisedWindow::on_turn).
    pub(super) window_turns: Time,
    pub(super) estimator: WindowEstimator,
    pub(super) random: Stream,
    pub(super) burst: Option<Burst>,
    pub(super) uplink: Backlog,
    /// Uplink queue before the last split ACK, and number of ACKs, until the ACKs are queued.
    pub(super) shaped: Option<(Backlog, u32)>,
}

impl Receiver {
    /// Path estimator; `None` if no mechanism needs an estimate.
    pub fn estimator(&self) -> Option<&WindowEstimator> {
        self.studied.as_ref().map(|studied| &studied.estimator)
    }

    /// Updates estimates and attributes a gap. The ACK splitting handles a loss before cwnd_r is halved.
    pub(super) fn consider(
        &mut self,
        now: Time,
        data: &Data,
        highest: u64,
        opened: Option<Range>,
        log: &mut Log,
    ) {
        if data.range.end > highest {
            self.cause.observe(&Observation { now, range: data.range, sent: data.sent });
        }
        let Some(studied) = self.studied.as_deref_mut() else { return };
        let Studied { estimator, random, .. } = studied;
        if self.estimates {
            estimator.on_arrival(now, data.range.len(), self.segment, data.rtt);
        }
        if let Some(range) = opened {
            if self.judges {
                let gap = Gap { range, segment: self.segment };
                let cause = self.cause.discriminate(&gap, estimator.path(), random);
                log.judged(now, range, cause);
                self.ack_splitting.on_loss(cause, estimator.path());
            }
            estimator.on_gap(self.reassembly.highest());
        } else {
            estimator.on_advance(now, self.reassembly.next());
        }
    }

    pub(crate) fn handle_true_window(&mut self, segments: f64) {
        if let Some(studied) = &mut self.studied {
            studied.estimator.tell(segments);
        }
    }

    pub(crate) fn handle_discarded(&mut self, range: Range) {
        self.cause.on_report(range);
    }
}
