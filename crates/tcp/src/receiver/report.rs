//! What SACK options report: data that arrived twice, and what waits behind holes.

use super::Receiver;
use crate::ranges::Range;

impl Receiver {
    /// Data arrived that had arrived before: the next SACK option begins with it (RFC 2883 §4).
    pub(crate) fn note_duplicate(&mut self, duplicate: Range) {
        if self.tells_duplicates {
            self.duplicate = duplicate;
            self.reports = true;
        }
    }

    /// Whether there is anything for a SACK option.
    pub(crate) fn reports(&self) -> bool {
        self.reports
    }

    /// What the SACK option says, `most` blocks at most: a duplicate once, then ranges behind holes (RFC 2018 §4).
    pub(crate) fn report(&mut self, most: usize, mut tell: impl FnMut(Range)) {
        let mut left = most;
        if left > 0 && !self.duplicate.is_empty() {
            tell(std::mem::take(&mut self.duplicate));
            left -= 1;
            self.reports = self.reassembly.has_holes();
        }
        self.reassembly.sack_ranges(left).for_each(tell);
    }
}
