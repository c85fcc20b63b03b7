//! Effects of recovery steps and of ECN marks on cwnd.

use super::Sender;
use super::congestion::{Level, LossEvent, LossPhase, MarkPace, Recovered};
use super::recovery::RecoveryStep;
use super::repair::StateBefore;
use super::timer::TimerKind;
use crate::event::{Cause, Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::{Duration, Time};

impl Sender {
    #[inline]
    pub(super) fn phase(&self) -> LossPhase {
        if self.repair.recovery().is_recovering() || self.reductions.is_reducing_by_ecn() {
            LossPhase::Recovery
        } else if self.repair.is_going_back_n(self.scoreboard.una()) {
            LossPhase::Restart
        } else {
            LossPhase::Open
        }
    }

    pub(super) fn apply_step(&mut self, now: Time, step: RecoveryStep, marked: bool, log: &mut Log) {
        match step {
            RecoveryStep::Same | RecoveryStep::Partial { .. } => {}
            RecoveryStep::Reordered { flight } => {
                // RFC 4653 §3: cwnd is limited to one segment more than the outstanding data, to prevent a burst. Slow
                // start then restores the former cwnd.
                let window = flight.min(self.scoreboard.outstanding() + self.mss);
                self.window.on_reordered(Level { window, ssthresh: flight });
            }
            RecoveryStep::Enter | RecoveryStep::Reenter => {
                let flight = self.repair.recovery().flight_at_loss(&self.scoreboard);
                let verdict = self.discriminate_loss(now, log);
                let is_non_congestive = verdict == Some(Cause::Wireless);
                self.reductions.set_non_congestive(is_non_congestive);
                if is_non_congestive {
                    return self.enter_without_reduction(now, flight, log);
                }
                if step == RecoveryStep::Reenter {
                    self.reductions.allow_from(0);
                }
                self.reductions.end_ecn_reduction();
                let before = self.state_before(false);
                match verdict {
                    None => self.note_entry(step),
                    Some(_) => self.reductions.drop_entry(),
                }
                self.classify_by_mark(now, marked, log);
                self.reduce(now, flight, marked, false);
                self.repair.enter(before);
                self.tail.cancel();
                log.count_recovery();
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.window.control().window() });
            }
            RecoveryStep::Restart => {
                let flight = self.repair.recovery().flight_at_loss(&self.scoreboard);
                self.classify_by_mark(now, marked, log);
                self.reduce(now, flight, marked, true);
                log.count_recovery();
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.window.control().window() });
                self.scoreboard.mark_all_lost();
                self.begin_go_back_n(Reason::FastRetransmit);
            }
            RecoveryStep::Leave if self.reductions.take_non_congestive() => {
                log.trace(now, Event::RecoveryLeft { cwnd: self.window.control().window() });
            }
            RecoveryStep::Leave => {
                let recovered = self.review(now, log);
                self.window.on_recovered(self.scoreboard.outstanding(), recovered);
                log.trace(now, Event::RecoveryLeft { cwnd: self.window.control().window() });
            }
        }
    }

    fn discriminate_loss(&mut self, now: Time, log: &mut Log) -> Option<Cause> {
        let (discriminator, first) = (self.discriminator.as_mut()?, self.scoreboard.first()?);
        let cause = discriminator.on_loss(first)?;
        log.loss_classified(now, first, cause);
        Some(cause)
    }

    /// Enters a recovery that leaves cwnd and ssthresh unchanged. Another loss in the same window may still reduce cwnd
    /// and ssthresh.
    fn enter_without_reduction(&mut self, now: Time, flight: u64, log: &mut Log) {
        self.reductions.drop_entry();
        self.repair.enter(None);
        self.tail.cancel();
        log.count_recovery();
        log.trace(now, Event::RecoveryEntered { flight, cwnd: self.window.control().window() });
    }

    pub(super) fn level(&self) -> Level {
        self.window.level()
    }

    pub(super) fn loss_event(&self, now: Time, flight: u64) -> LossEvent {
        LossEvent {
            now,
            una: self.scoreboard.una(),
            nxt: self.scoreboard.nxt(),
            flight,
            window: self.window.bytes().min(self.peer.window()),
            ..LossEvent::default()
        }
    }

    fn note_entry(&mut self, step: RecoveryStep) {
        let level = self.level();
        let Some(discriminator) = &mut self.discriminator else { return };
        let outstanding = Range { start: self.scoreboard.una(), end: self.scoreboard.nxt() };
        self.reductions.note_entry(level, outstanding, step == RecoveryStep::Reenter);
        discriminator.on_entered(outstanding.end);
    }

    /// Returns whether a window reduction is kept or undone at the end of a recovery, as loss discrimination decides.
    fn review(&mut self, now: Time, log: &mut Log) -> Recovered {
        let from = self.level();
        let entered = self.reductions.entry();
        let (Some(discriminator), Some((before, range))) = (&mut self.discriminator, entered) else {
            return Recovered::Kept;
        };
        let cause = discriminator.review();
        log.loss_classified(now, range, cause);
        let ssthresh = if discriminator.restores_ssthresh() { before.ssthresh } else { from.ssthresh };
        match cause {
            Cause::Congestion => Recovered::Kept,
            Cause::Wireless => Recovered::Revised { from, to: Level { ssthresh, ..before } },
        }
    }

    /// Records the cause of a loss: congestion if the third duplicate ACK echoes a mark (`marked`), otherwise the
    /// wireless link.
    fn classify_by_mark(&self, now: Time, marked: bool, log: &mut Log) {
        if let (true, Some(range)) = (self.window.control().nature().judges_by_mark, self.scoreboard.first())
        {
            log.loss_classified(now, range, if marked { Cause::Congestion } else { Cause::Wireless });
        }
    }

    fn reduce(&mut self, now: Time, flight: u64, marked: bool, restart: bool) {
        let loss = LossEvent { marked, ..self.loss_event(now, flight) };
        if restart {
            self.window.on_restart(&loss);
        } else if self.reductions.is_due_at(self.scoreboard.una()) {
            self.window.on_loss(&loss);
        }
        self.reductions.record(now, self.scoreboard.nxt());
        self.needs_cwr = true;
    }

    /// Reduces cwnd if an ACK shows that the tail loss probe repaired a loss (RFC 8985 §7.4.2).
    #[inline(never)]
    pub(super) fn finish_tail_probe(
        &mut self,
        now: Time,
        is_dsack: bool,
        advanced: bool,
        selective: bool,
        log: &mut Log,
    ) {
        let has_repaired = self.tail.on_ack(self.scoreboard.una(), is_dsack, advanced, selective);
        if has_repaired && !self.repair.recovery().is_recovering() {
            let loss = self.loss_event(now, self.scoreboard.outstanding());
            self.window.on_loss(&loss);
            self.window.on_recovered(self.scoreboard.outstanding(), Recovered::Kept);
            self.reductions.record(now, self.scoreboard.nxt());
            log.count_recovery();
        }
    }

    /// Reacts to ECE: reduces cwnd once per window of data (RFC 3168 §6.1.2), or as often as congestion control
    /// requires, but not during loss recovery. The next new segment carries CWR, and the receiver sends ECE until it
    /// receives CWR.
    pub(super) fn react_to_mark(&mut self, now: Time, log: &mut Log) {
        let pace = self.window.control().nature().mark_pace;
        let too_soon = self.reductions.is_too_soon(pace, self.scoreboard.una(), now, self.rtt.srtt());
        if too_soon || self.phase() != LossPhase::Open {
            return;
        }
        let loss = self.loss_event(now, self.scoreboard.outstanding());
        self.window.on_mark(&loss);
        self.reductions.record(now, self.scoreboard.nxt());
        self.needs_cwr = true;
        let has_more = self.scoreboard.outstanding() > 0 && pace == MarkPace::Window;
        if self.reductions.is_gradual() && has_more {
            self.reductions.begin_ecn_reduction();
        }
        log.rare().marks += 1;
        log.trace(now, Event::MarkEchoed { cwnd: self.window.control().window() });
    }

    pub(super) fn state_before(&self, has_timed_out: bool) -> Option<StateBefore> {
        let (flight, tick) = (self.scoreboard.outstanding(), self.config.rto.tick);
        self.repair.may_undo().then(|| StateBefore::new(self.level(), flight, &self.rtt, tick, has_timed_out))
    }

    /// Undoes the window reduction of a spurious retransmission. `acked`: bytes newly acknowledged by the ACK that
    /// revealed the retransmission as spurious; `None` if D-SACKs revealed it. If the ACK carries ECE (`marked`), cwnd
    /// stays reduced (RFC 4015 §3.2).
    pub(super) fn undo_repair(&mut self, now: Time, acked: Option<u64>, marked: bool, log: &mut Log) {
        let Some(taken) = self.repair.undo(acked, &mut self.scoreboard) else { return };
        self.reductions.allow_from(self.scoreboard.una());
        if !marked {
            let (from, outstanding) = (self.level(), self.scoreboard.outstanding());
            let to = taken.level(from, outstanding, self.mss);
            self.window.on_recovered(outstanding, Recovered::Revised { from, to });
        }
        if taken.was_timeout() {
            log.rare().timeouts_undone += 1;
            log.trace(now, Event::TimeoutUndone { cwnd: self.window.control().window() });
        } else {
            log.rare().recoveries_undone += 1;
        }
    }

    /// Adds a round-trip sample. The first new sample after a spurious timeout also raises the RTO, to prevent another
    /// spurious timeout (RFC 4015 §3).
    pub(super) fn sample_rtt(&mut self, rtt: Duration) {
        self.rtt.sample(&self.config.rto, rtt);
        if let Some(previous_rtt) = self.repair.take_previous_rtt(self.scoreboard.una()) {
            self.rtt.remember(&self.config.rto, previous_rtt.srtt, previous_rtt.variation, rtt);
        }
    }

    /// Delays new data by one RTO after an ECN mark if cwnd is one segment, because cwnd cannot shrink further (RFC
    /// 3168 §6.1.2).
    pub(super) fn hold_new_data(&mut self, now: Time) {
        let is_smallest = self.window.control().window() <= self.mss && self.scoreboard.outstanding() == 0;
        if self.reductions.may_hold() && is_smallest {
            self.timer.start(now + self.rtt.rto(), TimerKind::Hold);
        }
    }
}
