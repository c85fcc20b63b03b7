//! Sequence numbers, which wrap after 2^32, and absolute stream offsets, which do not wrap.

use std::fmt;

/// A 32-bit TCP sequence number (RFC 9293 §3.4). Sequence numbers have no order. To compare two numbers, compare their
/// absolute offsets ([`Seq::offset_of`]).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// Returns the sequence number at the absolute offset `offset`. `self` is the sequence number at offset 0.
    pub const fn at(self, offset: u64) -> Seq {
        Seq(self.0.wrapping_add(offset as u32))
    }

    /// Returns the absolute offset of the sequence number `number`. `self` is the sequence number at offset 0. Because
    /// sequence numbers wrap, several offsets have the number `number`. The result is the offset nearest to `near`.
    ///
    /// The result is exact if the true offset is within 2^31 bytes of `near`, and `None` if the offset would be
    /// negative.
    pub const fn offset_of(self, number: Seq, near: u64) -> Option<u64> {
        let distance = number.0.wrapping_sub(self.at(near).0) as i32;
        near.checked_add_signed(distance as i64)
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_and_offsets_do_not() {
        let start = Seq(u32::MAX - 10);
        let far = 3 * (1u64 << 32) + 17;
        assert_eq!(start.at(11), Seq(0));
        assert_eq!(start.offset_of(start.at(far), far - 1_000_000), Some(far));
        assert_eq!(start.offset_of(start.at(far), far + 1_000_000), Some(far));
        assert_eq!(start.offset_of(Seq(start.0 - 1), 0), None);
    }
}
