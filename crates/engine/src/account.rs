//! Compact storage of a flow's totals (packets lost, datagrams and others).

use crate::flow::FlowAccount;
use lasthop_wire::LossReason;

/// Totals of a flow. Two counters are inline: losses in full queues, and losses in slow start's overshoot. All other
/// counters are allocated when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct CompactAccount {
    /// Packets from the source that a full queue dropped. [`FlowAccount::lost`] includes these packets.
    queue_full: u64,
    lost_to_overshoot: u64,
    rest: Option<Box<FlowAccount>>,
}

impl CompactAccount {
    /// Counts the loss of a packet that the source sent. `is_early` is true if the packet belonged to slow start's
    /// overshoot.
    pub(crate) fn count_loss(&mut self, reason: LossReason, is_early: bool) {
        match reason {
            LossReason::QueueFull => self.queue_full += 1,
            _ => self.rest().lost[reason] += 1,
        }
        self.lost_to_overshoot += u64::from(is_early);
    }

    /// Returns the counters that are not inline. The first call allocates these counters.
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
