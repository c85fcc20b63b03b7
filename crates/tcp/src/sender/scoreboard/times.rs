//! Sending times of segments, which reveal the most recently sent segment that is delivered, reordering, and losses by
//! time.
//!
//! Sending times are stored only for rate samples and for a recovery that detects losses by time (RACK, RFC 8985). No
//! sorted list is needed: the ring of records holds original transmissions in order of time, and a queue holds
//! retransmissions in order of time.

use super::{COPY_IN_FLIGHT, EVER_RETRANSMITTED, LOST, SACKED, Scoreboard, SegmentRecord};
use crate::ranges::Range;
use lasthop_base::{Duration, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The most recently sent segment among the segments that an ACK delivers. Segments with the same sending time are
/// ordered by sequence number (RFC 8985 §6.2 step 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Newest {
    /// Offset after the segment's last byte.
    pub end: u64,
    /// Time of the last transmission.
    pub sent_at: Time,
    /// Whether the segment was ever retransmitted.
    pub is_retransmitted: bool,
}

#[derive(Debug, Default)]
pub(super) struct Times {
    newest: Option<Newest>,
    /// Earliest sending time of the segments that this ACK newly reports by SACK. Retransmitted segments do not count.
    oldest_reported: Option<Time>,
    /// Offset after the highest segment that earlier ACKs delivered.
    highest_before: u64,
    /// Offset after the highest segment that earlier ACKs and this ACK deliver (RFC 8985 §6.2 step 3, RACK.fack).
    highest: u64,
    reordered: bool,
    /// Retransmissions in order of time. Each entry has the index of the segment's record, and the sending time.
    copies: VecDeque<(u64, Time)>,
    /// Indices of segments whose retransmitted copies were lost, lowest first. Some of these segments may have been
    /// delivered since.
    lost_copies: BinaryHeap<Reverse<u64>>,
    /// Segments marked lost since the last [`Scoreboard::take_losses`]. `None` if the sender takes no rate samples.
    newly_lost: Option<Vec<Range>>,
}

impl Times {
    pub(super) fn on_delivered(&mut self, record: SegmentRecord) {
        let SegmentRecord { end, sent_at, marks } = record;
        let is_retransmitted = marks & EVER_RETRANSMITTED != 0;
        self.reordered |= !is_retransmitted && end < self.highest_before;
        self.highest = self.highest.max(end);
        if self.newest.is_none_or(|known| (known.sent_at, known.end) < (sent_at, end)) {
            self.newest = Some(Newest { end, sent_at, is_retransmitted });
        }
    }

    pub(super) fn on_reported(&mut self, record: SegmentRecord) {
        if record.marks & EVER_RETRANSMITTED == 0 {
            let known = self.oldest_reported.unwrap_or(Time::NEVER);
            self.oldest_reported = Some(known.min(record.sent_at));
        }
    }

    pub(super) fn record_retransmission(&mut self, index: u64, now: Time) {
        self.copies.push_back((index, now));
    }

    pub(super) fn note_loss(&mut self, range: Range) {
        if let Some(newly_lost) = &mut self.newly_lost {
            newly_lost.push(range);
        }
    }

    pub(super) fn forget_copies(&mut self) {
        self.copies.clear();
        self.lost_copies.clear();
    }
}

impl Scoreboard {
    /// Stores sending times from now on.
    pub fn keep_times(&mut self) {
        self.times = Some(Box::default());
    }

    /// Stores sending times and a list of newly lost segments from now on.
    pub fn keep_losses(&mut self) {
        self.times = Some(Box::new(Times { newly_lost: Some(Vec::new()), ..Times::default() }));
    }

    /// Replaces the contents of `lost` by the segments marked lost since the last call, in order of detection.
    pub fn take_losses(&mut self, lost: &mut Vec<Range>) {
        lost.clear();
        if let Some(newly_lost) = self.times.as_mut().and_then(|times| times.newly_lost.as_mut()) {
            std::mem::swap(newly_lost, lost);
        }
    }

    /// Starts the handling of an ACK.
    #[inline]
    pub fn begin_ack(&mut self) {
        if let Some(times) = &mut self.times {
            times.newest = None;
            times.oldest_reported = None;
            times.highest_before = times.highest;
        }
    }

