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

#[cfg(test)]
mod tests {
    use super::*;

    /// Each count must be the later count minus the earlier count: 30 - 7 = 23 for the first, 31 - 8 = 23 for the
    /// second. Maxima must be those of the later counters.
    #[test]
    fn counts_since_are_differences_and_maxima_stay() {
        let of = |first: u64| RlcCounters {
            blocks: first,
            blocks_lost: first + 1,
            blocks_retransmitted: first + 2,
            blocks_given_up: first + 3,
            pdus: first + 4,
            retransmissions: first + 5,
            polls: first + 6,
            statuses: first + 7,
            statuses_lost: first + 8,
            status_pdus: first + 9,
            discarded: first + 10,
            overflowed: first + 11,
            delivered: first + 12,
            late: first + 13,
            behind_gap: first + 14,
            reordering_timeouts: first + 15,
            waited: Duration::from_millis(first + 16),
            longest_wait: Duration::from_millis(first + 17),
            largest_sending: 40 + first as u32,
            largest_receiving: 50 + first as u32,
        };
        let expected = RlcCounters {
            blocks: 23,
            blocks_lost: 23,
            blocks_retransmitted: 23,
            blocks_given_up: 23,
            pdus: 23,
            retransmissions: 23,
            polls: 23,
            statuses: 23,
            statuses_lost: 23,
            status_pdus: 23,
            discarded: 23,
            overflowed: 23,
            delivered: 23,
            late: 23,
            behind_gap: 23,
            reordering_timeouts: 23,
            waited: Duration::from_millis(23),
            longest_wait: Duration::from_millis(47),
            largest_sending: 70,
            largest_receiving: 80,
        };
        assert_eq!(of(30).since(&of(7)), expected);
    }
}
