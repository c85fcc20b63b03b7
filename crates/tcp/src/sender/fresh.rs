//! New data: how much of it goes out next, and what happens while the receiver's window is closed.

use super::{Limit, Outgoing, Sender};
use crate::event::{Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;

impl Sender {
    /// With nothing outstanding, data waits for the receiver's window: a probe if one is due, otherwise the timer for it.
    pub(super) fn poll_persist(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if !self.has_new_data() {
            return None;
        }
        if !std::mem::take(&mut self.probe_due) {
            if self.timer == Time::NEVER {
                self.timer = now + self.rtt.doubled(self.probes);
            }
            return None;
        }
        let start = self.board.nxt();
        let usable = self.right_edge.saturating_sub(start);
        if usable > 0 {
            // The end of the wait for a larger part of the window (RFC 9293 §3.8.6.2.1, the override timeout).
            let end = self.written.min(start + usable.min(self.fits));
            return Some(self.fresh(now, Range { start, end }));
        }
        let again = self.probes > 0;
        if !again {
            self.unanswered_since = None;
        }
        self.probed_at = now;
        let since = *self.unanswered_since.get_or_insert(now);
        let end = self.patience_ends(since);
        let range = Range { start, end: start + 1 };
        self.probes += 1;
        self.timer = (now + self.rtt.doubled(self.probes)).min(end);
        if again {
            log.counters.retransmitted += 1;
            log.trace(now, Event::Retransmitted { range, reason: Reason::WindowProbe });
        }
        Some(Outgoing { range, again, fin: false, priority: Priority::Normal, cwr: false })
    }

    /// The receiver had room for the byte of a probe: it was sent after all, more than once as far as one knows.
    pub(super) fn probe_was_taken(&mut self, now: Time) {
        let start = self.board.nxt();
        self.board.sent_new(1, now);
        self.board.sent_rescue(start, now);
    }

    /// The next new segment: a full one, or a short one that Nagle and the window's edge let pass. If there is none, what
    /// keeps it back.
    pub(super) fn next_new(&mut self, room: u64) -> Result<Range, Limit> {
        let start = self.board.nxt();
        let waiting = self.end().saturating_sub(start);
        if waiting == 0 {
            return Err(Limit::Application);
        }
        // The FIN takes no room in the segment, and none in the windows (RFC 9293 §3.10.4).
        let size = if waiting <= self.fits + 1 { waiting } else { self.fits };
        let fin = u64::from(self.finishing && start + size == self.end());
        let data = (size - fin).min(self.fits);
        let size = if data + fin < size { data } else { size };
        let usable = self.right_edge.saturating_sub(start);
        if data > room {
            return Err(Limit::Congestion);
        }
        if data == 0 && fin == 0 {
            return Err(Limit::Application);
        }
        if data > usable {
            // Silly window avoidance (RFC 9293 §3.8.6.2.1): part of a segment only when it is half of the largest window.
            let worth_it = usable > 0 && usable >= self.largest_window / 2;
            return if worth_it { Ok(Range { start, end: start + usable }) } else { Err(Limit::Receiver) };
        }
        let is_short = data < self.fits && fin == 0;
        if is_short && self.nagle && self.board.outstanding() > 0 {
            return Err(Limit::Application);
        }
        Ok(Range { start, end: start + size })
    }

    /// Nothing was sent for longer than a timeout: what cwnd says of the path is old (RFC 5681 §4.1). The segment that is
    /// on its way out fits any window.
    #[cold]
    fn restart_after_idle(&mut self, now: Time) {
        if let Some(window) = self.restart_window
            && now.since(self.idle_since) > self.rtt.rto()
            && self.cwnd > window
        {
            self.congestion.on_idle(window);
            self.cwnd = self.congestion.window();
        }
    }

    /// Whether the window may not grow: less than half of it was in use when the ACK came (RFC 7661 §4.4.1).
    pub(super) fn leaves_window_unused(&self, flight: u64) -> bool {
        self.validates && flight.saturating_mul(2) < self.cwnd
    }

    pub(super) fn fresh(&mut self, now: Time, range: Range) -> Outgoing {
        let begins = self.board.outstanding() == 0;
        if self.timer == Time::NEVER || begins {
            self.timer = now + self.rtt.rto();
            if begins {
                self.restart_after_idle(now);
            }
        }
        self.probes = 0;
        self.probe_due = false;
        self.board.sent_new(range.len(), now);
        if !self.calm {
            self.recovery.on_sent(range, false);
        }
        let priority = match &mut self.judge {
            Some(judge) => judge.on_sent(range, self.cwnd, &self.board),
            None => Priority::Normal,
        };
        let cwr = std::mem::take(&mut self.tells_reduced);
        Outgoing { range, again: false, fin: self.finishing && range.end == self.end(), priority, cwr }
    }
}
