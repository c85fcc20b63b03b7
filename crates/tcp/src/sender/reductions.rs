//! One reduction of the window per window of data: which signal has had its effect, and whether that stays.

use super::Sender;
use super::congestion::{Level, LossEvent, MarkPace, Phase, Recovered};
use super::recovery::{AckNews, Step};
use super::reduction::{Progress, Reduction};
use super::timer::Kind;
use crate::event::{Cause, Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;

/// What has reduced the window so far.
#[repr(C)]
pub(super) struct Reductions {
    /// How the window comes down; `None`: at once.
    rule: Option<Box<dyn Reduction>>,
    /// What it allows to be in flight, bytes, while a recovery or a mark's reduction lasts.
    /// Else [`NO_ALLOWANCE`].
    allowance: u64,
    /// Bytes that were known to be lost at the last ACK, in all.
    lost_known: u64,
    /// And those of them that the last one told.
    lost_by_ack: u64,
    /// Signals about data below this offset have had their effect.
    pub(super) until: u64,
    /// A mark's reduction lasts, until `until` is acknowledged.
    by_mark: Option<ByMark>,
    /// The recovery that lasts repairs what is no congestion: the window stayed, and stays at its end.
    spared: bool,
    /// Whether new data waits for the timer when an echo comes at a window of one segment (RFC 3168 §6.1.2).
    may_hold: bool,
    /// When a loss or a mark had it last; [`Time::NEVER`]: none had.
    at: Time,
    /// For the judge: what the window was when the last recovery was entered, and what was outstanding; nothing since a
    /// timeout.
    entered: Option<Box<(Level, Range)>>,
    /// Without SACK: bytes for which duplicates stand that are not acknowledged yet.
    stood_for: u64,
}

/// No window is as large.
const NO_ALLOWANCE: u64 = u64::MAX;

/// How far a mark's reduction is (the state that Linux calls CWR).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ByMark {
    Begins,
    GoesOn,
}

impl Reductions {
    pub(super) fn new(may_hold: bool, rule: Option<Box<dyn Reduction>>) -> Reductions {
        Reductions {
            until: 0,
            at: Time::NEVER,
            entered: None,
            rule,
            allowance: NO_ALLOWANCE,
            by_mark: None,
            stood_for: 0,
            lost_known: 0,
            lost_by_ack: 0,
            spared: false,
            may_hold,
        }
    }

    /// Bytes found lost since the last ACK, of so many in all.
    pub(super) fn news_of_losses(&mut self, total: u64) -> u64 {
        self.lost_by_ack = total - std::mem::replace(&mut self.lost_known, total);
        self.lost_by_ack
    }

    /// The window was reduced because of something in the data before `until`.
    pub(super) fn note(&mut self, now: Time, until: u64) {
        self.until = until;
        self.at = now;
    }

    /// Whether the window does not come down at once.
    #[inline]
    pub(super) fn is_gradual(&self) -> bool {
        self.rule.is_some()
    }

    /// What may be in flight while a recovery lasts, if the window does not come down at once.
    #[inline]
    pub(super) fn allowance(&self) -> Option<u64> {
        (self.allowance != NO_ALLOWANCE).then_some(self.allowance)
    }

    /// Everything is to be sent again: what was before the last recovery is not what is to be restored.
    pub(super) fn forget_entry(&mut self) {
        self.spared = false;
        self.entered = None;
    }

    /// No recovery lasts any more, whether an ACK or a timeout has ended it: the window is the control's again.
    pub(super) fn end(&mut self) {
        self.allowance = NO_ALLOWANCE;
    }

    /// Whether the window still comes down because of a mark.
    #[inline]
    pub(super) fn lasts_by_mark(&self) -> bool {
        self.by_mark.is_some()
    }

    /// So far everything is acknowledged: a mark's reduction may be over.
    #[inline]
    pub(super) fn reach(&mut self, una: u64) {
        if una >= self.until {
            self.by_mark = None;
        }
    }

    /// A loss or a timeout takes the place of a mark's reduction.
    pub(super) fn forget_mark(&mut self) {
        self.by_mark = None;
    }

