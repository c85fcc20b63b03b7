//! Contents of SACK options: duplicate data and ranges after holes.

use super::Receiver;
use crate::ranges::Range;

impl Receiver {
    /// Records duplicate data. The next SACK option begins with the range of the duplicate data (RFC 2883 §4).
    pub(crate) fn note_duplicate(&mut self, duplicate: Range) {
        if self.dsack {
            self.duplicate = duplicate;
            self.has_report = true;
        }
    }

    pub(crate) fn has_report(&self) -> bool {
        self.has_report
    }

    /// Passes at most `most` SACK blocks to `emit`: first the range of duplicate data, which is reported only once,
    /// then ranges after holes (RFC 2018 §4).
    pub(crate) fn emit_sack_blocks(&mut self, most: usize, mut emit: impl FnMut(Range)) {
        let mut left = most;
        if left > 0 && !self.duplicate.is_empty() {
            emit(std::mem::take(&mut self.duplicate));
            left -= 1;
            self.has_report = self.reassembly.has_holes();
        }
        self.reassembly.sack_ranges(left).for_each(emit);
    }
}
