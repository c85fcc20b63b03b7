//! Effects of sending a segment, and recording of the limit that prevents a further segment.

use super::timer::TimerKind;
use super::{Limit, Outgoing, Sender};
use crate::event::{Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;

impl Sender {
    pub(super) fn send_new(&mut self, now: Time, range: Range) -> Outgoing {
        let (priority, cwr) = self.note_new(now, range, self.is_on_fast_path());
        Outgoing { range, is_retransmission: false, fin: self.application.ends_with(range), priority, cwr }
    }

    /// Updates the state for new data. Returns the packet's priority, and whether the packet carries CWR.
    #[inline(always)]
    pub(super) fn note_new(&mut self, now: Time, range: Range, is_on_fast_path: bool) -> (Priority, bool) {
        let begins = self.scoreboard.outstanding() == 0;
        if self.timer.is_off() || begins {
            self.arm(now);
            if begins {
                self.restart_after_idle(now);
            }
        }
        self.persist.end();
        self.scoreboard.record_new(range.len(), now);
        if self.tail.is_on() {
            self.postpone_probe(now);
        }
        if !is_on_fast_path {
            self.repair.on_sent_new(range);
            self.reductions.on_sent(range.len());
        }
        if self.has_observers {
            self.note_sent(now, range);
        }
        let priority = match &mut self.discriminator {
            Some(discriminator) => discriminator.on_sent(range, self.window.bytes(), &self.scoreboard),
            None => Priority::NORMAL,
        };
        (priority, std::mem::take(&mut self.needs_cwr))
    }

    pub(super) fn retransmit(&mut self, now: Time, range: Range, reason: Reason, log: &mut Log) -> Outgoing {
        self.scoreboard.record_retransmission(range.start, now);
        self.emit_retransmission(now, range, reason, log)
    }

    /// Updates the state other than the scoreboard for a retransmission, and returns the segment.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn emit_retransmission(
        &mut self,
        now: Time,
        range: Range,
        reason: Reason,
        log: &mut Log,
    ) -> Outgoing {
        self.repair.on_retransmitted(range);
        self.reductions.on_sent(range.len());
        if self.has_observers {
            self.note_sent(now, range);
        }
        if self.repair.needs_times() && range.start == self.scoreboard.una() {
            // A retransmission of the first hole restarts the timer with a whole RTO, as in Linux.
            self.timer.start(now + self.rtt.rto(), TimerKind::Retransmit);
        }
        if self.timer.is_off() {
            self.timer.start(now + self.rtt.rto(), TimerKind::Retransmit);
        }
        self.repair.record_retransmission_time(now);
        log.frequent.retransmitted += 1;
        log.trace(now, Event::Retransmitted { range, reason });
        let priority = match &mut self.discriminator {
            Some(discriminator) => discriminator.on_retransmitted(range),
            None => Priority::NORMAL,
        };
        Outgoing {
            range,
            is_retransmission: true,
            fin: self.application.ends_with(range),
            priority,
            cwr: false,
        }
    }

    /// Updates rate samples and pacing after the scoreboard has recorded a transmission.
    #[cold]
    fn note_sent(&mut self, now: Time, range: Range) {
        let Some(rates) = &mut self.rates else { return };
        let in_flight = self.repair.recovery().in_flight(&self.scoreboard);
        let path = (self.full_payload, self.rtt.srtt());
        rates.on_sent(now, range, in_flight, &self.scoreboard, &mut self.window, path);
    }

    /// Lowers cwnd to the restart window if nothing was sent for longer than the RTO. If the sender uses Freeze-TCP, a
    /// wait for the receiver's closed window does not count as idle.
    #[cold]
    fn restart_after_idle(&mut self, now: Time) {
        let restart = self.idle.restart_window(now, self.window.bytes(), self.rtt.rto());
        if let Some(window) = restart.filter(|_| !self.persist.was_frozen()) {
            self.window.on_idle(window);
        }
    }

    #[inline]
    pub(super) fn set_limit(&mut self, now: Time, limit: Limit) {
        if self.current_limit != Some(limit) {
            self.change_limit(now, limit);
        }
        if self.has_observers && limit == Limit::Application {
            self.mark_app_limited();
        }
    }

    #[cold]
    fn change_limit(&mut self, now: Time, limit: Limit) {
        self.limit_timer.change_limit(now, self.current_limit);
        self.current_limit = Some(limit);
    }

    #[inline(never)]
    fn mark_app_limited(&mut self) {
        if let Some(rates) = &mut self.rates {
            let in_flight = self.repair.recovery().in_flight(&self.scoreboard);
            if in_flight < self.window.bytes() {
                rates.mark_app_limited(in_flight);
            }
        }
    }
}
