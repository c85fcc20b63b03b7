//! Counters of a link layer that segments packets into PDUs. The counters include events at both ends of one link
//! direction.

use lasthop_base::Duration;

impl RlcCounters {
    /// Returns the counts since `before`, which are the counts at an earlier time. Maxima cannot be subtracted, so
    /// maxima cover the time from the start of the run.
    pub fn since(&self, before: &RlcCounters) -> RlcCounters {
        RlcCounters {
            blocks: self.blocks - before.blocks,
            blocks_lost: self.blocks_lost - before.blocks_lost,
            blocks_retransmitted: self.blocks_retransmitted - before.blocks_retransmitted,
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
            reordering_timeouts: self.reordering_timeouts - before.reordering_timeouts,
            waited: self.waited.saturating_sub(before.waited),
            ..*self
        }
    }
}

/// Totals of one direction of an RLC link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RlcCounters {
    /// Transport blocks sent.
    pub blocks: u64,
    /// Blocks that were lost over the air, wholly or in part.
    pub blocks_lost: u64,
    /// Blocks retransmitted by hybrid ARQ, included in `blocks`.
    pub blocks_retransmitted: u64,
    /// Blocks that were still lost after their last transmission by hybrid ARQ.
    pub blocks_given_up: u64,
    /// PDUs sent, retransmissions included.
    pub pdus: u64,
    /// PDUs retransmitted.
    pub retransmissions: u64,
    /// PDUs that polled for a status report.
    pub polls: u64,
    /// Status reports that the receiver generated; counted only if status is polled.
    pub statuses: u64,
    /// Status reports that were lost in the opposite direction of the link.
    pub statuses_lost: u64,
    /// PDUs with status reports on the opposite direction's data, not included in `pdus`.
    pub status_pdus: u64,
    /// SDUs discarded at the sender.
    pub discarded: u64,
    /// SDUs dropped at the sender's full buffer.
    pub overflowed: u64,
    /// SDUs delivered.
    pub delivered: u64,
    /// SDUs delivered out of order, that is, after an SDU with a higher number.
    pub late: u64,
    /// SDUs delivered although an earlier SDU was still missing.
    pub behind_gap: u64,
    /// Expiries of the reordering timer.
    pub reordering_timeouts: u64,
    /// Total reordering delay of complete SDUs.
    pub waited: Duration,
    /// Longest reordering delay.
    pub longest_wait: Duration,
    /// Largest number of SDUs in the sender's queue. The parameter `holds` selects the SDUs that count: all
    /// unacknowledged SDUs, or only SDUs that are not completely sent.
    pub largest_sending: u32,
    /// Largest number of complete SDUs in the reordering buffer.
    pub largest_receiving: u32,
}
