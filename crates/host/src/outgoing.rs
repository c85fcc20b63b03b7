//! The send buffer: bytes that the application has written and that the peer has not acknowledged.

use std::collections::VecDeque;

/// The send buffer. It stores the bytes of the application's stream from offset `start` on.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Stream offset of the first stored byte. The SYN has offset 0.
    start: u64,
    bytes: VecDeque<u8>,
    capacity: usize,
}

impl Outgoing {
    pub(crate) fn new(capacity: usize) -> Outgoing {
        Outgoing { start: 1, bytes: VecDeque::new(), capacity }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn free(&self) -> usize {
        self.capacity.saturating_sub(self.bytes.len())
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.free());
        self.bytes.extend(&bytes[..taken]);
        taken
    }

    /// Removes the bytes before stream offset `una`, which the peer has acknowledged. Returns whether at least one byte
    /// was removed.
    pub(crate) fn acknowledged(&mut self, una: u64) -> bool {
        let gone = una.saturating_sub(self.start).min(self.bytes.len() as u64);
        self.bytes.drain(..gone as usize);
        self.start += gone;
        gone > 0
    }

    /// Returns the stored bytes from stream offset `offset` on, at most `len` bytes. The result has two consecutive
    /// parts, because the buffer is circular.
    pub(crate) fn slices(&self, offset: u64, len: usize) -> (&[u8], &[u8]) {
        let (first, second) = self.bytes.as_slices();
        let from = offset.saturating_sub(self.start) as usize;
        let to = from.saturating_add(len);
        let cut = |part: &'_ [u8], before: usize| {
            let end = to.saturating_sub(before).min(part.len());
            (from.saturating_sub(before).min(end), end)
        };
        let (a, b) = (cut(first, 0), cut(second, first.len()));
        (&first[a.0..a.1], &second[b.0..b.1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_not_acknowledged_and_no_more_than_fits() {
        let mut buffer = Outgoing::new(8);
        assert_eq!(buffer.write(b"abcdef"), 6);
        buffer.acknowledged(5);
        assert_eq!((buffer.len(), buffer.write(b"ghijklmn")), (2, 6));
        for (offset, len, expected) in
            [(5, 8, "efghijkl"), (7, 3, "ghi"), (12, 9, "l"), (13, 1, ""), (5, 0, "")]
        {
            let (first, second) = buffer.slices(offset, len);
            assert_eq!([first, second].concat(), expected.as_bytes(), "{len} from {offset}");
        }
    }
}
