//! Extra segments: the last one once more, with low priority, beside the window (TCP-Peach's dummies).
//!
//! An extra segment is a probe of the path that carries nothing new. The scoreboard, the timer and what is counted as
//! retransmitted know nothing of it. Whether it arrives is told by D-SACK.

use crate::ranges::Range;
use crate::sender::{Outgoing, Sender};
use lasthop_base::Time;
use lasthop_wire::Priority;

impl Sender {
    /// When the next extra segment goes out, [`Time::NEVER`] if none does.
    pub(super) fn next_extra(&self) -> Time {
        if self.board.outstanding() > 0 { self.window.rules().extra_at() } else { Time::NEVER }
    }

    /// The extra segment that is due, if one is.
    #[cold]
    #[inline(never)]
    pub(in crate::sender) fn poll_extra(&mut self, now: Time) -> Option<Outgoing> {
        let sends_extra = self.rates.as_ref().is_some_and(|rates| rates.sends_extra);
        if !sends_extra || self.next_extra() > now {
            return None;
        }
        let Range { start, end } = self.board.last()?;
        // The path may have become narrower since the segment went out.
        let range = Range { start: start.max(end.saturating_sub(self.fits)), end };
        self.window.on_extra(now);
        let fin = self.application.ends_with(range);
        Some(Outgoing { range, again: true, fin, priority: Priority::Low, cwr: false })
    }
}
