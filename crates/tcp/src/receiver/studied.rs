//! What is made of arrivals: estimates of the path and of the sender's window, and judgements of losses.

use super::burst::Burst;
use super::cause::{Gap, Observation};
use super::estimate::WindowEstimator;
use super::{Data, Receiver};
use crate::event::Log;
use crate::ranges::Range;
use lasthop_base::{Stream, Time};
use lasthop_wire::Backlog;

/// What a receiver keeps that judges losses, estimates the sender's window, foresees its own, or acknowledges in several
/// pieces.
pub(super) struct Studied {
    /// When a window that foresees wants to be asked again.
    pub(super) window_turns: Time,
    pub(super) estimator: WindowEstimator,
    pub(super) random: Stream,
    pub(super) burst: Option<Burst>,
    pub(super) uplink: Backlog,
    /// Uplink before the shape that was applied last, until the ACKs are known to be queued.
    pub(super) shaped: Option<(Backlog, u32)>,
}

impl Receiver {
    /// What is known of the path; `None`: nobody asks.
    pub fn estimator(&self) -> Option<&WindowEstimator> {
        self.studied.as_ref().map(|studied| &studied.estimator)
    }

    /// Estimates, and the judgement of a gap: the shape hears of a loss before cwnd_r is halved for it.
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
                let cause = self.cause.judge(&gap, estimator.path(), random);
                log.judged(now, range, cause);
                self.shape.on_loss(cause, estimator.path());
            }
            estimator.on_gap(self.reassembly.highest());
        } else {
            estimator.on_advance(now, self.reassembly.next());
        }
    }

    /// The sender's true window, segments.
    pub(crate) fn handle_true_window(&mut self, segments: f64) {
        if let Some(studied) = &mut self.studied {
            studied.estimator.tell(segments);
        }
    }

    /// The link layer of this host discarded a packet with these bytes.
    pub(crate) fn handle_discarded(&mut self, range: Range) {
        self.cause.on_report(range);
    }
}
