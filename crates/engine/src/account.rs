//! What the engine keeps of a flow's account.

use crate::flow::FlowAccount;
use lasthop_wire::LossReason;

/// A flow's account: beside the flow what each loss changes where many share a queue that is full, and the rest, which few
/// flows need, behind it.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// Packets from the source that found no room, [`FlowAccount::lost`].
    no_room: u64,
    /// [`FlowAccount::lost_to_overshoot`].
    to_overshoot: u64,
    rest: Option<Box<FlowAccount>>,
}

impl Account {
    /// A packet from the source is lost; `is_early`: one that slow start's overshoot sent.
    pub(crate) fn lose(&mut self, reason: LossReason, is_early: bool) {
        match reason {
            LossReason::QueueFull => self.no_room += 1,
            _ => self.rest().lost[reason] += 1,
        }
        self.to_overshoot += u64::from(is_early);
    }

    /// All but what [`Account::lose`] counts.
    pub(crate) fn rest(&mut self) -> &mut FlowAccount {
        self.rest.get_or_insert_default()
    }

    /// Whether the destination has everything of a finite transfer.
    pub(crate) fn is_complete(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.completed.is_some())
    }

    /// All of it.
    pub(crate) fn whole(&self) -> FlowAccount {
        let mut whole = self.rest.as_deref().copied().unwrap_or_default();
        whole.lost[LossReason::QueueFull] += self.no_room;
        whole.lost_to_overshoot += self.to_overshoot;
        whole
    }
}
