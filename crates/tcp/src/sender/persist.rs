//! Zero-window probes (RFC 9293 §3.8.6.1): nothing is outstanding and the receiver's window is closed, until it opens.

use super::timer::Kind;
use super::{Expiry, Outgoing, Sender};
use crate::event::{Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;

/// Probes of the closed window.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Persist {
    /// Probes (or ends of the wait for more of the window) so far; each doubles the wait for the next.
    probes: u32,
    /// Whether one is to go out.
    due: bool,
    /// Whether a window of zero stops the retransmission timer, and whether it has.
    pub(super) freezes: bool,
    frozen: bool,
    /// When the last of them was sent, and the first that was not answered: [`Time::NEVER`] if there is none.
    probed_at: Time,
    unanswered_since: Time,
}

impl Persist {
    pub(super) fn new(freezes: bool) -> Persist {
        let (probed_at, unanswered_since) = (Time::ZERO, Time::NEVER);
        Persist { probes: 0, due: false, freezes, frozen: false, probed_at, unanswered_since }
    }

    /// New data goes out: the window has room.
    #[inline]
    pub(super) fn end(&mut self) {
        self.probes = 0;
        self.due = false;
    }

    /// Whether what is outstanding waits for the window to open.
    #[inline]
    pub(super) fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Whether a closed window has kept a sender from sending that such a window freezes (Freeze-TCP, Goff et al. 2000).
    pub(super) fn was_frozen(&self) -> bool {
        self.freezes && self.probes > 0
    }

    /// Whether a probe's byte may be acknowledged, which counts as sent only once it is.
    pub(super) fn has_probed(&self) -> bool {
        self.probes > 0
    }
}

impl Sender {
    /// With nothing outstanding, data waits for the receiver's window: a probe if one is due, otherwise the timer for it.
    pub(super) fn poll_persist(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if !self.has_new_data() {
            return None;
        }
        if !std::mem::take(&mut self.persist.due) {
            if self.timer.is_off() {
                self.timer.start(now + self.rtt.doubled(self.persist.probes), Kind::Persist);
            }
            return None;
        }
        let start = self.board.nxt();
        let usable = self.peer.usable_from(start);
        if usable > 0 {
            // The end of the wait for a larger part of the window (RFC 9293 §3.8.6.2.1, the override timeout).
            let end = self.application.written().min(start + usable.min(self.fits));
            return Some(self.send_new(now, Range { start, end }));
        }
        let persist = &mut self.persist;
        let again = persist.probes > 0;
        if !again {
            persist.unanswered_since = Time::NEVER;
        }
        persist.probed_at = now;
        persist.probes += 1;
        persist.unanswered_since = persist.unanswered_since.min(now);
        let since = persist.unanswered_since;
        let next = now + self.rtt.doubled(persist.probes);
        self.timer.start(next.min(self.user_timeout.ends(since)), Kind::Persist);
        let range = Range { start, end: start + 1 };
        if again {
            log.often.retransmitted += 1;
            log.trace(now, Event::Retransmitted { range, reason: Reason::WindowProbe });
        }
        Some(Outgoing { range, again, fin: false, priority: Priority::Normal, cwr: false })
    }

    /// The persist timer expired; `heard_at` is when the peer last said something acceptable. No loss: the receiver's window
    /// is closed, for as long as it answers.
    pub(super) fn expire_persist(&mut self, now: Time, heard_at: Time) -> Expiry {
        let persist = &mut self.persist;
        if heard_at >= persist.probed_at {
            persist.unanswered_since = Time::NEVER;
        }
        let since = persist.unanswered_since;
        if persist.probes > 0 && since < Time::NEVER && now >= self.user_timeout.ends(since) {
            return Expiry::GivenUp;
        }
        self.timer.stop();
        self.persist.due = self.has_new_data();
        self.take_stock();
        Expiry::GoesOn
    }

    /// The receiver had room for the byte of a probe: it was sent after all, more than once as far as one knows.
    pub(super) fn probe_was_taken(&mut self, now: Time) {
        let start = self.board.nxt();
        self.board.sent_new(1, now);
        self.board.sent_rescue(start, now);
    }

    /// The retransmission timer has expired while the receiver's window is zero: that is no loss. The first segment goes as a
    /// probe, and everything stays as it is.
    #[cold]
    pub(super) fn freeze(&mut self, now: Time, heard_at: Time) -> Expiry {
        let persist = &mut self.persist;
        if !persist.frozen || heard_at >= persist.probed_at {
            persist.unanswered_since = Time::NEVER;
        }
        persist.unanswered_since = persist.unanswered_since.min(now);
        let since = persist.unanswered_since;
        if now >= self.user_timeout.ends(since) {
            return Expiry::GivenUp;
        }
        let persist = &mut self.persist;
        persist.probes = if persist.frozen { persist.probes + 1 } else { 1 };
        persist.probed_at = now;
        persist.frozen = true;
        let next = now + self.rtt.doubled(persist.probes);
        self.board.lose_first_again();
        if let Some(first) = self.board.first() {
            self.tell_again(first.start);
        }
        self.timer.start(next.min(self.user_timeout.ends(since)), Kind::Retransmit);
        self.take_stock();
        Expiry::GoesOn
    }

    /// The window opens: what was outstanding all the while goes again, under the window that was.
    #[cold]
    pub(super) fn thaw(&mut self, now: Time) {
        (self.persist.frozen, self.persist.probes) = (false, 0);
        if self.board.outstanding() > 0 {
            self.board.mark_all_lost();
            self.ignore_losses();
            self.start_over(Reason::Thawed);
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
        self.take_stock();
    }
}
