//! State of repairs.
//!
//! * `undo`: undo of spurious repairs; `eifel`, `f_rto`: their detection;
//! * `told`: retransmission of segments reported lost.
//!
//! The sender applies the effects on window and timer (`ack.rs`, `steps.rs`, `timeout.rs`).

mod eifel;
mod f_rto;
mod told;
mod undo;

pub(super) use eifel::{Echo, end_of_echo};
pub(super) use f_rto::{Answer, Question, Turn};
pub(super) use undo::{Before, Spike, TakenBack};

use super::Ack;
use super::recovery::{AckNews, LastResort, LossRecovery, Step};
use super::scoreboard::Scoreboard;
use crate::config::Config;
use crate::event::{Log, Reason};
use crate::ranges::Range;
use lasthop_base::{Duration, Time};
use told::Told;
use undo::{Undo, Ways};

pub(super) struct Repair {
    recovery: Box<dyn LossRecovery>,
    /// Reason of the next forced retransmission.
    why: Reason,
    /// Whether timeouts are tested by F-RTO, and the test in progress.
    asks: bool,
    question: Option<Box<Question>>,
    /// Changes by the last repair, if spurious repairs are undone.
    undo: Option<Box<Undo>>,
    /// Whether the window after a timeout includes data not marked lost.
    spares: bool,
    samples_sack: bool,
    times: bool,
    /// Segments reported lost; `None`: no report so far.
    told: Option<Box<Told>>,
    /// End of the current go-back-N; 0: none.
    restart_until: u64,
}

impl Repair {
    /// `burst`: bytes that may be sent at once after a spurious repair.
    pub(super) fn new(recovery: Box<dyn LossRecovery>, config: &Config, burst: u64) -> Repair {
        let undoes = config.f_rto || config.dsack_undo || config.eifel;
        let ways = Ways {
            told: config.dsack_undo,
            stamped: config.eifel.then_some(config.timestamp_tick),
            whole: config.undo_whole,
            burst,
        };
        Repair {
            spares: config.loss_window_in_flight,
            samples_sack: config.sack_rtt && recovery.needs_times(),
            times: recovery.needs_times(),
            recovery,
            why: Reason::Hole,
            asks: config.f_rto,
            question: None,
            undo: undoes.then(|| Box::new(Undo::new(ways))),
            told: None,
            restart_until: 0,
        }
    }

    #[inline(always)]
    pub(super) fn recovery(&self) -> &dyn LossRecovery {
        &*self.recovery
    }

    /// Whether a go-back-N is in progress at `una`.
    #[inline(always)]
    pub(super) fn restarts(&self, una: u64) -> bool {
        una < self.restart_until
    }

    pub(super) fn spares(&self) -> bool {
        self.spares
    }

    #[inline(always)]
    pub(super) fn samples_sack(&self) -> bool {
        self.samples_sack
    }

    #[inline(always)]
    pub(super) fn needs_times(&self) -> bool {
        self.times
    }

    /// Whether nothing is repaired, tested, reported lost or awaiting a sample.
    #[inline(always)]
    pub(super) fn is_quiet(&self, una: u64) -> bool {
        let Repair {
            recovery,
            undo,
            told,
            question,
            restart_until,
            why: _,
            asks: _,
            spares: _,
            samples_sack: _,
            times: _,
        } = self;
        *restart_until <= una
            && question.is_none()
            && told.as_ref().is_none_or(|told| told.is_empty())
            && !undo.as_ref().is_some_and(|undo| undo.awaits_sample())
            && recovery.is_idle()
    }
}

impl Repair {
    #[inline(always)]
    pub(super) fn on_ack(&mut self, news: &AckNews, board: &mut Scoreboard) -> Step {
        self.recovery.on_ack(news, board)
    }

    pub(super) fn on_deadline(&mut self, now: Time, board: &mut Scoreboard) -> Step {
        self.recovery.on_deadline(now, board)
    }

    #[inline(always)]
    pub(super) fn on_sent_new(&mut self, range: Range) {
        self.recovery.on_sent(range, false);
    }

