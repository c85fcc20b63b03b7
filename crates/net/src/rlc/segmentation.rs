//! Segmentation of SDUs into consecutively numbered PDUs (3GPP TS 25.322 §4.2.1.3).

pub(super) use crate::span::Span as Pdus;

#[derive(Debug)]
pub(super) struct Segmentation {
    payload: u64,
    /// Whether an SDU may begin in the last PDU of the previous SDU.
    concatenates: bool,
    /// Number of the first PDU that is not assigned to an SDU yet.
    next: u64,
    /// Number of free payload bytes in the last assigned PDU, whose number is `next` minus one.
    room: u64,
}

impl Segmentation {
    pub(super) fn new(payload: u64, concatenates: bool) -> Segmentation {
        Segmentation { payload: payload.max(1), concatenates, next: 0, room: 0 }
    }

    /// Assigns PDUs to the next SDU, whose size is `bytes`, and returns the range of these PDUs. PDUs with numbers
    /// below `sent` have already been sent with padding, so they cannot hold the beginning of this SDU.
    pub(super) fn cut(&mut self, bytes: u32, sent: u64) -> Pdus {
        let shares = self.concatenates && self.room > 0 && sent < self.next;
        let start = self.next - u64::from(shares);
        let left = u64::from(bytes.max(1)).saturating_sub(if shares { self.room } else { 0 });
        if left == 0 {
            self.room -= u64::from(bytes);
        } else {
            let more = left.div_ceil(self.payload);
            self.next += more;
            self.room = more * self.payload - left;
        }
        Pdus { start, end: self.next }
    }

    /// Assigns PDUs from number `next` on to the following SDUs. The last assigned PDU gets no further SDU.
    pub(super) fn restart(&mut self, next: u64) {
        (self.next, self.room) = (next, 0);
    }

    /// Returns an empty range, for an SDU that gets no PDUs.
    pub(super) fn skip(&mut self) -> Pdus {
        self.room = 0;
        Pdus { start: self.next, end: self.next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_of_1540_bytes_takes_39_pdus() {
        let mut cutter = Segmentation::new(40, false);
        assert_eq!(cutter.cut(1540, 0).len(), 39);
        assert_eq!(cutter.cut(40, 0), Pdus { start: 39, end: 40 });
        assert_eq!(cutter.cut(41, 0), Pdus { start: 40, end: 42 });
    }

    #[test]
    fn concatenation_fills_the_last_pdu_unless_it_is_sent() {
        let mut cutter = Segmentation::new(40, true);
        assert_eq!(cutter.cut(1540, 0), Pdus { start: 0, end: 39 }); // 20 bytes of PDU 38 stay free
        assert_eq!(cutter.cut(1540, 0), Pdus { start: 38, end: 77 }); // both SDUs together take 77 PDUs instead of 78
        assert_eq!(cutter.cut(10, 0), Pdus { start: 77, end: 78 });
        assert_eq!(cutter.cut(10, 0), Pdus { start: 77, end: 78 });
        assert_eq!(cutter.cut(10, 78), Pdus { start: 78, end: 79 });
        // After a restart, the free 30 bytes of PDU 78 stay free.
        cutter.restart(79);
        assert_eq!(cutter.cut(10, 78), Pdus { start: 79, end: 80 });
    }
}