    /// The most recently sent segment delivered since [`Scoreboard::begin_ack`]. Always `None` if sending times are not
    /// stored.
    pub fn newest(&self) -> Option<Newest> {
        self.times.as_ref()?.newest
    }

    /// Earliest sending time of the segments that SACK has newly reported since [`Scoreboard::begin_ack`].
    /// Retransmitted segments do not count. Always `None` if sending times are not stored.
    pub fn oldest_reported(&self) -> Option<Time> {
        self.times.as_ref()?.oldest_reported
    }

    /// Whether the network has reordered packets: a segment that was never retransmitted was delivered after a later
    /// segment.
    pub fn has_reordered(&self) -> bool {
        self.times.as_ref().is_some_and(|times| times.reordered)
    }

    /// Marks segments as lost if they were sent before the segment `newest` and at least `wait` ago. `newest`: sending
    /// time of the segment, and the offset after its last byte. Returns the time at which the next segment must be
    /// marked lost, or [`Time::NEVER`].
    ///
    /// All calls together visit each segment once per transmission.
    pub fn mark_lost_by_time(&mut self, now: Time, newest: (Time, u64), wait: Duration) -> Time {
        let mut next = Time::NEVER;
        let mut index = self.lost_to.max(self.popped);
        while let Some(record) = self.records.get((index - self.popped) as usize).copied() {
            if record.marks & (SACKED | EVER_RETRANSMITTED) == 0 {
                if (record.sent_at, record.end) >= newest {
                    break;
                }
                if record.sent_at + wait > now {
                    next = record.sent_at + wait;
                    break;
                }
                self.mark_lost((index - self.popped) as usize);
            }
            index += 1;
        }
        self.lost_to = index;
        while let Some((index, sent_at)) = self.first_resent() {
            if let Some(record) = self.record_of(index)
                && record.sent_at == sent_at
                && record.marks & SACKED == 0
            {
                if (sent_at, record.end) >= newest {
                    break;
                }
                if sent_at + wait > now {
                    next = next.min(sent_at + wait);
                    break;
                }
                self.mark_copy_lost(index);
            }
            if let Some(times) = &mut self.times {
                times.copies.pop_front();
            }
        }
        next
    }

    /// Marks the first outstanding segment as lost, and also its retransmitted copy if one is in flight.
    pub fn mark_first_and_copy_lost(&mut self) {
        if !self.records.is_empty() {
            self.mark_copy_lost(self.popped);
            self.lost_to = self.lost_to.max(self.popped + 1);
            self.retransmit_from = self.retransmit_from.min(self.popped);
        }
    }

    /// Whether the receiver has reneged: the first outstanding segment is SACKed, so the cumulative ACK should have
    /// covered it (RFC 2018 §8).
    pub fn has_reneged(&self) -> bool {
        self.records.front().is_some_and(|record| record.marks & SACKED != 0)
    }

    /// Range of the last outstanding segment.
    pub fn last(&self) -> Option<Range> {
        self.records.len().checked_sub(1).map(|index| self.range_at(index))
    }

    /// Bytes whose retransmitted copies are in flight.
    pub fn copies_in_flight(&self) -> u64 {
        self.copy_bytes
    }

    #[inline(never)]
    pub(super) fn next_lost_copy(&mut self) -> Option<u64> {
        loop {
            let Reverse(index) = *self.times.as_ref()?.lost_copies.peek()?;
            if self
                .record_of(index)
                .is_some_and(|record| record.marks & (LOST | COPY_IN_FLIGHT | SACKED) == LOST)
            {
                return Some(index);
            }
            self.times.as_mut()?.lost_copies.pop();
        }
    }

    fn first_resent(&self) -> Option<(u64, Time)> {
        self.times.as_ref()?.copies.front().copied()
    }

    fn record_of(&self, index: u64) -> Option<SegmentRecord> {
        self.records.get(index.checked_sub(self.popped)? as usize).copied()
    }

    fn mark_copy_lost(&mut self, index: u64) {
        let at = (index - self.popped) as usize;
        let len = self.len_of(at);
        self.mark_lost(at);
        let record = &mut self.records[at];
        if record.marks & COPY_IN_FLIGHT != 0 {
            record.marks &= !COPY_IN_FLIGHT;
            self.copy_bytes -= len;
            self.lost_total += len;
            self.note_loss(at);
        }
        if let Some(times) = &mut self.times {
            times.lost_copies.push(Reverse(index));
        }
    }
}
