//! What goes out while something is lost, reported or repeated: the long way that [`Sender::poll`] takes then. What is lost goes
//! again, and after it new data.

use super::recovery::LastResort;
use super::tail::Tail;
use super::timer::Kind;
use super::{Limit, Outgoing, Sender};
use crate::event::{Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;

impl Sender {
    /// What goes out while something is lost, reported or repeated.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn poll_in_repair(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if self.timer.holds() {
            self.wait_for(now, Limit::Congestion);
            return None;
        }
        if self.tail == Tail::Due
            && let Some(outgoing) = self.poll_probe(now, log)
        {
            return Some(outgoing);
        }
        if self.repair.told.is_some()
            && let Some(range) = self.next_told()
        {
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
            return Some(self.again(now, range, Reason::Told, log));
        }
        if let Some(range) = self.repair.recovery.must_send(&mut self.board)
            && !self.was_told(range)
        {
            let why = std::mem::replace(&mut self.repair.why, Reason::Hole);
            if why == Reason::FastRetransmit {
                // The repair gets a whole timeout (RFC 6675 §6 leaves it open); partial ACKs do not (RFC 6582 §4).
                self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
            }
            return Some(self.again(now, range, why, log));
        }
        let in_flight = self.repair.recovery.in_flight(&self.board);
        let room = self.window().saturating_sub(in_flight);
        if self.repair.f_rto.is_some()
            && let Ok(outgoing) = self.poll_f_rto(now, room)
        {
            if outgoing.is_none() {
                self.wait_for(now, Limit::Congestion);
            }
            return outgoing;
        }
        if let Some(range) = self.repair.recovery.next_retransmission(&mut self.board) {
            // As for new data, a FIN takes no room.
            let fin = u64::from(self.application.ends_with(range));
            if room < range.len() - fin {
                self.wait_for(now, Limit::Congestion);
                return None;
            }
            let why = if self.restart_until > range.start { Reason::GoBackN } else { Reason::Hole };
            return Some(self.again(now, range, why, log));
        }
        match self.next_new(room) {
            Ok(range) => return Some(self.send_new(now, range)),
            Err(limit) => self.wait_for(now, limit),
        }
        if self.board.outstanding() == 0 {
            return self.poll_persist(now, log);
        }
        if room < self.mss || self.board.sacked() == 0 {
            return None;
        }
        match self.repair.recovery.last_resort(&mut self.board)? {
            LastResort::Doubtful(range) => Some(self.again(now, range, Reason::Rescue, log)),
            LastResort::Rescue(range) => {
                self.board.sent_rescue(range.start, now);
                Some(self.outgoing_again(now, range, Reason::Rescue, log))
            }
        }
    }

    /// Whether [`Sender::poll_in_repair`] may find something more; if not, what keeps it back is noted as there.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn may_send_in_repair(&mut self, now: Time) -> bool {
        let repair = &self.repair;
        let is_special = self.rates.is_some()
            || self.timer.holds()
            || self.tail == Tail::Due
            || repair.told.is_some()
            || repair.f_rto.is_some()
            || repair.recovery.may_have_to_send();
        if is_special {
            return true;
        }
        let room = self.window().saturating_sub(self.in_flight());
        let limit = match self.repair.recovery.next_retransmission(&mut self.board) {
            Some(range) => {
                let fin = u64::from(self.application.ends_with(range));
                if room >= range.len() - fin { Ok(range) } else { Err(Limit::Congestion) }
            }
            None => self.next_new(room),
        };
        let has_last_resort = room >= self.mss && self.board.sacked() > 0;
        match limit {
            Ok(_) => true,
            Err(_) if self.board.outstanding() == 0 || has_last_resort => true,
            Err(limit) => {
                self.wait_for(now, limit);
                false
            }
        }
    }

    pub(super) fn again(&mut self, now: Time, range: Range, reason: Reason, log: &mut Log) -> Outgoing {
        self.board.sent_again(range.start, now);
        self.outgoing_again(now, range, reason, log)
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn outgoing_again(
        &mut self,
        now: Time,
        range: Range,
        reason: Reason,
        log: &mut Log,
    ) -> Outgoing {
        self.repair.recovery.on_sent(range, true);
        self.reductions.on_sent(range.len());
        if self.watches {
            self.note_sent(now, range);
        }
        if self.repair.times && range.start == self.board.una() {
            // The first hole is filled once more: it has a whole timeout again, as Linux gives it.
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
        if self.timer.is_off() {
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
        if let Some(undo) = &mut self.repair.undo {
            undo.on_sent_again(now);
        }
        log.often.retransmitted += 1;
        log.trace(now, Event::Retransmitted { range, reason });
        let priority = match &mut self.judge {
            Some(judge) => judge.on_sent_again(range),
            None => Priority::Normal,
        };
        Outgoing { range, again: true, fin: self.application.ends_with(range), priority, cwr: false }
    }
}
