//! Effects of recovery steps and of marks on the window.

use super::Sender;
use super::congestion::{Level, LossEvent, MarkPace, Phase, Recovered};
use super::recovery::Step;
use super::repair::Before;
use super::timer::Kind;
use crate::event::{Cause, Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::{Duration, Time};

impl Sender {
    #[inline]
    pub(super) fn phase(&self) -> Phase {
        if self.repair.recovery().is_recovering() || self.reductions.lasts_by_mark() {
            Phase::Recovery
        } else if self.repair.restarts(self.board.una()) {
            Phase::Restart
        } else {
            Phase::Open
        }
    }

    pub(super) fn take_step(&mut self, now: Time, step: Step, marked: bool, log: &mut Log) {
        match step {
            Step::Same | Step::Partial { .. } => {}
            Step::Reordered { flight } => {
                // RFC 4653 §3: no burst, and slow start back to the former window.
                let window = flight.min(self.board.outstanding() + self.mss);
                self.window.on_reordered(Level { window, ssthresh: flight });
            }
            Step::Enter | Step::Reenter => {
                let flight = self.repair.recovery().flight_at_loss(&self.board);
                let verdict = self.judge_loss(now, log);
                let spared = verdict == Some(Cause::Wireless);
                self.reductions.spare(spared);
                if spared {
                    return self.enter_without_reduction(now, flight, log);
                }
                if step == Step::Reenter {
                    self.reductions.reopen(0);
                }
                self.reductions.forget_mark();
                let before = self.before(false);
                match verdict {
                    None => self.note_entry(step),
                    Some(_) => self.reductions.drop_entry(),
                }
                self.judge_by_mark(now, marked, log);
                self.reduce(now, flight, marked, false);
                self.repair.enter(before);
                self.tail.forget();
                log.count_recovery();
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.window.rules().window() });
            }
            Step::Restart => {
                let flight = self.repair.recovery().flight_at_loss(&self.board);
                self.judge_by_mark(now, marked, log);
                self.reduce(now, flight, marked, true);
                log.count_recovery();
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.window.rules().window() });
                self.board.mark_all_lost();
                self.start_over(Reason::FastRetransmit);
            }
            Step::Leave if self.reductions.take_spared() => {
                log.trace(now, Event::RecoveryLeft { cwnd: self.window.rules().window() });
            }
            Step::Leave => {
                let recovered = self.review(now, log);
                self.window.on_recovered(self.board.outstanding(), recovered);
                log.trace(now, Event::RecoveryLeft { cwnd: self.window.rules().window() });
            }
        }
    }

    fn judge_loss(&mut self, now: Time, log: &mut Log) -> Option<Cause> {
        let (discriminator, first) = (self.discriminator.as_mut()?, self.board.first()?);
        let cause = discriminator.on_loss(first)?;
        log.loss_classified(now, first, cause);
        Some(cause)
    }

    /// Enters a recovery without changing cwnd and ssthresh; another loss of the same window may still reduce them.
    fn enter_without_reduction(&mut self, now: Time, flight: u64, log: &mut Log) {
        self.reductions.drop_entry();
        self.repair.enter(None);
        self.tail.forget();
        log.count_recovery();
        log.trace(now, Event::RecoveryEntered { flight, cwnd: self.window.rules().window() });
    }

    pub(super) fn level(&self) -> Level {
        self.window.level()
    }

    pub(super) fn loss_event(&self, now: Time, flight: u64) -> LossEvent {
        LossEvent {
            now,
            una: self.board.una(),
            nxt: self.board.nxt(),
            flight,
            window: self.window.bytes().min(self.peer.window()),
            ..LossEvent::default()
        }
    }

    fn note_entry(&mut self, step: Step) {
        let level = self.level();
        let Some(discriminator) = &mut self.discriminator else { return };
        let outstanding = Range { start: self.board.una(), end: self.board.nxt() };
        self.reductions.note_entry(level, outstanding, step == Step::Reenter);
        discriminator.on_entered(outstanding.end);
    }

    /// A recovery is over: decides whether its reduction stays.
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

    /// Records the classification of a loss by the mark on the third duplicate ACK.
    fn judge_by_mark(&self, now: Time, marked: bool, log: &mut Log) {
        if let (true, Some(range)) = (self.window.rules().nature().judges_by_mark, self.board.first()) {
            log.loss_classified(now, range, if marked { Cause::Congestion } else { Cause::Wireless });
        }
    }

    fn reduce(&mut self, now: Time, flight: u64, marked: bool, restart: bool) {
        let loss = LossEvent { marked, ..self.loss_event(now, flight) };
        if restart {
            self.window.on_restart(&loss);
        } else if self.reductions.is_due_at(self.board.una()) {
            self.window.on_loss(&loss);
        }
        self.reductions.note(now, self.board.nxt());
        self.tells = true;
    }

    /// Reduces the window if an ACK shows that the tail loss probe repaired a loss (RFC 8985 §7.4.2).
    #[inline(never)]
    pub(super) fn conclude_probe(
        &mut self,
        now: Time,
        twice: bool,
        advanced: bool,
        selective: bool,
        log: &mut Log,
    ) {
        let has_repaired = self.tail.conclude(self.board.una(), twice, advanced, selective);
        if has_repaired && !self.repair.recovery().is_recovering() {
            let loss = self.loss_event(now, self.board.outstanding());
            self.window.on_loss(&loss);
            self.window.on_recovered(self.board.outstanding(), Recovered::Kept);
            self.reductions.note(now, self.board.nxt());
            log.count_recovery();
        }
    }

    /// ECE: reduces the window once per window of data (RFC 3168 §6.1.2), or as often as congestion control requires,
    /// but not during a repair. CWR goes with the byte at `until`: before its ACK, the receiver still echoes.
    pub(super) fn heed_mark(&mut self, now: Time, log: &mut Log) {
        let pace = self.window.rules().nature().mark_pace;
        let too_soon = self.reductions.is_too_soon(pace, self.board.una(), now, self.rtt.srtt());
        if too_soon || self.phase() != Phase::Open {
            return;
        }
        let loss = self.loss_event(now, self.board.outstanding());
        self.window.on_mark(&loss);
        self.reductions.note(now, self.board.nxt());
        self.tells = true;
        let has_more = self.board.outstanding() > 0 && pace == MarkPace::Window;
        if self.reductions.is_gradual() && has_more {
            self.reductions.begin_by_mark();
        }
        log.rare().marks += 1;
        log.trace(now, Event::MarkEchoed { cwnd: self.window.rules().window() });
    }

    pub(super) fn before(&self, by_timeout: bool) -> Option<Before> {
        let (flight, tick) = (self.board.outstanding(), self.config.rto.tick);
        self.repair.undoes().then(|| Before::new(self.level(), flight, &self.rtt, tick, by_timeout))
    }

    /// Undoes a spurious repair, revealed by an ACK of `acked` bytes or (`None`) by a D-SACK after its end. After an
    /// ACK with a mark the window stays reduced (RFC 4015 §3.2).
    pub(super) fn take_back(&mut self, now: Time, acked: Option<u64>, marked: bool, log: &mut Log) {
        let Some(taken) = self.repair.take_back(acked, &mut self.board) else { return };
        self.reductions.reopen(self.board.una());
        if !marked {
            let (from, outstanding) = (self.level(), self.board.outstanding());
            let to = taken.level(from, outstanding, self.mss);
            self.window.on_recovered(outstanding, Recovered::Revised { from, to });
        }
        match taken.is_of_timeout() {
            true => {
                log.rare().timeouts_undone += 1;
                log.trace(now, Event::TimeoutUndone { cwnd: self.window.rules().window() });
            }
            false => log.rare().recoveries_undone += 1,
        }
    }

    /// Adds a round-trip sample. After a spurious timeout the first new one keeps the timeout long (RFC 4015 §3).
    pub(super) fn sample_rtt(&mut self, rtt: Duration) {
        self.rtt.sample(&self.config.rto, rtt);
        if let Some(spike) = self.repair.take_spike(self.board.una()) {
            self.rtt.remember(&self.config.rto, spike.srtt, spike.variation, rtt);
        }
    }

    /// At a window of one segment, new data waits for a whole timeout instead of a reduction (RFC 3168 §6.1.2).
    pub(super) fn hold_back(&mut self, now: Time) {
        let is_smallest = self.window.rules().window() <= self.mss && self.board.outstanding() == 0;
        if self.reductions.may_hold() && is_smallest {
            self.timer.start(now + self.rtt.rto(), Kind::Hold);
        }
    }
}
