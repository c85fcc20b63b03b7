//! What a link layer that cuts packets into PDUs counts, at both ends.

use lasthop_base::Duration;

impl Counters {
    /// What was counted after `before`; the largest ones are of all the time.
    pub fn since(&self, before: &Counters) -> Counters {
        Counters {
            blocks: self.blocks - before.blocks,
            blocks_lost: self.blocks_lost - before.blocks_lost,
            blocks_again: self.blocks_again - before.blocks_again,
            blocks_given_up: self.blocks_given_up - before.blocks_given_up,
            pdus: self.pdus - before.pdus,
            retransmissions: self.retransmissions - before.retransmissions,
            polls: self.polls - before.polls,
            statuses: self.statuses - before.statuses,
            statuses_lost: self.statuses_lost - before.statuses_lost,
            status_pdus: self.status_pdus - before.status_pdus,
            discarded: self.discarded - before.discarded,
            overflowed: self.overflowed - before.overflowed,
            delivered: self.delivered - before.delivered,
            late: self.late - before.late,
            behind_gap: self.behind_gap - before.behind_gap,
            waits_expired: self.waits_expired - before.waits_expired,
            waited: self.waited.saturating_sub(before.waited),
            ..*self
        }
    }
}

/// Totals of one direction of an RLC link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Transport blocks sent.
    pub blocks: u64,
    /// Of them destroyed, in part or as a whole.
    pub blocks_lost: u64,
    /// Of the blocks sent, those sent again by hybrid ARQ.
    pub blocks_again: u64,
    /// Blocks that hybrid ARQ gave up, so that nothing of them arrived.
    pub blocks_given_up: u64,
    /// PDUs sent, retransmissions included.
    pub pdus: u64,
    /// PDUs sent again.
    pub retransmissions: u64,
    /// Of the PDUs sent, those with a poll.
    pub polls: u64,
    /// Status reports made by the receiving side, where polls ask for them.
    pub statuses: u64,
    /// Of them destroyed in the other direction.
    pub statuses_lost: u64,
    /// PDUs sent with status reports about the other direction, not among `pdus`.
    pub status_pdus: u64,
    /// SDUs discarded by the sending side.
    pub discarded: u64,
    /// SDUs that found the sending side's buffer full.
    pub overflowed: u64,
    /// SDUs handed up.
    pub delivered: u64,
    /// Of them after a later one.
    pub late: u64,
    /// Of them while an earlier one was still missing.
    pub behind_gap: u64,
    /// Expiries of the waiting timer.
    pub waits_expired: u64,
    /// Time that whole SDUs spent waiting for earlier ones, in all.
    pub waited: Duration,
    /// The longest such time.
    pub longest_wait: Duration,
    /// Most SDUs at the sending side: those not yet acknowledged (or not yet sent, as `holds` says).
    pub largest_sending: u32,
    /// Most whole SDUs that waited at the receiving side.
    pub largest_receiving: u32,
}
