//! One reduction of the window per window of data: which signal has had its effect, and whether that stays.

use super::Sender;
use super::congestion::{Level, LossEvent, MarkPace, Phase, Recovered};
use super::recovery::Step;
use super::timer::Kind;
use crate::event::{Cause, Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;

/// What has reduced the window so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reductions {
    /// Signals about data below this offset have had their effect.
    pub(super) until: u64,
    /// When a loss or a mark had it last.
    at: Option<Time>,
    /// Whether the next new segment tells the receiver (CWR, RFC 3168 §6.1.2).
    pub(super) tells: bool,
    /// For the judge: what the window was when the last recovery was entered, and what was outstanding.
    entered: (Level, Range),
    /// Bytes that were known to be lost at the last ACK, in all.
    lost_known: u64,
    /// Whether new data waits for the timer when an echo comes at a window of one segment (RFC 3168 §6.1.2).
    may_hold: bool,
}

impl Reductions {
    pub(super) fn new(may_hold: bool) -> Reductions {
        Reductions {
            until: 0,
            at: None,
            tells: false,
            entered: (Level::default(), Range { start: 1, end: 1 }),
            lost_known: 0,
            may_hold,
        }
    }

    /// Bytes found lost since the last ACK, of so many in all.
    pub(super) fn news_of_losses(&mut self, total: u64) -> u64 {
        total - std::mem::replace(&mut self.lost_known, total)
    }

    /// The window was reduced because of something in the data before `until`.
    fn note(&mut self, now: Time, until: u64) {
        self.until = until;
        self.at = Some(now);
        self.tells = true;
    }
}

impl Sender {
    /// What a step of the recovery means for the window.
    pub(super) fn take_step(&mut self, now: Time, step: Step, marked: bool, log: &mut Log) {
        match step {
            Step::Same | Step::Partial { .. } => {}
            Step::Enter | Step::Reenter => {
                let flight = self.repair.recovery.flight_at_loss(&self.board);
                if step == Step::Reenter {
                    self.reductions.until = 0;
                }
                self.note_entry(step);
                self.judge_by_mark(now, marked, log);
                self.reduce(now, flight, marked, false);
                self.repair.why = Reason::FastRetransmit;
                log.counters.recoveries += 1;
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.congestion.window() });
            }
            Step::Restart => {
                let flight = self.repair.recovery.flight_at_loss(&self.board);
                self.judge_by_mark(now, marked, log);
                self.reduce(now, flight, marked, true);
                log.counters.recoveries += 1;
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.congestion.window() });
                self.start_over(now, Reason::FastRetransmit);
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

    pub(super) fn loss_event(&self, now: Time, flight: u64) -> LossEvent {
        LossEvent { now, flight, window: self.cwnd.min(self.peer.window()), marked: false }
    }

    /// A recovery is entered: what is to be judged, and what may be restored.
    fn note_entry(&mut self, step: Step) {
        let level = self.level();
        let Some(judge) = &mut self.judge else { return };
        let outstanding = Range { start: self.board.una(), end: self.board.nxt() };
        // The 1990s' Reno reduces again while it recovers: what is restored is what was before it all.
        let before = if step == Step::Reenter { self.reductions.entered.0 } else { level };
        self.reductions.entered = (before, outstanding);
        judge.on_entered(outstanding.end);
    }

    /// A recovery is over: whether its reduction stays.
    fn review(&mut self, now: Time, log: &mut Log) -> Recovered {
        let from = self.level();
        let Some(judge) = &mut self.judge else { return Recovered::Kept };
        let cause = judge.review();
        let (before, range) = self.reductions.entered;
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

    fn reduce(&mut self, now: Time, flight: u64, marked: bool, restart: bool) {
        let loss = LossEvent { marked, ..self.loss_event(now, flight) };
        if restart {
            self.congestion.on_restart(&loss);
        } else if self.board.una() >= self.reductions.until {
            self.congestion.on_loss(&loss);
        }
        self.reductions.note(now, self.board.nxt());
    }

    /// ECE: reduces once per window of data (RFC 3168 §6.1.2) or as often as the congestion control wants, not while a
    /// loss is being repaired.
    ///
    /// CWR goes out with the byte at `until`: an ACK that does not cover it cannot have stopped echoing.
    pub(super) fn heed_mark(&mut self, now: Time, log: &mut Log) {
        let reductions = &self.reductions;
        let too_soon = match self.congestion.mark_pace() {
            MarkPace::Window => self.board.una() <= reductions.until,
            MarkPace::Rtt => {
                reductions.at.is_some_and(|at| self.rtt.srtt().is_some_and(|srtt| now.since(at) < srtt))
            }
            MarkPace::Every => false,
        };
        if too_soon || self.phase() != Phase::Open {
            return;
        }
        let loss = self.loss_event(now, self.board.outstanding());
        self.congestion.on_mark(&loss);
        self.reductions.note(now, self.board.nxt());
        log.counters.marks += 1;
        log.trace(now, Event::MarkEchoed { cwnd: self.congestion.window() });
    }

    /// The window cannot become smaller than a segment: instead the next one waits for a whole timeout (RFC 3168 §6.1.2).
    pub(super) fn hold_back(&mut self, now: Time) {
        let is_smallest = self.congestion.window() <= self.mss && self.board.outstanding() == 0;
        if self.reductions.may_hold && is_smallest {
            self.timer.start(now + self.rtt.rto(), Kind::Hold);
        }
    }
}
