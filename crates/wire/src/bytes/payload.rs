/// Payload of a packet to be emitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload<'a> {
    /// The payload is this slice.
    Bytes(&'a [u8]),
    /// The payload consists of two consecutive slices, e.g. of a ring buffer.
    Parts(&'a [u8], &'a [u8]),
    /// Printable pattern of this length, bytes. Each byte of a segment depends only on its sequence number. In a
    /// datagram, the first byte depends on the datagram's number; the numbers of the next bytes follow.
    Pattern(u32),
}

/// Letters of the pattern. The number of letters is a power of two, so that the pattern is continuous where sequence
/// numbers wrap.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Payload<'_> {
    /// Returns the length of the payload, bytes.
    pub fn len(&self) -> usize {
        match self {
            Payload::Bytes(bytes) => bytes.len(),
            Payload::Parts(first, second) => first.len() + second.len(),
            Payload::Pattern(len) => *len as usize,
        }
    }

    /// Whether the payload has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the payload to `out`. `first` is the number with which the pattern begins: a sequence number, or the
    /// number of a datagram.
    pub(super) fn append(&self, first: u32, out: &mut Vec<u8>) {
        match self {
            Payload::Bytes(bytes) => out.extend_from_slice(bytes),
            Payload::Parts(first, second) => {
                out.extend_from_slice(first);
                out.extend_from_slice(second);
            }
            Payload::Pattern(len) => append_letters(first, *len as usize, out),
        }
    }
}

/// Appends `len` bytes of the pattern in long pieces. If the function appended single bytes, the pattern would cause
/// most of the computing time of a packet.
fn append_letters(first: u32, len: usize, out: &mut Vec<u8>) {
    let end = out.len().saturating_add(len);
    let mut from = first as usize % LETTERS.len();
    while out.len() < end {
        let run = &LETTERS[from..];
        out.extend_from_slice(&run[..run.len().min(end - out.len())]);
        from = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(first: u32, len: u32) -> Vec<u8> {
        let mut out = Vec::new();
        Payload::Pattern(len).append(first, &mut out);
        out
    }

    #[test]
    fn bytes_depend_on_their_numbers_alone() {
        assert_eq!(pattern(100, 100)[40..], pattern(140, 60));
        assert_eq!(pattern(u32::MAX - 9, 20)[10..], pattern(0, 10));
    }
}
