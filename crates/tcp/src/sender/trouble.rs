//! While something is lost, reported or repeated: the long way that [`Sender::handle_ack`] and [`Sender::poll`]
//! take then, and the timer.

use super::congestion::{AckEvent, Delivery, Level, LossEvent, MarkPace, Phase, Recovered};
use super::recovery::{AckNews, LastResort, Step};
use super::stall::Stall;
use super::{Ack, Expiry, Limit, Outgoing, Sender};
use crate::event::{Cause, Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;

/// Whether the first block tells of data received twice: below the ACK, or inside the second block (RFC 2883 §4). The
/// scoreboard learns nothing from such a block.
fn says_duplicate(ack: &Ack<'_>) -> bool {
    let Some(first) = ack.sack.first().filter(|first| !first.is_empty()) else { return false };
    let holds = |second: &Range| second.start <= first.start && first.end <= second.end;
    first.end <= ack.ack || ack.sack.get(1).is_some_and(holds)
}

impl Sender {
    /// An acknowledgement while something is lost, reported or repeated, or one that is not new.
    pub(super) fn handle_ack_in_trouble(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        same_window: bool,
        log: &mut Log,
    ) {
        let advanced = ack.ack > self.board.una();
        let was_outstanding = self.board.outstanding() > 0;
        let acked = if advanced { self.board.acknowledge(ack.ack) } else { Default::default() };
        if says_duplicate(ack) {
            log.counters.duplicates_told += 1;
        }
        let mut reported = 0;
        if self.recovery.uses_sack() {
            for block in ack.sack {
                reported += self.board.sack(*block);
            }
        }
        let duplicate = match self.recovery.uses_sack() && ack.selective {
            true => reported > 0,
            false => !advanced && was_outstanding && !ack.carries_data && same_window,
        };
        if duplicate {
            log.counters.duplicate_acks += 1;
        }

        if self.forward.is_some() {
            self.consider_timeout(now, acked.bytes, duplicate, log);
        }
        let rtt = match (advanced, acked.sent_at) {
            (false, _) => None,
            (true, Some(sent_at)) => Some(now.since(sent_at)),
            (true, None) => ack.echoed_rtt,
        };
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
        }

        if self.observes && (advanced || duplicate) {
            let duplicate = duplicate && !advanced;
            self.congestion.observe(&Delivery { now, acked: acked.bytes, duplicate, rtt });
        }
        let news = AckNews { acked: acked.bytes, duplicate, mss: self.mss };
        let step = self.recovery.on_ack(&news, &mut self.board);
        self.take_step(now, step, ack.ece, log);
        if step == Step::Leave && duplicate {
            // It ends one recovery, and what it reports can begin the next (RFC 6675 §5).
            let next = self.recovery.on_ack(&AckNews { acked: 0, ..news }, &mut self.board);
            self.take_step(now, next, ack.ece, log);
        }
        if ack.ece {
            self.heed_mark(now, log);
        }
        let phase = self.phase();
        // The ACK that ends a recovery has had its effect on the window.
        if step != Step::Leave && (advanced || duplicate) {
            let in_flight = self.recovery.in_flight(&self.board);
            let event = AckEvent {
                now,
                phase,
                acked: acked.bytes,
                segments: acked.segments,
                delivered: acked.delivered + reported,
                rtt,
                srtt: self.rtt.srtt(),
                in_flight,
                held: ack.ece || self.leaves_window_unused(self.board.outstanding() + acked.bytes),
            };
            self.congestion.on_ack(&event, &mut *self.counting);
        }
        if advanced {
            self.stall = None;
            self.restart_timer(now, step);
            if self.board.outstanding() == 0 {
                self.idle_since = acked.sent_at.unwrap_or(now);
            }
        }
        if ack.ece && self.may_hold {
            self.hold_back(now);
        }
        self.take_stock();
    }

    /// The window cannot become smaller than a segment: instead the next one waits for a whole timeout (RFC 3168 §6.1.2).
    fn hold_back(&mut self, now: Time) {
        if self.congestion.window() <= self.mss && self.board.outstanding() == 0 {
            self.holds = true;
            self.timer = now + self.rtt.rto();
        }
    }

    /// The timer expired (if `now` has reached it); `heard_at` is when the peer last said something acceptable.
    pub(crate) fn handle_timeout(&mut self, now: Time, heard_at: Time, log: &mut Log) -> Expiry {
        if now < self.timer {
            return Expiry::GoesOn;
        }
        if self.board.outstanding() == 0 {
            // Persist: no loss, the receiver's window is closed, for as long as it answers (RFC 9293 §3.8.6.1).
            if heard_at >= self.probed_at {
                self.unanswered_since = None;
            }
            if self.probes > 0 && self.unanswered_since.is_some_and(|since| now >= self.patience_ends(since))
            {
                return Expiry::GivenUp;
            }
            self.timer = Time::NEVER;
            self.probe_due = !std::mem::take(&mut self.holds) && self.has_new_data();
            self.take_stock();
            return Expiry::GoesOn;
        }
        let una = self.board.una();
        let before = self.stall.filter(|stall| stall.una == una);
        let first = before.is_none();
        let stall = before.unwrap_or(Stall { una, since: now - self.rtt.rto(), expiries: 0 });
        // A receiver that has closed its window takes nothing, and is there (RFC 9293 §3.8.6).
        let silent_since = if self.right_edge <= una { stall.since.max(heard_at) } else { stall.since };
        let end = self.patience_ends(silent_since);
        if now >= end {
            return Expiry::GivenUp;
        }
        self.stall = Some(Stall { expiries: stall.expiries.saturating_add(1), ..stall });
        if stall.expiries + 1 == self.troubled_after {
            log.trace(now, Event::Troubled);
        }
        log.counters.timeouts += 1;
        log.trace(now, Event::TimedOut { rto: self.rtt.rto() });
        let forward = self.ask_about_timeout();
        let loss = self.loss_event(now, self.board.outstanding());
        self.congestion.on_timeout(&loss, first);
        self.tells_reduced = true;
        self.rtt.back_off();
        self.start_over(Reason::Timeout);
        self.forward = forward;
        self.timer = (now + self.rtt.rto()).min(end);
        self.take_stock();
        Expiry::GoesOn
    }

    /// What goes out while something is lost, reported or repeated.
    pub(super) fn poll_in_trouble(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if self.holds {
            self.wait_for(now, Limit::Congestion);
            return None;
        }
        if let Some(range) = self.recovery.must_send(&self.board) {
            self.board.mark_first_lost();
            let why = std::mem::replace(&mut self.why, Reason::Hole);
            if why == Reason::FastRetransmit {
                // The repair gets a whole timeout (RFC 6675 §6 leaves it open); partial ACKs do not (RFC 6582 §4).
                self.timer = now + self.rtt.rto();
            }
            return Some(self.again(now, range, why, log));
        }
        let in_flight = self.recovery.in_flight(&self.board);
        let room = self.cwnd.saturating_sub(in_flight);
        if self.forward.is_some()
            && let Ok(outgoing) = self.poll_forward(now, room)
        {
            if outgoing.is_none() {
                self.wait_for(now, Limit::Congestion);
            }
            return outgoing;
        }
        if let Some(range) = self.recovery.next_retransmission(&mut self.board) {
            // As for new data, a FIN takes no room.
            let fin = u64::from(self.finishing && range.end == self.end());
            if room < range.len() - fin {
                self.wait_for(now, Limit::Congestion);
                return None;
            }
            let why = if self.restart_until > range.start { Reason::GoBackN } else { Reason::Hole };
            return Some(self.again(now, range, why, log));
        }
        match self.next_new(room) {
            Ok(range) => return Some(self.fresh(now, range)),
            Err(limit) => self.wait_for(now, limit),
        }
        if self.board.outstanding() == 0 {
            return self.poll_persist(now, log);
        }
        if room < self.mss || self.board.sacked() == 0 {
            return None;
        }
        match self.recovery.last_resort(&mut self.board)? {
            LastResort::Doubtful(range) => Some(self.again(now, range, Reason::Rescue, log)),
            LastResort::Rescue(range) => {
                self.board.sent_rescue(range.start, now);
                Some(self.outgoing_again(now, range, Reason::Rescue, log))
            }
        }
    }

    pub(super) fn again(&mut self, now: Time, range: Range, reason: Reason, log: &mut Log) -> Outgoing {
        self.board.sent_again(range.start, now);
        self.outgoing_again(now, range, reason, log)
    }

    pub(super) fn outgoing_again(
        &mut self,
        now: Time,
        range: Range,
        reason: Reason,
        log: &mut Log,
    ) -> Outgoing {
        self.recovery.on_sent(range, true);
        if self.timer == Time::NEVER {
            self.timer = now + self.rtt.rto();
        }
        log.counters.retransmitted += 1;
        log.trace(now, Event::Retransmitted { range, reason });
        let priority = match &mut self.judge {
            Some(judge) => judge.on_sent_again(range),
            None => Priority::Normal,
        };
        Outgoing { range, again: true, fin: self.finishing && range.end == self.end(), priority, cwr: false }
    }

    pub(super) fn take_step(&mut self, now: Time, step: Step, marked: bool, log: &mut Log) {
        match step {
            Step::Same | Step::Partial { .. } => {}
            Step::Enter | Step::Reenter => {
                let flight = self.recovery.flight_at_loss(&self.board);
                if step == Step::Reenter {
                    self.reduced_until = 0;
                }
                self.note_entry(step);
                self.judge_by_mark(now, marked, log);
                self.reduce(now, flight, marked, false);
                self.why = Reason::FastRetransmit;
                log.counters.recoveries += 1;
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.congestion.window() });
            }
            Step::Restart => {
                let flight = self.recovery.flight_at_loss(&self.board);
                self.judge_by_mark(now, marked, log);
                self.reduce(now, flight, marked, true);
                log.counters.recoveries += 1;
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.congestion.window() });
                self.start_over(Reason::FastRetransmit);
            }
            Step::Leave => {
                let recovered = self.review(now, log);
                self.congestion.on_recovered(self.board.outstanding(), recovered);
                log.trace(now, Event::RecoveryLeft { cwnd: self.congestion.window() });
            }
        }
    }

    pub(super) fn level(&self) -> Level {
        Level { window: self.congestion.window(), ssthresh: self.congestion.ssthresh() }
    }

    /// A recovery is entered: what is to be judged, and what may be restored.
    fn note_entry(&mut self, step: Step) {
        let level = self.level();
        let Some(judge) = &mut self.judge else { return };
        let outstanding = Range { start: self.board.una(), end: self.board.nxt() };
        // The 1990s' Reno reduces again while it recovers: what is restored is what was before it all.
        let before = if step == Step::Reenter { self.entered.0 } else { level };
        self.entered = (before, outstanding);
        judge.on_entered(outstanding.end);
    }

    /// A recovery is over: whether its reduction stays.
    fn review(&mut self, now: Time, log: &mut Log) -> Recovered {
        let from = self.level();
        let Some(judge) = &mut self.judge else { return Recovered::Kept };
        let cause = judge.review();
        let (before, range) = self.entered;
        log.judged(now, range, cause);
        let ssthresh = if judge.restores_ssthresh() { before.ssthresh } else { from.ssthresh };
        match cause {
            Cause::Congestion => Recovered::Kept,
            Cause::Wireless => Recovered::Revised { from, to: Level { ssthresh, ..before } },
        }
    }

    /// Notes what the third duplicate's mark says of the loss that it tells.
    fn judge_by_mark(&self, now: Time, marked: bool, log: &mut Log) {
        if let (true, Some(range)) = (self.congestion.judges_by_mark(), self.board.first()) {
            log.judged(now, range, if marked { Cause::Congestion } else { Cause::Wireless });
        }
    }

    pub(super) fn reduce(&mut self, now: Time, flight: u64, marked: bool, restart: bool) {
        let loss = LossEvent { marked, ..self.loss_event(now, flight) };
        if restart {
            self.congestion.on_restart(&loss);
        } else if self.board.una() >= self.reduced_until {
            self.congestion.on_loss(&loss);
        }
        self.reduced_until = self.board.nxt();
        self.reduced_at = Some(now);
        self.tells_reduced = true;
    }

    /// ECE: reduces once per window of data (RFC 3168 §6.1.2) or as often as the congestion control wants, not while a
    /// loss is being repaired.
    ///
    /// CWR goes out with the byte at `reduced_until`: an ACK that does not cover it cannot have stopped echoing.
    pub(super) fn heed_mark(&mut self, now: Time, log: &mut Log) {
        let too_soon = match self.congestion.mark_pace() {
            MarkPace::Window => self.board.una() <= self.reduced_until,
            MarkPace::Rtt => {
                self.reduced_at.is_some_and(|at| self.rtt.srtt().is_some_and(|srtt| now.since(at) < srtt))
            }
            MarkPace::Every => false,
        };
        if too_soon || self.phase() != Phase::Open {
            return;
        }
        self.reduced_at = Some(now);
        let loss = self.loss_event(now, self.board.outstanding());
        self.congestion.on_mark(&loss);
        self.reduced_until = self.board.nxt();
        self.tells_reduced = true;
        log.counters.marks += 1;
        log.trace(now, Event::MarkEchoed { cwnd: self.congestion.window() });
    }

    /// Everything outstanding is to be sent again.
    pub(super) fn start_over(&mut self, why: Reason) {
        self.forward = None;
        self.board.mark_all_lost();
        self.restart_until = self.board.nxt();
        self.reduced_until = self.board.nxt();
        self.why = why;
        self.recovery.on_timeout(&self.board);
        if let Some(judge) = &mut self.judge {
            judge.on_timeout();
        }
    }

    pub(super) fn phase(&self) -> Phase {
        if self.recovery.is_recovering() {
            Phase::Recovery
        } else if self.board.una() < self.restart_until {
            Phase::Restart
        } else {
            Phase::Open
        }
    }

    pub(super) fn loss_event(&self, now: Time, flight: u64) -> LossEvent {
        LossEvent { now, flight, window: self.cwnd.min(self.peer_window), marked: false }
    }

    /// RFC 6298 §5: off when all is acknowledged, started anew otherwise; NewReno only at its first partial ACK (RFC 6582 §4).
    pub(super) fn restart_timer(&mut self, now: Time, step: Step) {
        if self.board.outstanding() == 0 {
            self.timer = Time::NEVER;
        } else if step != (Step::Partial { first: false }) || self.recovery.uses_sack() {
            self.timer = now + self.rtt.rto();
        }
    }

    /// Notes what the window is now, and whether anything is lost.
    pub(super) fn take_stock(&mut self) {
        self.cwnd = self.congestion.window();
        self.calm =
            !self.holds && self.board.sacked() == 0 && self.board.lost() == 0 && self.recovery.is_idle();
    }
}
