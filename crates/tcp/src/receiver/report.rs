//! Contents of SACK options: duplicate data and ranges after holes.

use super::Receiver;
use crate::ranges::Range;

impl Receiver {
    /// Records duplicate data; the next SACK option begins with its range (RFC 2883 §4).
    pub(crate) fn note_duplicate(&mut self, duplicate: Range) {
        if self.tells_duplicates {
            self.duplicate = duplicate;
            self.reports = true;
        }
    }

    pub(crate) fn reports(&self) -> bool {
        self.reports
    }

    /// Passes at most `most` SACK blocks to `tell`: a duplicate once, then ranges after holes (RFC 2018 §4).
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
