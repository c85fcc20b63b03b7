//! Effects of sending a segment, and the limits noted when no more may be sent.

use super::timer::Kind;
use super::{Limit, Outgoing, Sender};
use crate::event::{Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;

impl Sender {
    pub(super) fn send_new(&mut self, now: Time, range: Range) -> Outgoing {
        let (priority, cwr) = self.note_new(now, range, self.is_calm());
        Outgoing { range, again: false, fin: self.application.ends_with(range), priority, cwr }
    }

    /// Updates the state for new data. Returns the packet's priority, and whether it carries CWR.
    #[inline(always)]
    pub(super) fn note_new(&mut self, now: Time, range: Range, calm: bool) -> (Priority, bool) {
        let begins = self.board.outstanding() == 0;
        if self.timer.is_off() || begins {
            self.arm(now);
            if begins {
                self.restart_after_idle(now);
            }
        }
        self.persist.end();
        self.board.sent_new(range.len(), now);
        if self.tail.is_on() {
            self.put_probe_off(now);
        }
        if !calm {
            self.repair.on_sent_new(range);
            self.reductions.on_sent(range.len());
        }
        if self.watches {
            self.note_sent(now, range);
        }
        let priority = match &mut self.discriminator {
            Some(discriminator) => discriminator.on_sent(range, self.window.bytes(), &self.board),
            None => Priority::Normal,
        };
        (priority, std::mem::take(&mut self.tells))
    }

    pub(super) fn again(&mut self, now: Time, range: Range, reason: Reason, log: &mut Log) -> Outgoing {
        self.board.sent_again(range.start, now);
        self.outgoing_again(now, range, reason, log)
    }

    /// Effects of a retransmission that the scoreboard has recorded.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn outgoing_again(
        &mut self,
        now: Time,
        range: Range,
        reason: Reason,
        log: &mut Log,
    ) -> Outgoing {
        self.repair.on_sent_again(range);
        self.reductions.on_sent(range.len());
        if self.watches {
            self.note_sent(now, range);
        }
        if self.repair.needs_times() && range.start == self.board.una() {
            // The first hole is retransmitted: it gets a whole timeout, as in Linux.
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
        if self.timer.is_off() {
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
        self.repair.note_sent_again(now);
        log.frequent.retransmitted += 1;
        log.trace(now, Event::Retransmitted { range, reason });
        let priority = match &mut self.discriminator {
            Some(discriminator) => discriminator.on_sent_again(range),
            None => Priority::Normal,
        };
        Outgoing { range, again: true, fin: self.application.ends_with(range), priority, cwr: false }
    }

    /// Updates rate samples and pacing after the scoreboard has recorded a transmission.
    #[cold]
    fn note_sent(&mut self, now: Time, range: Range) {
        let Some(rates) = &mut self.rates else { return };
        let in_flight = self.repair.recovery().in_flight(&self.board);
        rates.on_sent(now, range, in_flight, &self.board, &mut self.window);
    }

    /// Lowers cwnd after more than a timeout of idle time, which excludes a frozen sender's zero-window probes.
    #[cold]
    fn restart_after_idle(&mut self, now: Time) {
        let restart = self.idle.restart_window(now, self.window.bytes(), self.rtt.rto());
        if let Some(window) = restart.filter(|_| !self.persist.was_frozen()) {
            self.window.on_idle(window);
        }
    }

    #[inline]
    pub(super) fn wait_for(&mut self, now: Time, limit: Limit) {
        if self.waits_for != Some(limit) {
            self.turn(now, limit);
        }
        if self.watches && limit == Limit::Application {
            self.note_silence();
        }
    }

    #[cold]
    fn turn(&mut self, now: Time, limit: Limit) {
        self.waiting.turn(now, self.waits_for);
        self.waits_for = Some(limit);
    }

    #[inline(never)]
    fn note_silence(&mut self) {
        if let Some(rates) = &mut self.rates {
            let in_flight = self.repair.recovery().in_flight(&self.board);
            if in_flight < self.window.bytes() {
                rates.on_silence(in_flight);
            }
        }
    }
}
