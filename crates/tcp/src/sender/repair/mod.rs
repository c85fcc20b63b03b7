//! State of repairs: while something is lost, reported or retransmitted.
//!
//! * `undo`: a repair that was for nothing is taken back; `eifel`, `f_rto`: two ways to find out that it was;
//! * `told`: segments that go again because somebody reported them lost.
//!
//! Effects on the window and on the timer are the sender's (`ack.rs`, `steps.rs`, `timeout.rs`).

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

/// State of repairs.
pub(super) struct Repair {
    recovery: Box<dyn LossRecovery>,
    /// Reason of the next retransmission that must go out.
    why: Reason,
    /// Whether timeouts are asked if they were spurious (F-RTO), and the question that is open.
    asks: bool,
    question: Option<Box<Question>>,
    /// Changes by the last repair, if repairs that were for nothing are taken back.
    undo: Option<Box<Undo>>,
    /// Whether the window after a timeout has room for what was not given up.
    spares: bool,
    /// Whether round trips are measured by what SACK reports.
    samples_sack: bool,
    /// Whether `recovery` finds losses by time.
    times: bool,
    /// Segments that go again because somebody reported them lost; `None`: nobody ever did.
    told: Option<Box<Told>>,
    /// End of the next go-back-N; 0 when none is under way.
    restart_until: u64,
}

