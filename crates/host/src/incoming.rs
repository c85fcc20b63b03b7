//! The receive buffer: bytes that have arrived and that the application has not yet read.

use lasthop_tcp::receiver::reassembly::Reassembly;
use std::collections::VecDeque;

/// The receive buffer. It stores bytes of the peer's stream from offset `start` on, possibly with holes.
///
/// The endpoint's [`Reassembly`] records which bytes have arrived; the buffer does not. The connection stores the
/// payload of a segment *before* the endpoint handles the segment. The payload never replaces bytes that have arrived.
/// If the endpoint rejects the segment, the stored payload stays unreadable until valid bytes overwrite the payload.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// Stream offset of the next byte that the application will read. The SYN has offset 0.
    start: u64,
    bytes: VecDeque<u8>,
}

impl Incoming {
    pub(crate) fn new() -> Incoming {
        Incoming { start: 1, bytes: VecDeque::new() }
    }

    /// Returns the number of readable bytes. `next` is the stream offset after the last readable byte.
    pub(crate) fn readable(&self, next: u64) -> u64 {
        next.saturating_sub(self.start)
    }

    pub(crate) fn read_so_far(&self) -> u64 {
        self.start - 1
    }

    /// Stores the payload of a segment that starts at stream offset `offset`. Does not store bytes that have already
    /// arrived, nor bytes beyond `edge`, the right edge of the window.
    pub(crate) fn place(&mut self, offset: u64, payload: &[u8], received: &Reassembly, edge: u64) {
        let end = (offset + payload.len() as u64).min(edge);
        let mut at = offset.max(received.next());
        // Fast path: no bytes are stored beyond a hole, so that all bytes from `at` on are new.
        if !received.has_holes() && at < end {
            return self.write(at, &payload[(at - offset) as usize..(end - offset) as usize]);
        }
        while at < end {
            let (is_there, run_end) = received.beyond().run_at(at, end);
            if !is_there {
                self.write(at, &payload[(at - offset) as usize..(run_end - offset) as usize]);
            }
            at = run_end;
        }
    }

    pub(crate) fn read(&mut self, out: &mut [u8], next: u64) -> usize {
        let len = self.peek(out, next);
        self.bytes.drain(..len);
        self.start += len as u64;
        len
    }

    /// Copies readable bytes to `out`. The copied bytes stay in the buffer. `next` is the stream offset after the last
    /// readable byte.
    pub(crate) fn peek(&self, out: &mut [u8], next: u64) -> usize {
        let len = (out.len() as u64).min(self.readable(next)) as usize;
        let (first, second) = self.bytes.as_slices();
        let split = first.len().min(len);
        out[..split].copy_from_slice(&first[..split]);
        out[split..len].copy_from_slice(&second[..len - split]);
        len
    }

    pub(crate) fn truncate(&mut self, offset: u64) {
        self.bytes.truncate(self.readable(offset) as usize);
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        let from = (offset - self.start) as usize;
        if from == self.bytes.len() {
            self.bytes.extend(bytes);
            return;
        }
        let to = from + bytes.len();
        if to > self.bytes.len() {
            self.bytes.resize(to, 0);
        }
        let (first, second) = self.bytes.as_mut_slices();
        let split = first.len().clamp(from, to) - from;
        if split > 0 {
            first[from..from + split].copy_from_slice(&bytes[..split]);
        }
        if split < bytes.len() {
            let at = from + split - first.len();
            second[at..at + bytes.len() - split].copy_from_slice(&bytes[split..]);
        }
    }
}
