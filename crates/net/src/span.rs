//! Ranges of consecutive numbers, of PDUs or of bytes in a stream.

/// The numbers from `start` up to `end`, which is excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Span {
    pub(crate) fn len(self) -> u64 {
        self.end - self.start
    }

    pub(crate) fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Returns the intersection, which may be empty.
    pub(crate) fn common(self, other: Span) -> Span {
        let start = self.start.max(other.start);
        Span { start, end: self.end.min(other.end).max(start) }
    }
}
