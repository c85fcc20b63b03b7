//! What goes out while something is lost, reported or repeated: the long way that [`Sender::poll`] takes then. What is lost goes
//! again, and after it new data.

use super::recovery::LastResort;
use super::repair::Turn;
use super::tail::Tail;
use super::timer::Kind;
use super::{Limit, Outgoing, Sender};
use crate::event::{Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;
use std::ops::ControlFlow;

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
        if self.repair.has_reports() {
            match self.repair.next_reported(&mut self.board) {
                Some(range) => {
                    self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
                    return Some(self.again(now, range, Reason::Told, log));
                }
                None => self.take_stock(),
            }
        }
        if let Some((range, why)) = self.repair.must_send(&mut self.board) {
            if why == Reason::FastRetransmit {
                // The repair gets a whole timeout (RFC 6675 §6 leaves it open); partial ACKs do not (RFC 6582 §4).
                self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
            }
            return Some(self.again(now, range, why, log));
        }
        let in_flight = self.repair.recovery().in_flight(&self.board);
        let room = self.window().saturating_sub(in_flight);
        if self.repair.is_asking()
            && let ControlFlow::Break(outgoing) = self.poll_for_question(now, room)
        {
            return outgoing;
        }
        if let Some(range) = self.repair.next_retransmission(&mut self.board) {
            // As for new data, a FIN takes no room.
            let fin = u64::from(self.application.ends_with(range));
            if room < range.len() - fin {
                self.wait_for(now, Limit::Congestion);
                return None;
            }
            let why = self.repair.reason(range);
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
        match self.repair.last_resort(&mut self.board)? {
            LastResort::Doubtful(range) => Some(self.again(now, range, Reason::Rescue, log)),
            LastResort::Rescue(range) => {
                self.board.sent_rescue(range.start, now);
                Some(self.outgoing_again(now, range, Reason::Rescue, log))
            }
        }
    }

    /// New data that is to answer an open question (F-RTO); nothing else goes until the answer is there, unless none can be
    /// had, because nothing new may be sent.
    #[cold]
    fn poll_for_question(&mut self, now: Time, room: u64) -> ControlFlow<Option<Outgoing>> {
        if let Turn::Probe { first } = self.repair.turn() {
            match self.next_new(room) {
                Ok(range) => {
                    self.repair.note_probe();
                    return ControlFlow::Break(Some(self.send_new(now, range)));
                }
                Err(_) if first => {
                    self.repair.drop_question();
                    return ControlFlow::Continue(());
                }
                Err(_) => {}
            }
        }
        self.wait_for(now, Limit::Congestion);
        ControlFlow::Break(None)
    }

    /// Whether [`Sender::poll_in_repair`] may find something more; if not, what keeps it back is noted as there.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn may_send_in_repair(&mut self, now: Time) -> bool {
        let repair = &self.repair;
        let is_special = self.rates.is_some()
            || self.timer.holds()
            || self.tail == Tail::Due
            || repair.has_reports()
            || repair.is_asking()
            || repair.may_have_to_send();
        if is_special {
            return true;
        }
        let room = self.window().saturating_sub(self.in_flight());
        let limit = match self.repair.next_retransmission(&mut self.board) {
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
        self.repair.on_sent_again(range);
        self.reductions.on_sent(range.len());
        if self.watches {
            self.note_sent(now, range);
        }
        if self.repair.needs_times() && range.start == self.board.una() {
            // The first hole is filled once more: it has a whole timeout again, as Linux gives it.
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
        if self.timer.is_off() {
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
        self.repair.note_sent_again(now);
        log.often.retransmitted += 1;
        log.trace(now, Event::Retransmitted { range, reason });
        let priority = match &mut self.judge {
            Some(judge) => judge.on_sent_again(range),
            None => Priority::Normal,
        };
        Outgoing { range, again: true, fin: self.application.ends_with(range), priority, cwr: false }
    }
}
