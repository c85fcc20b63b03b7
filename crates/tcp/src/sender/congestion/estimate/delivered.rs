//! Number of bytes that an ACK newly reports as delivered (Mascolo et al. 2001 §2.3, procedure AckedCount).

use crate::sender::recovery::AckNews;

/// Counter of delivered bytes. A byte counts once, either at a duplicate ACK or at the cumulative ACK. As in the paper,
/// a cumulative ACK for at most one segment always counts in full.
#[derive(Debug)]
pub(in crate::sender::congestion) struct Delivered {
    mss: u64,
    /// Bytes that were counted for duplicate ACKs and that no cumulative ACK covers yet.
    accounted: u64,
}

impl Delivered {
    pub(in crate::sender::congestion) fn new(mss: u64) -> Delivered {
        Delivered { mss, accounted: 0 }
    }

    pub(in crate::sender::congestion) fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

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

    /// Segments 2 to 5 arrive after a hole; then the retransmission fills the hole. The counter counts five segments in
    /// total.
    #[test]
    fn each_segment_counts_once() {
        let mut delivered = Delivered::new(1000);
        let acks = [0, 0, 0, 0, 5000].map(|acked| delivered.count(&ack(acked)));
        assert_eq!(acks, [1000, 1000, 1000, 1000, 1000]);
        assert_eq!(delivered.count(&ack(2000)), 2000);
    }

    /// A partial ACK that covers fewer bytes than the duplicate ACKs have counted counts as one segment. The rest of
    /// the counted bytes is deducted from later ACKs.
    #[test]
    fn a_partial_ack() {
        let mut delivered = Delivered::new(1000);
        let acks = [0, 0, 0, 0, 2000, 4000].map(|acked| delivered.count(&ack(acked)));
        assert_eq!(acks, [1000, 1000, 1000, 1000, 1000, 2000]);
    }
}
