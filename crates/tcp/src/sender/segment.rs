//! How much a segment holds: what the path takes, and what of that is left to options.

use super::Sender;
use super::timer::Kind;
use crate::event::Reason;
use lasthop_base::Time;

impl Sender {
    /// Payload of a full segment, bytes.
    pub fn segment(&self) -> u64 {
        self.mss
    }

    /// Whether segments with new data leave some of a full segment to options.
    pub(crate) fn leaves_room(&self) -> bool {
        self.fits != self.mss
    }

    /// From now on segments with new data leave so many bytes of a full segment to options.
    pub(crate) fn leave_room(&mut self, bytes: u64) {
        self.fits = self.mss.saturating_sub(bytes).max(1);
    }

    /// The path takes segments of `mss` bytes and no longer ones: what is outstanding goes out again in such. That says
    /// nothing of congestion: cwnd stays (RFC 1191 §6.4).
    pub(crate) fn shorten(&mut self, now: Time, mss: u64) {
        self.mss = mss;
        self.fits = mss;
        self.window.on_segment(mss);
        if self.board.outstanding() > 0 {
            self.board.cut(mss);
            self.board.mark_all_lost();
            self.ignore_losses();
            self.start_over(Reason::TooLong);
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
            self.take_stock();
        }
    }
}
