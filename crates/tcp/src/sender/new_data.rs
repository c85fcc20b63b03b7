//! New data: how much of it goes out next.

use super::tail::Tail;
use super::{Limit, Outgoing, Sender};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;

/// A full segment of new data that goes out, with more behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full {
    pub(crate) range: Range,
    /// Bytes that options may have beside it.
    pub(crate) room: u64,
    pub(crate) priority: Priority,
    /// See [`Outgoing::cwr`].
    pub(crate) cwr: bool,
    /// See [`Sender::may_send_more`].
    pub(crate) more: bool,
}

impl Sender {
    /// Whether there is nothing to send, while nothing is lost and nobody watches: [`Sender::poll`] would find nothing. What
    /// keeps it back is noted as there.
    #[inline]
    pub(crate) fn has_nothing(&mut self, now: Time) -> bool {
        let nothing = self.calm && !self.watches && !self.has_new_data();
        if nothing {
            self.wait_for(now, Limit::Application);
        }
        nothing
    }

    /// The next full segment of new data goes out, while nothing is lost and nobody paces: what [`Sender::poll`] comes down to
    /// then, if the windows have room for it and more data is behind it.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn send_full(&mut self, now: Time) -> Option<Full> {
        let start = self.board.nxt();
        let end = start + self.fits;
        let goes = self.calm
            && self.rates.is_none()
            && end - self.board.una() <= self.window.bytes()
            && end <= self.peer.right_edge()
            // A FIN behind it would have to go with it.
            && end + 1 < self.application.end();
        if !goes {
            return None;
        }
        let range = Range { start, end };
        let (priority, cwr) = self.note_new(now, range, true);
        Some(Full { range, room: self.mss - self.fits, priority, cwr, more: self.may_send_calmly(now) })
    }

    /// The next new segment: a full one, or a short one that Nagle and the window's edge let pass. If there is none, what
    /// keeps it back.
    pub(super) fn next_new(&mut self, room: u64) -> Result<Range, Limit> {
        let start = self.board.nxt();
        let waiting = self.application.end().saturating_sub(start);
        if waiting == 0 {
            return Err(Limit::Application);
        }
        // The FIN takes no room in the segment, and none in the windows (RFC 9293 §3.10.4).
        let size = if waiting <= self.fits + 1 { waiting } else { self.fits };
        let fin = u64::from(self.application.ends_with(Range { start, end: start + size }));
        let data = (size - fin).min(self.fits);
        let size = if data + fin < size { data } else { size };
        let usable = self.peer.usable_from(start);
        if data > room {
            return Err(Limit::Congestion);
        }
        if data == 0 && fin == 0 {
            return Err(Limit::Application);
        }
        if data > usable {
            return match self.peer.is_silly(usable) {
                true => Err(Limit::Receiver),
                false => Ok(Range { start, end: start + usable }),
            };
        }
        let is_short = data < self.fits && fin == 0;
        if is_short && self.application.nagle && self.board.outstanding() > 0 {
            return Err(Limit::Application);
        }
        Ok(Range { start, end: start + size })
    }

    /// Data went out: whether more may, as far as can be told at a glance. If not, [`Sender::poll`] would find nothing; what
    /// keeps it back is noted as there.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn may_send_more(&mut self, now: Time) -> bool {
        if !self.calm {
            return !self.has_shortcut || self.may_send_in_repair(now);
        }
        self.rates.is_some() || self.may_send_calmly(now)
    }

    /// The same while nothing is lost and nobody paces.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn may_send_calmly(&mut self, now: Time) -> bool {
        let waiting = self.application.end().saturating_sub(self.board.nxt());
        // A full segment, without the FIN behind it.
        let is_full = waiting > self.fits + 1;
        if is_full && self.board.outstanding() + self.fits > self.window.bytes() {
            self.wait_for(now, Limit::Congestion);
            return false;
        }
        true
    }

    /// New data goes out.
    pub(super) fn send_new(&mut self, now: Time, range: Range) -> Outgoing {
        let (priority, cwr) = self.note_new(now, range, self.calm);
        Outgoing { range, again: false, fin: self.application.ends_with(range), priority, cwr }
    }

    /// The same as far as it concerns what is outstanding: the packet's priority, and whether it carries CWR.
    #[inline(always)]
    fn note_new(&mut self, now: Time, range: Range, calm: bool) -> (Priority, bool) {
        let begins = self.board.outstanding() == 0;
        if self.timer.is_off() || begins {
            self.arm(now);
            if begins {
                self.restart_after_idle(now);
            }
        }
        self.persist.end();
        self.board.sent_new(range.len(), now);
        if self.tail != Tail::Off {
            self.put_probe_off(now);
        }
        if !calm {
            self.repair.on_sent_new(range);
            self.reductions.on_sent(range.len());
        }
        if self.watches {
            self.note_sent(now, range);
        }
        let priority = match &mut self.judge {
            Some(judge) => judge.on_sent(range, self.window.bytes(), &self.board),
            None => Priority::Normal,
        };
        (priority, std::mem::take(&mut self.tells))
    }
}
