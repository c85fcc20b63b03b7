//! What an ACK says was delivered (Mascolo et al. 2001 §2.3, procedure AckedCount).

use crate::sender::recovery::AckNews;

/// Counts each byte once: a duplicate stands for a segment, and the ACK that closes the hole for what is left.
///
/// As published: an ACK of one segment counts whole even if duplicates were counted before it.
#[derive(Debug)]
pub(in crate::sender::congestion) struct Delivered {
    mss: u64,
    /// Counted through duplicates, and not yet covered by a cumulative ACK.
    accounted: u64,
}

impl Delivered {
    pub(in crate::sender::congestion) fn new(mss: u64) -> Delivered {
        Delivered { mss, accounted: 0 }
    }

    /// A full segment has so much payload from now on, bytes.
    pub(in crate::sender::congestion) fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

    /// Bytes that this ACK adds.
    pub(in crate::sender::congestion) fn count(&mut self, ack: &AckNews) -> u64 {
        if ack.is_pure_duplicate() {
            self.accounted += self.mss;
            return self.mss;
        }
        if ack.acked <= self.mss {
            return ack.acked;
        }
        if self.accounted >= ack.acked {
            self.accounted -= ack.acked;
            return self.mss;
        }
        ack.acked - std::mem::take(&mut self.accounted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(acked: u64) -> AckNews {
        AckNews { acked, duplicate: acked == 0, ..AckNews::default() }
    }

    /// Segments 2 to 5 arrive behind a hole, then its repair: five segments in all.
    #[test]
    fn each_segment_counts_once() {
        let mut delivered = Delivered::new(1000);
        let acks = [0, 0, 0, 0, 5000].map(|acked| delivered.count(&ack(acked)));
        assert_eq!(acks, [1000, 1000, 1000, 1000, 1000]);
        // A delayed ACK of two segments.
        assert_eq!(delivered.count(&ack(2000)), 2000);
    }

    /// A partial ACK covers less than the duplicates accounted for: one segment, the rest stays accounted.
    #[test]
    fn a_partial_ack() {
        let mut delivered = Delivered::new(1000);
        let acks = [0, 0, 0, 0, 2000, 4000].map(|acked| delivered.count(&ack(acked)));
        assert_eq!(acks, [1000, 1000, 1000, 1000, 1000, 2000]);
    }
}