impl Repair {
    /// `burst`: bytes that may go out at once after a repair that was for nothing.
    pub(super) fn new(recovery: Box<dyn LossRecovery>, config: &Config, burst: u64) -> Repair {
        let undoes = config.f_rto || config.dsack_undo || config.eifel;
        let ways = Ways {
            told: config.dsack_undo,
            stamped: config.eifel.then_some(config.timestamp_tick),
            whole: config.undo_whole,
            burst,
        };
        Repair {
            spares: config.loss_window_spares,
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

    /// The loss recovery, for questions without an effect.
    #[inline(always)]
    pub(super) fn recovery(&self) -> &dyn LossRecovery {
        &*self.recovery
    }

    /// Whether a go-back-N has not yet ended at `una`.
    #[inline(always)]
    pub(super) fn restarts(&self, una: u64) -> bool {
        una < self.restart_until
    }

    /// Whether the window after a timeout has room for what was not given up.
    pub(super) fn spares(&self) -> bool {
        self.spares
    }

    /// Whether round trips are measured by what SACK reports.
    #[inline(always)]
    pub(super) fn samples_sack(&self) -> bool {
        self.samples_sack
    }

    /// Whether losses are found by time.
    #[inline(always)]
    pub(super) fn needs_times(&self) -> bool {
        self.times
    }

    /// Nothing is repaired, asked, reported lost or to be measured once more.
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

/// Events for the loss recovery.
impl Repair {
    /// The scoreboard has taken an ACK in.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, news: &AckNews, board: &mut Scoreboard) -> Step {
        self.recovery.on_ack(news, board)
    }

    /// Time alone may show that something is lost.
    pub(super) fn on_deadline(&mut self, now: Time, board: &mut Scoreboard) -> Step {
        self.recovery.on_deadline(now, board)
    }

    /// New data goes out.
    #[inline(always)]
    pub(super) fn on_sent_new(&mut self, range: Range) {
        self.recovery.on_sent(range, false);
    }

    /// A segment goes out again; [`Repair::note_sent_again`] follows.
    #[inline(always)]
    pub(super) fn on_sent_again(&mut self, range: Range) {
        self.recovery.on_sent(range, true);
    }

    /// Fast recovery begins; `before`: the state that [`Repair::take_back`] restores, `None` if nothing is to be restored.
    pub(super) fn enter(&mut self, before: Option<Before>) {
        if let Some(undo) = &mut self.undo {
            undo.begin(before);
        }
        self.why = Reason::FastRetransmit;
    }

    /// The timer has expired: marks segments lost.
    pub(super) fn mark_at_timeout(&mut self, known: &AckNews, board: &mut Scoreboard) {
        self.recovery.mark_at_timeout(known, board);
    }

    /// Outstanding data was marked lost, or some of it: it goes again, up to the next new byte.
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

/// Retransmissions.
impl Repair {
    /// Whether [`Repair::must_send`] may have something.
    #[inline(always)]
    pub(super) fn may_have_to_send(&self) -> bool {
        self.recovery.may_have_to_send()
    }

    /// A segment that goes again whatever the window, and why.
    #[inline(always)]
    pub(super) fn must_send(&mut self, board: &mut Scoreboard) -> Option<(Range, Reason)> {
        let range = self.recovery.must_send(board)?;
        if self.was_told(range, board) {
            return None;
        }
        Some((range, std::mem::replace(&mut self.why, Reason::Hole)))
    }

    /// The next segment that goes again once the window has room for it.
    #[inline(always)]
    pub(super) fn next_retransmission(&mut self, board: &mut Scoreboard) -> Option<Range> {
        self.recovery.next_retransmission(board)
    }

    /// Reason of such a retransmission.
    #[inline(always)]
    pub(super) fn reason(&self, range: Range) -> Reason {
        if self.restarts(range.start) { Reason::GoBackN } else { Reason::Hole }
    }

    /// A segment that may go again when no new data may go out.
    pub(super) fn last_resort(&mut self, board: &mut Scoreboard) -> Option<LastResort> {
        self.recovery.last_resort(board)
    }

    /// Somebody reported the segment that begins there lost: it goes again.
    pub(super) fn report(&mut self, start: u64) {
        self.told.get_or_insert_default().add(start);
    }

    /// Whether anybody ever reported a segment lost.
    #[inline(always)]
    pub(super) fn has_reports(&self) -> bool {
        self.told.is_some()
    }

    /// The next segment that goes again because it was reported lost, unless its repeat is under way already.
    #[cold]
    pub(super) fn next_reported(&mut self, board: &mut Scoreboard) -> Option<Range> {
        self.told.as_mut()?.next(board)
    }

    /// Whether this segment, which recovery would send, went out because it was reported lost; true once for each repeat.
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

/// F-RTO: was a timeout spurious?
impl Repair {
    /// The question about the timeout that has just come, `first`: for the first time for this data, before its effect. None
    /// while an earlier timeout, or a loss that was seen, is being repaired.
    #[cold]
    pub(super) fn question(&self, first: bool, board: &Scoreboard) -> Option<Box<Question>> {
        let selective = self.recovery.uses_sack();
        let is_undisturbed =
            !self.restarts(board.una()) && !self.recovery.is_recovering() && board.lost() == 0;
        let is_first = is_undisturbed || (selective && !first);
        let sent = board.first().filter(|_| self.asks && is_first)?;
        Some(Box::new(Question::new(sent, board.nxt(), selective)))
    }

    /// After [`Repair::start_over`]: this question is open.
    pub(super) fn ask(&mut self, question: Option<Box<Question>>) {
        self.question = question;
    }

    /// Whether an ACK that the scoreboard has not taken in shows that an original has arrived.
    #[inline(always)]
    pub(super) fn tells_of_original(&self, ack: &Ack<'_>, board: &Scoreboard) -> bool {
        let is_eager = || self.undo.as_ref().is_some_and(|undo| undo.gives_all_back());
        self.question.as_ref().is_some_and(|question| question.tells_of_original(ack, is_eager(), board))
    }

    /// An ACK came, by which `acked` bytes are new and the first byte outstanding is `una`; `original`:
    /// [`Repair::tells_of_original`].
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

    /// Whether the open question keeps old data back, and new data may go out for it.
    #[inline(always)]
    pub(super) fn turn(&self) -> Turn {
        self.question.as_ref().map_or(Turn::Nothing, |question| question.turn())
    }

    /// Whether a question is open.
    #[inline(always)]
    pub(super) fn is_asking(&self) -> bool {
        self.question.is_some()
    }

    /// New data went out for the question.
    pub(super) fn note_probe(&mut self) {
        if let Some(question) = &mut self.question {
            question.note_probe();
        }
    }

    /// No answer can be had.
    pub(super) fn drop_question(&mut self) {
        self.question = None;
    }
}

/// Repairs that were for nothing.
impl Repair {
    /// Whether repairs that were for nothing are taken back.
    #[inline(always)]
    pub(super) fn undoes(&self) -> bool {
        self.undo.is_some()
    }

    /// Tick of the timestamps' clock, if an echo may show that a repair was for nothing (Eifel).
    #[inline(always)]
    pub(super) fn eifel_tick(&self) -> Option<Duration> {
        self.undo.as_ref().and_then(|undo| undo.eifel_tick())
    }

    /// The timer has expired, `first`: for the first time for this data. Changes by a repair that is under way, or by the
    /// expiry before this one, belong to it.
    pub(super) fn note_timeout(&mut self, first: bool, before: Option<Before>) {
        let goes_on = self.recovery.is_recovering() || !first;
        if let Some(undo) = &mut self.undo {
            undo.note_timeout(before, goes_on);
        }
    }

    /// A segment went out again.
    #[inline(always)]
    pub(super) fn note_sent_again(&mut self, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.on_sent_again(now);
        }
    }

    /// The receiver reports data that arrived twice (D-SACK).
    pub(super) fn on_told_twice(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.on_told();
        }
    }

    /// Whether, no recovery lasting, D-SACK has shown that nothing of the last repair was needed.
    #[inline(never)]
    pub(super) fn is_refuted_by_dsack(&self) -> bool {
        self.undo.as_ref().is_some_and(|undo| undo.is_refuted()) && !self.recovery.is_recovering()
    }

    /// An ACK has advanced, and the recovery has not yet heard of it: whether the echo shows that the repair was for nothing.
    /// `judged`: a judge decides what a recovery leaves.
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
        match undo.hear_echo(echo, covers_all, || log.duplicates_told() > 0) {
            None => false,
            Some(eifel::Refuted::Timeout) => self.restarts(board.una() - echo.acked),
            // While a copy is on its way, more may have been lost than that one.
            Some(eifel::Refuted::Recovery) => self.recovery.is_recovering() && board.again() == 0 && !judged,
        }
    }

    /// The repair was for nothing, and is over; the ACK that shows it has acknowledged `acked` bytes (`None`: D-SACK shows it,
    /// of a repair that may be over already). `None` if there is nothing to take back.
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

    /// A round-trip time was measured up to `una`: the state of the estimator before a timeout that was for nothing, if this is
    /// the first measurement of data sent after it.
    #[inline(always)]
    pub(super) fn take_spike(&mut self, una: u64) -> Option<Spike> {
        self.undo.as_mut()?.take_spike(una)
    }
}
