//! Handling of data that the receiver reports as arrived, by cumulative ACKs and by SACK blocks.

use super::{COPY_IN_FLIGHT, EVER_RETRANSMITTED, LOST, SACKED, Scoreboard, SegmentRecord};
use crate::ranges::Range;
use lasthop_base::Time;

/// Effect of a cumulative ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// Bytes by which `una` advanced.
    pub bytes: u64,
    /// Number of segments that are now wholly acknowledged and that SACK had not reported before.
    pub segments: u32,
    /// Bytes newly acknowledged that SACK had not reported before.
    pub delivered: u64,
    /// Sending time of the last segment acknowledged, for an RTT sample. `None` if SACK had reported this segment
    /// before. `None` also if any acknowledged segment was retransmitted: the receiver may have held the other segments
    /// until the retransmission arrived (Karn's algorithm, RFC 6298 §3).
    pub sent_at: Option<Time>,
}

impl Scoreboard {
    /// Handles a cumulative acknowledgement up to `ack`, which must be in `una..=nxt`.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) -> Acked {
        let bytes = ack - self.una;
        match self.acknowledge_first(ack) {
            Some(sent_at) => Acked { bytes, segments: 1, delivered: bytes, sent_at: Some(sent_at) },
            None => self.acknowledge_any(ack),
        }
    }

    /// Fast path of [`Scoreboard::acknowledge`], for an ACK that covers exactly the first segment, if this segment was
    /// never SACKed, lost or retransmitted. Returns the segment's sending time. Returns `None` and changes nothing if
    /// the fast path does not apply.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn acknowledge_first(&mut self, ack: u64) -> Option<Time> {
        let SegmentRecord { end, sent_at, marks } = *self.records.front()?;
        if end != ack || marks != 0 || !self.sacked.is_empty() || self.times.is_some() {
            return None;
        }
        self.largest_acked = self.largest_acked.max(ack - self.una);
        self.records.pop_front();
        self.popped += 1;
        self.una = ack;
        Some(sent_at)
    }

    #[cold]
    fn acknowledge_any(&mut self, ack: u64) -> Acked {
        let mut acked = Acked { bytes: ack - self.una, ..Acked::default() };
        self.largest_acked = self.largest_acked.max(acked.bytes);
        let mut start = self.una;
        let mut seen = 0;
        while let Some(record) = self.records.front() {
            let SegmentRecord { end, sent_at, marks } = *record;
            let covered = end.min(ack) - start;
            self.forget(covered, marks);
            if marks & SACKED == 0 {
                acked.delivered += covered;
            }
            if end > ack {
                break;
            }
            if marks & SACKED == 0 {
                acked.segments += 1;
                if let Some(times) = &mut self.times {
                    times.on_delivered(SegmentRecord { end, sent_at, marks });
                }
            }
            seen |= marks & EVER_RETRANSMITTED;
            acked.sent_at = ((marks & SACKED) | seen == 0).then_some(sent_at);
            self.records.pop_front();
            self.popped += 1;
            start = end;
            if start == ack {
                break;
            }
        }
        self.una = ack;
        if !self.sacked.is_empty() {
            self.sacked.remove_below(ack);
        }
        acked
    }

    /// Records a SACK block and returns the bytes newly reported.
    ///
    /// Ignores reversed blocks and blocks outside of `una..nxt` (RFC 2018 §5), such as D-SACKs below `una` (RFC 2883).
    /// As in Linux, also ignores a block that begins below `una` and ends above `una`. Such a block occurs only in
    /// reordered ACKs of a receiver with ACK splitting.
    pub fn sack(&mut self, block: Range) -> u64 {
        if block.start >= block.end || block.start < self.una || block.end > self.nxt {
            return 0;
        }
        let mut newly_reported = 0;
        let mut from = block.start;
        while from < block.end {
            let (covered, to) = self.sacked.run_at(from, block.end);
            if !covered {
                newly_reported += self.mark_sacked(Range { start: from, end: to });
            }
            from = to;
        }
        newly_reported
    }

    /// Marks all segments inside `stretch` as SACKed and returns their bytes. No earlier block has covered this range.
    /// A segment that is only partly covered is not marked.
    fn mark_sacked(&mut self, stretch: Range) -> u64 {
        let mut index = self.index_of(stretch.start);
        let mut begin = self.start_of(index);
        if begin < stretch.start {
            begin = self.records[index].end;
            index += 1;
        }
        let first = begin;
        while let Some(record) = self.records.get_mut(index) {
            if record.end > stretch.end {
                break;
            }
            let (len, marks) = (record.end - begin, record.marks);
            if let Some(times) = &mut self.times {
                times.on_delivered(*record);
                times.on_reported(*record);
            }
            record.marks |= SACKED;
            begin = record.end;
            index += 1;
            self.sacked_bytes += len;
            if marks & LOST != 0 {
                self.lost_bytes -= len;
            }
            if marks & COPY_IN_FLIGHT != 0 {
                self.copy_bytes -= len;
            }
        }
        if begin > first {
            self.sacked.insert(Range { start: first, end: begin });
        }
        begin - first
    }

    fn forget(&mut self, bytes: u64, marks: u8) {
        if marks & (SACKED | LOST | COPY_IN_FLIGHT) == 0 {
            return;
        }
        if marks & SACKED != 0 {
            self.sacked_bytes -= bytes;
            return;
        }
        if marks & LOST != 0 {
            self.lost_bytes -= bytes;
        }
        if marks & COPY_IN_FLIGHT != 0 {
            self.copy_bytes -= bytes;
        }
    }
}