    /// Something goes out during a recovery.
    pub(super) fn on_sent(&mut self, bytes: u64) {
        if let Some(rule) = self.rule.as_mut().filter(|_| self.allowance != NO_ALLOWANCE) {
            rule.on_sent(bytes);
        }
    }

    /// Bytes that an ACK delivers; without SACK a duplicate stands for a segment, which a later ACK does not deliver again
    /// (RFC 9937 §6, DeliveredData).
    fn delivered(&mut self, news: &AckNews, delivered: u64, uses_sack: bool) -> u64 {
        if uses_sack {
            return delivered;
        }
        if news.duplicate {
            self.stood_for += news.mss;
            return news.mss;
        }
        let stood_for = self.stood_for.min(news.acked);
        self.stood_for -= stood_for;
        news.acked - stood_for
    }
}

impl Sender {
    /// What a step of the recovery means for the window.
    pub(super) fn take_step(&mut self, now: Time, step: Step, marked: bool, log: &mut Log) {
        match step {
            Step::Same | Step::Partial { .. } => {}
            Step::Reordered { flight } => {
                // RFC 4653 §3: no burst, and slow start back to where it was.
                let window = flight.min(self.board.outstanding() + self.mss);
                self.congestion.on_reordered(Level { window, ssthresh: flight });
            }
            Step::Enter | Step::Reenter => {
                let flight = self.repair.recovery.flight_at_loss(&self.board);
                let verdict = self.judge_loss(now, log);
                self.reductions.spared = verdict == Some(Cause::Wireless);
                if self.reductions.spared {
                    return self.enter_without_reduction(now, flight, log);
                }
                if step == Step::Reenter {
                    self.reductions.until = 0;
                }
                self.reductions.forget_mark();
                self.note_before_recovery();
                match verdict {
                    None => self.note_entry(step),
                    Some(_) => self.reductions.entered = None,
                }
                self.judge_by_mark(now, marked, log);
                self.reduce(now, flight, marked, false);
                self.repair.why = Reason::FastRetransmit;
                self.forget_probe();
                log.count_recovery();
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.congestion.window() });
            }
            Step::Restart => {
                let flight = self.repair.recovery.flight_at_loss(&self.board);
                self.judge_by_mark(now, marked, log);
                self.reduce(now, flight, marked, true);
                log.count_recovery();
                log.trace(now, Event::RecoveryEntered { flight, cwnd: self.congestion.window() });
                self.board.mark_all_lost();
                self.start_over(Reason::FastRetransmit);
            }
            Step::Leave if std::mem::take(&mut self.reductions.spared) => {
                log.trace(now, Event::RecoveryLeft { cwnd: self.congestion.window() });
            }
            Step::Leave => {
                let recovered = self.review(now, log);
                self.congestion.on_recovered(self.board.outstanding(), recovered);
                log.trace(now, Event::RecoveryLeft { cwnd: self.congestion.window() });
            }
        }
    }

    /// What the judge says of the loss that a recovery begins with.
    fn judge_loss(&mut self, now: Time, log: &mut Log) -> Option<Cause> {
        let (judge, first) = (self.judge.as_mut()?, self.board.first()?);
        let cause = judge.on_loss(first)?;
        log.judged(now, first, cause);
        Some(cause)
    }

    /// The recovery repairs; cwnd and ssthresh stay, and a loss of the same window may still reduce them.
    fn enter_without_reduction(&mut self, now: Time, flight: u64, log: &mut Log) {
        self.reductions.entered = None;
        if let Some(undo) = &mut self.repair.undo {
            undo.forget();
        }
        self.repair.why = Reason::FastRetransmit;
        self.forget_probe();
        log.count_recovery();
        log.trace(now, Event::RecoveryEntered { flight, cwnd: self.congestion.window() });
    }

    pub(super) fn level(&self) -> Level {
        Level { window: self.congestion.window(), ssthresh: self.congestion.ssthresh() }
    }

    pub(super) fn loss_event(&self, now: Time, flight: u64) -> LossEvent {
        LossEvent { now, flight, window: self.cwnd.min(self.peer.window()), marked: false, spared: 0 }
    }

    /// A recovery is entered: what is to be judged, and what may be restored.
    fn note_entry(&mut self, step: Step) {
        let level = self.level();
        let Some(judge) = &mut self.judge else { return };
        let outstanding = Range { start: self.board.una(), end: self.board.nxt() };
        // The 1990s' Reno reduces again while it recovers: what is restored is what was before it all.
        let first = self.reductions.entered.as_ref().filter(|_| step == Step::Reenter);
        let before = first.map_or(level, |first| first.0);
        self.reductions.entered = Some(Box::new((before, outstanding)));
        judge.on_entered(outstanding.end);
    }

    /// A recovery is over: whether its reduction stays.
    fn review(&mut self, now: Time, log: &mut Log) -> Recovered {
        let from = self.level();
        let entered = self.reductions.entered.as_deref().copied();
        let (Some(judge), Some((before, range))) = (&mut self.judge, entered) else {
            return Recovered::Kept;
        };
        let cause = judge.review();
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
        self.tells = true;
    }

    /// An ACK, or time, has had its effect on the window, which the recovery's `step` may have reduced: how much of the
    /// reduction has to hold already. `delivered`: bytes that are new by it, `reported` of them by SACK.
    #[inline(never)]
    pub(super) fn come_down(&mut self, step: Step, news: &AckNews, delivered: u64, reported: u64) {
        let reductions = &mut self.reductions;
        let Some(mut rule) = reductions.rule.take() else { return };
        let recovery = &self.repair.recovery;
        let uses_sack = recovery.uses_sack();
        let begins_by_mark = reductions.by_mark == Some(ByMark::Begins);
        if matches!(step, Step::Enter | Step::Reenter) || begins_by_mark {
            reductions.by_mark = reductions.by_mark.map(|_| ByMark::GoesOn);
            reductions.stood_for = 0;
            // What SACK had reported before is not delivered any more (RFC 9937 §6, RecoverFS). A recovery may have forgotten
            // what this ACK reported.
            let reported_before = self.board.sacked().saturating_sub(reported);
            rule.on_entered(self.board.outstanding() + news.acked - reported_before);
        }
        let lasts = recovery.is_recovering() || reductions.lasts_by_mark();
        reductions.allowance = if lasts {
            rule.on_ack(&Progress {
                delivered: reductions.delivered(news, delivered, uses_sack),
                lost: reductions.lost_by_ack,
                advanced: news.acked > 0,
                in_flight: recovery.in_flight(&self.board),
                target: self.congestion.window(),
                mss: news.mss,
            })
        } else {
            NO_ALLOWANCE
        };
        reductions.rule = Some(rule);
    }

    /// ECE: reduces once per window of data (RFC 3168 §6.1.2) or as often as the congestion control wants, not while a
    /// loss is being repaired. Where the window does not come down at once after a loss, it does not after a mark either.
    ///
    /// CWR goes out with the byte at `until`: an ACK that does not cover it cannot have stopped echoing.
    pub(super) fn heed_mark(&mut self, now: Time, log: &mut Log) {
        let reductions = &self.reductions;
        let too_soon = match self.congestion.mark_pace() {
            MarkPace::Window => self.board.una() <= reductions.until,
            MarkPace::Rtt => {
                reductions.at < Time::NEVER
                    && self.rtt.srtt().is_some_and(|srtt| now.since(reductions.at) < srtt)
            }
            MarkPace::Every => false,
        };
        if too_soon || self.phase() != Phase::Open {
            return;
        }
        let loss = self.loss_event(now, self.board.outstanding());
        self.congestion.on_mark(&loss);
        self.reductions.note(now, self.board.nxt());
        self.tells = true;
        let has_more = self.board.outstanding() > 0 && self.congestion.mark_pace() == MarkPace::Window;
        if self.reductions.is_gradual() && has_more {
            self.reductions.by_mark = Some(ByMark::Begins);
        }
        log.seldom().marks += 1;
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