    /// A segment is retransmitted; [`Repair::note_sent_again`] must follow.
    #[inline(always)]
    pub(super) fn on_sent_again(&mut self, range: Range) {
        self.recovery.on_sent(range, true);
    }

    /// Fast recovery begins; `before`: the state that [`Repair::take_back`] restores, if any.
    pub(super) fn enter(&mut self, before: Option<Before>) {
        if let Some(undo) = &mut self.undo {
            undo.begin(before);
        }
        self.why = Reason::FastRetransmit;
    }

    pub(super) fn mark_at_timeout(&mut self, known: &AckNews, board: &mut Scoreboard) {
        self.recovery.mark_at_timeout(known, board);
    }

    /// Begins to retransmit outstanding data marked lost, up to the next new byte.
    pub(super) fn start_over(&mut self, why: Reason, board: &Scoreboard) {
        self.restart_until = board.nxt();
        self.question = None;
        if let Some(undo) = self.undo.as_mut().filter(|_| why != Reason::Timeout) {
            undo.begin(None);
        }
        self.why = why;
        self.recovery.on_timeout(board);
    }
}

impl Repair {
    #[inline(always)]
    pub(super) fn may_have_to_send(&self) -> bool {
        self.recovery.may_have_to_send()
    }

    #[inline(always)]
    pub(super) fn must_send(&mut self, board: &mut Scoreboard) -> Option<(Range, Reason)> {
        let range = self.recovery.must_send(board)?;
        if self.was_told(range, board) {
            return None;
        }
        Some((range, std::mem::replace(&mut self.why, Reason::Hole)))
    }

    #[inline(always)]
    pub(super) fn next_retransmission(&mut self, board: &mut Scoreboard) -> Option<Range> {
        self.recovery.next_retransmission(board)
    }

    #[inline(always)]
    pub(super) fn reason(&self, range: Range) -> Reason {
        if self.restarts(range.start) { Reason::GoBackN } else { Reason::Hole }
    }

    pub(super) fn last_resort(&mut self, board: &mut Scoreboard) -> Option<LastResort> {
        self.recovery.last_resort(board)
    }

    pub(super) fn report(&mut self, start: u64) {
        self.told.get_or_insert_default().add(start);
    }

    #[inline(always)]
    pub(super) fn has_reports(&self) -> bool {
        self.told.is_some()
    }

    /// Next segment reported lost whose retransmission is not yet in flight.
    #[cold]
    pub(super) fn next_reported(&mut self, board: &mut Scoreboard) -> Option<Range> {
        self.told.as_mut()?.next(board)
    }

    /// Whether this segment was already retransmitted because of a report; true once for each retransmission.
    #[inline(always)]
    fn was_told(&mut self, range: Range, board: &Scoreboard) -> bool {
        let is_under_way = match &mut self.told {
            None => false,
            Some(told) => told.take_sent(range.start) && board.first_is_sent_again(),
        };
        if is_under_way {
            self.recovery.on_sent(range, true);
        }
        is_under_way
    }
}

/// F-RTO: test for spurious timeouts.
impl Repair {
    /// Starts a test of a timeout (`first` for this data), before its effect; `None` during another repair.
    #[cold]
    pub(super) fn question(&self, first: bool, board: &Scoreboard) -> Option<Box<Question>> {
        let selective = self.recovery.uses_sack();
        let is_undisturbed =
            !self.restarts(board.una()) && !self.recovery.is_recovering() && board.lost() == 0;
        let is_first = is_undisturbed || (selective && !first);
        let sent = board.first().filter(|_| self.asks && is_first)?;
        Some(Box::new(Question::new(sent, board.nxt(), selective)))
    }

    pub(super) fn ask(&mut self, question: Option<Box<Question>>) {
        self.question = question;
    }

    #[inline(always)]
    pub(super) fn tells_of_original(&self, ack: &Ack<'_>, board: &Scoreboard) -> bool {
        let is_eager = || self.undo.as_ref().is_some_and(|undo| undo.gives_all_back());
        self.question.as_ref().is_some_and(|question| question.tells_of_original(ack, is_eager(), board))
    }

