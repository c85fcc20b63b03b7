//! Compact storage of a flow's totals.

use crate::flow::FlowAccount;
use lasthop_wire::LossReason;

/// Totals of a flow. The counters of losses in full queues and in slow start's overshoot are inline; all others are
/// allocated on first use.
#[derive(Debug, Default)]
pub(crate) struct CompactAccount {
    /// Packets from the source that a full queue dropped. [`FlowAccount::lost`] includes these packets.
    queue_full: u64,
    lost_to_overshoot: u64,
    rest: Option<Box<FlowAccount>>,
}

impl CompactAccount {
    /// Counts a lost packet that the source sent. If `is_early`, the packet belonged to slow start's overshoot.
    pub(crate) fn count_loss(&mut self, reason: LossReason, is_early: bool) {
        match reason {
            LossReason::QueueFull => self.queue_full += 1,
            _ => self.rest().lost[reason] += 1,
        }
        self.lost_to_overshoot += u64::from(is_early);
    }

    /// Returns the counters that are not inline, and allocates them on the first call.
    pub(crate) fn rest(&mut self) -> &mut FlowAccount {
        self.rest.get_or_insert_default()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.completed.is_some())
    }

    pub(crate) fn total(&self) -> FlowAccount {
        let mut total = self.rest.as_deref().copied().unwrap_or_default();
        total.lost[LossReason::QueueFull] += self.queue_full;
        total.lost_to_overshoot += self.lost_to_overshoot;
        total
    }
}