    #[inline(always)]
    pub(super) fn hear(&mut self, acked: u64, duplicate: bool, original: bool, una: u64) -> Answer {
        match &self.question {
            None => Answer::Open,
            Some(_) => self.hear_answer(acked, duplicate, original, una),
        }
    }

    #[inline(never)]
    fn hear_answer(&mut self, acked: u64, duplicate: bool, original: bool, una: u64) -> Answer {
        let Some(question) = &mut self.question else { return Answer::Open };
        let (answer, is_open) = question.hear(acked, duplicate, original, una);
        if !is_open {
            self.question = None;
        }
        match answer {
            Answer::Probed if self.spares => Answer::Open,
            answer => answer,
        }
    }

    #[inline(always)]
    pub(super) fn turn(&self) -> Turn {
        self.question.as_ref().map_or(Turn::Nothing, |question| question.turn())
    }

    #[inline(always)]
    pub(super) fn is_asking(&self) -> bool {
        self.question.is_some()
    }

    pub(super) fn note_probe(&mut self) {
        if let Some(question) = &mut self.question {
            question.note_probe();
        }
    }

    pub(super) fn drop_question(&mut self) {
        self.question = None;
    }
}

impl Repair {
    #[inline(always)]
    pub(super) fn undoes(&self) -> bool {
        self.undo.is_some()
    }

    #[inline(always)]
    pub(super) fn eifel_tick(&self) -> Option<Duration> {
        self.undo.as_ref().and_then(|undo| undo.eifel_tick())
    }

    /// The timer expired (`first` for this data); includes the changes of a current repair or the previous expiry.
    pub(super) fn note_timeout(&mut self, first: bool, before: Option<Before>) {
        let goes_on = self.recovery.is_recovering() || !first;
        if let Some(undo) = &mut self.undo {
            undo.note_timeout(before, goes_on);
        }
    }

    #[inline(always)]
    pub(super) fn note_sent_again(&mut self, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.on_sent_again(now);
        }
    }

    pub(super) fn on_told_twice(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.on_told();
        }
    }

    /// Whether D-SACKs show that the last repair was spurious, and no recovery is in progress.
    #[inline(never)]
    pub(super) fn is_refuted_by_dsack(&self) -> bool {
        self.undo.as_ref().is_some_and(|undo| undo.is_refuted()) && !self.recovery.is_recovering()
    }

    /// Whether an echo shows that the repair was spurious, before recovery sees the ACK; `judged`: see `undo.rs`.
    #[inline(never)]
    pub(super) fn is_refuted_by_echo(
        &self,
        echo: &Echo,
        board: &Scoreboard,
        judged: bool,
        log: &Log,
    ) -> bool {
        let covers_all = board.outstanding() == 0;
        let Some(undo) = &self.undo else { return false };
        match undo.hear_echo(echo, covers_all, || log.duplicates_reported() > 0) {
            None => false,
            Some(eifel::Refuted::Timeout) => self.restarts(board.una() - echo.acked),
            // While a copy is in flight, more segments may be lost than that one.
            Some(eifel::Refuted::Recovery) => self.recovery.is_recovering() && board.again() == 0 && !judged,
        }
    }

    /// Ends a spurious repair, revealed by an ACK of `acked` bytes or (`None`) a D-SACK. `None`: nothing to undo.
    pub(super) fn take_back(&mut self, acked: Option<u64>, board: &mut Scoreboard) -> Option<TakenBack> {
        let taken = self.undo.as_mut()?.take(acked, board.nxt())?;
        let was_at = board.una() - acked.unwrap_or(0);
        if self.recovery.is_recovering() || self.restarts(was_at) {
            board.forget_losses();
            self.recovery.on_spurious(board);
        }
        self.question = None;
        self.restart_until = 0;
        Some(taken)
    }

    /// Returns the estimator's state before a spurious timeout, if `una` covers the first sample of data sent after it.
    #[inline(always)]
    pub(super) fn take_spike(&mut self, una: u64) -> Option<Spike> {
        self.undo.as_mut()?.take_spike(una)
    }
}
