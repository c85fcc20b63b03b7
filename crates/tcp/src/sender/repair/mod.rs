//! State of repairs. A repair is a fast recovery, a go-back-N after a timeout, or the retransmission of reported
//! losses.
//!
//! * `undo`: undo of spurious repairs; `eifel`, `f_rto`: detection of spurious repairs;
//! * `reported`: retransmission of segments reported lost.
//!
//! The sender applies the effects of repairs on cwnd and on the timer (`ack.rs`, `steps.rs`, `timeout.rs`).

mod eifel;
mod f_rto;
mod reported;
mod undo;

pub(super) use eifel::{Echo, end_of_echo};
pub(super) use f_rto::{FrtoResult, FrtoTest, ProbePermission};
pub(super) use undo::{PreviousRtt, StateBefore, Undone};

use super::Ack;
use super::recovery::{AckNews, LastResort, LossRecovery, RecoveryStep};
use super::scoreboard::Scoreboard;
use crate::config::Config;
use crate::event::{Log, Reason};
use crate::ranges::Range;
use lasthop_base::{Duration, Time};
use reported::ReportedLosses;
use undo::{Undo, UndoRules};

pub(super) struct Repair {
    recovery: Box<dyn LossRecovery>,
    /// Reason, for the trace, of the next retransmission that recovery forces.
    next_reason: Reason,
    /// Whether F-RTO is on: timeouts are tested for being spurious.
    uses_f_rto: bool,
    f_rto_test: Option<Box<FrtoTest>>,
    /// State to restore if the last repair was spurious. `None` if spurious repairs are not undone.
    undo: Option<Box<Undo>>,
    /// Whether cwnd after a timeout includes the data that is still counted as in flight, as in Linux.
    keeps_in_flight: bool,
    samples_sack: bool,
    times: bool,
    /// Segments that were reported lost; `None` until the first report.
    reported: Option<Box<ReportedLosses>>,
    /// Offset whose ACK ends the last go-back-N; 0 before the first go-back-N or after an undo.
    restart_until: u64,
}

impl Repair {
    /// Returns the state of a new connection. `burst`: bytes that may be sent at once after the undo of a spurious
    /// repair.
    pub(super) fn new(recovery: Box<dyn LossRecovery>, config: &Config, burst: u64) -> Repair {
        let may_undo = config.f_rto || config.dsack_undo || config.eifel;
        let rules = UndoRules {
            dsack: config.dsack_undo,
            eifel_tick: config.eifel.then_some(config.timestamp_tick),
            restores_whole: config.undo_whole,
            burst,
        };
        Repair {
            keeps_in_flight: config.loss_window_in_flight,
            samples_sack: config.sack_rtt && recovery.needs_times(),
            times: recovery.needs_times(),
            recovery,
            next_reason: Reason::Hole,
            uses_f_rto: config.f_rto,
            f_rto_test: None,
            undo: may_undo.then(|| Box::new(Undo::new(rules))),
            reported: None,
            restart_until: 0,
        }
    }

    #[inline(always)]
    pub(super) fn recovery(&self) -> &dyn LossRecovery {
        &*self.recovery
    }

    /// Whether a go-back-N is in progress at `una`.
    #[inline(always)]
    pub(super) fn is_going_back_n(&self, una: u64) -> bool {
        una < self.restart_until
    }

    pub(super) fn keeps_in_flight(&self) -> bool {
        self.keeps_in_flight
    }

    #[inline(always)]
    pub(super) fn samples_sack(&self) -> bool {
        self.samples_sack
    }

    #[inline(always)]
    pub(super) fn needs_times(&self) -> bool {
        self.times
    }

    /// Whether no repair and no F-RTO test is in progress, no reported loss waits for retransmission, and no undo waits
    /// for an RTT sample.
    #[inline(always)]
    pub(super) fn permits_fast_path(&self, una: u64) -> bool {
        let Repair {
            recovery,
            undo,
            reported,
            f_rto_test,
            restart_until,
            next_reason: _,
            uses_f_rto: _,
            keeps_in_flight: _,
            samples_sack: _,
            times: _,
        } = self;
        *restart_until <= una
            && f_rto_test.is_none()
            && reported.as_ref().is_none_or(|reported| reported.is_empty())
            && !undo.as_ref().is_some_and(|undo| undo.awaits_sample())
            && recovery.is_idle()
    }
}

impl Repair {
    #[inline(always)]
    pub(super) fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        self.recovery.on_ack(news, scoreboard)
    }

    pub(super) fn on_deadline(&mut self, now: Time, scoreboard: &mut Scoreboard) -> RecoveryStep {
        self.recovery.on_deadline(now, scoreboard)
    }

    #[inline(always)]
    pub(super) fn on_sent_new(&mut self, range: Range) {
        self.recovery.on_sent(range, false);
    }

    /// Reports a retransmission to loss recovery. The caller must then call [`Repair::record_retransmission_time`].
    #[inline(always)]
    pub(super) fn on_retransmitted(&mut self, range: Range) {
        self.recovery.on_sent(range, true);
    }

    /// Begins fast recovery. `before`: the state that [`Repair::undo`] restores, if any.
    pub(super) fn enter(&mut self, before: Option<StateBefore>) {
        if let Some(undo) = &mut self.undo {
            undo.begin(before);
        }
        self.next_reason = Reason::FastRetransmit;
    }

    pub(super) fn mark_at_timeout(&mut self, known: &AckNews, scoreboard: &mut Scoreboard) {
        self.recovery.mark_at_timeout(known, scoreboard);
    }

    /// Begins go-back-N: the retransmission of all outstanding data that is marked lost.
    pub(super) fn begin_go_back_n(&mut self, why: Reason, scoreboard: &Scoreboard) {
        self.restart_until = scoreboard.nxt();
        self.f_rto_test = None;
        if let Some(undo) = self.undo.as_mut().filter(|_| why != Reason::Timeout) {
            undo.begin(None);
        }
        self.next_reason = why;
        self.recovery.on_timeout(scoreboard);
    }
}

impl Repair {
    #[inline(always)]
    pub(super) fn may_have_forced(&self) -> bool {
        self.recovery.may_have_forced()
    }

    #[inline(always)]
    pub(super) fn next_forced(&mut self, scoreboard: &mut Scoreboard) -> Option<(Range, Reason)> {
        let range = self.recovery.next_forced(scoreboard)?;
        if self.was_reported(range, scoreboard) {
            return None;
        }
        Some((range, std::mem::replace(&mut self.next_reason, Reason::Hole)))
    }

    #[inline(always)]
    pub(super) fn next_retransmission(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        self.recovery.next_retransmission(scoreboard)
    }

    #[inline(always)]
    pub(super) fn reason(&self, range: Range) -> Reason {
        if self.is_going_back_n(range.start) { Reason::GoBackN } else { Reason::Hole }
    }

    pub(super) fn last_resort(&mut self, scoreboard: &mut Scoreboard) -> Option<LastResort> {
        self.recovery.last_resort(scoreboard)
    }

    pub(super) fn add_report(&mut self, start: u64) {
        self.reported.get_or_insert_default().add(start);
    }

    #[inline(always)]
    pub(super) fn has_reports(&self) -> bool {
        self.reported.is_some()
    }

    /// Returns the next segment that was reported lost and whose retransmission is not yet in flight.
    #[cold]
    pub(super) fn next_reported(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        self.reported.as_mut()?.next(scoreboard)
    }

    /// Whether a report has already caused the retransmission of this segment, so that recovery must not retransmit it
    /// again. Returns true once for each such retransmission.
    #[inline(always)]
    fn was_reported(&mut self, range: Range, scoreboard: &Scoreboard) -> bool {
        let is_under_way = match &mut self.reported {
            None => false,
            Some(reported) => reported.take_retransmitted(range.start) && scoreboard.first_is_retransmitted(),
        };
        if is_under_way {
            self.recovery.on_sent(range, true);
        }
        is_under_way
    }
}

/// F-RTO, the test for spurious timeouts.
impl Repair {
    /// Returns an F-RTO test of a timeout, created before the timeout takes effect. `None`: F-RTO is off, or another
    /// repair is in progress. `first`: whether this is the first timeout for this data.
    #[cold]
    pub(super) fn f_rto_test(&self, first: bool, scoreboard: &Scoreboard) -> Option<Box<FrtoTest>> {
        let selective = self.recovery.uses_sack();
        let is_undisturbed = !self.is_going_back_n(scoreboard.una())
            && !self.recovery.is_recovering()
            && scoreboard.lost() == 0;
        let is_first = is_undisturbed || (selective && !first);
        let sent = scoreboard.first().filter(|_| self.uses_f_rto && is_first)?;
        Some(Box::new(FrtoTest::new(sent, scoreboard.nxt(), selective)))
    }

    pub(super) fn start_test(&mut self, f_rto_test: Option<Box<FrtoTest>>) {
        self.f_rto_test = f_rto_test;
    }

    #[inline(always)]
    pub(super) fn shows_original(&self, ack: &Ack<'_>, scoreboard: &Scoreboard) -> bool {
        let is_eager = || self.undo.as_ref().is_some_and(|undo| undo.restores_whole());
        self.f_rto_test
            .as_ref()
            .is_some_and(|f_rto_test| f_rto_test.shows_original(ack, is_eager(), scoreboard))
    }

    #[inline(always)]
    pub(super) fn advance_test(
        &mut self,
        acked: u64,
        duplicate: bool,
        original: bool,
        una: u64,
    ) -> FrtoResult {
        match &self.f_rto_test {
            None => FrtoResult::Undecided,
            Some(_) => self.advance_running_test(acked, duplicate, original, una),
        }
    }

    #[inline(never)]
    fn advance_running_test(&mut self, acked: u64, duplicate: bool, original: bool, una: u64) -> FrtoResult {
        let Some(f_rto_test) = &mut self.f_rto_test else { return FrtoResult::Undecided };
        let (answer, is_open) = f_rto_test.on_ack(acked, duplicate, original, una);
        if !is_open {
            self.f_rto_test = None;
        }
        match answer {
            FrtoResult::Probed if self.keeps_in_flight => FrtoResult::Undecided,
            answer => answer,
        }
    }

    #[inline(always)]
    pub(super) fn probe_permission(&self) -> ProbePermission {
        self.f_rto_test.as_ref().map_or(ProbePermission::Nothing, |f_rto_test| f_rto_test.probe_permission())
    }

    #[inline(always)]
    pub(super) fn is_testing(&self) -> bool {
        self.f_rto_test.is_some()
    }

    pub(super) fn on_probe_sent(&mut self) {
        if let Some(f_rto_test) = &mut self.f_rto_test {
            f_rto_test.on_probe_sent();
        }
    }

    pub(super) fn end_test(&mut self) {
        self.f_rto_test = None;
    }
}

impl Repair {
    #[inline(always)]
    pub(super) fn may_undo(&self) -> bool {
        self.undo.is_some()
    }

    #[inline(always)]
    pub(super) fn eifel_tick(&self) -> Option<Duration> {
        self.undo.as_ref().and_then(|undo| undo.eifel_tick())
    }

    /// Records an expiry of the timer. `first`: whether this is the first expiry for the outstanding data. `before`:
    /// state that an undo restores. If a recovery is in progress or `first` is false, an undo restores the state stored
    /// earlier instead.
    pub(super) fn note_timeout(&mut self, first: bool, before: Option<StateBefore>) {
        let goes_on = self.recovery.is_recovering() || !first;
        if let Some(undo) = &mut self.undo {
            undo.note_timeout(before, goes_on);
        }
    }

    #[inline(always)]
    pub(super) fn record_retransmission_time(&mut self, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.on_retransmitted(now);
        }
    }

    pub(super) fn on_dsack(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.on_dsack();
        }
    }

    /// Whether D-SACKs show that the last repair was spurious, and no recovery is in progress.
    #[inline(never)]
    pub(super) fn is_spurious_by_dsack(&self) -> bool {
        self.undo.as_ref().is_some_and(|undo| undo.is_spurious()) && !self.recovery.is_recovering()
    }

    /// Whether an echoed timestamp shows that the repair was spurious. The caller must call this function before
    /// recovery handles the ACK. `is_discriminated`: whether loss discrimination is on and decides about fast
    /// recoveries instead.
    #[inline(never)]
    pub(super) fn is_spurious_by_echo(
        &self,
        echo: &Echo,
        scoreboard: &Scoreboard,
        is_discriminated: bool,
        log: &Log,
    ) -> bool {
        let covers_all = scoreboard.outstanding() == 0;
        let Some(undo) = &self.undo else { return false };
        match undo.check_echo(echo, covers_all, || log.duplicates_reported() > 0) {
            None => false,
            Some(eifel::SpuriousRepair::Timeout) => self.is_going_back_n(scoreboard.una() - echo.acked),
            // While a retransmitted copy is in flight, further segments may be lost, so the recovery continues.
            Some(eifel::SpuriousRepair::Recovery) => {
                self.recovery.is_recovering() && scoreboard.copies_in_flight() == 0 && !is_discriminated
            }
        }
    }

    /// Ends a spurious repair. `acked`: bytes newly acknowledged by the ACK that revealed the repair as spurious;
    /// `None` if D-SACKs revealed it. Returns `None` if no state to restore is known.
    pub(super) fn undo(&mut self, acked: Option<u64>, scoreboard: &mut Scoreboard) -> Option<Undone> {
        let taken = self.undo.as_mut()?.finish(acked, scoreboard.nxt())?;
        let was_at = scoreboard.una() - acked.unwrap_or(0);
        if self.recovery.is_recovering() || self.is_going_back_n(was_at) {
            scoreboard.forget_losses();
            self.recovery.on_spurious(scoreboard);
        }
        self.f_rto_test = None;
        self.restart_until = 0;
        Some(taken)
    }

    /// Returns the RTT estimator's state before a spurious timeout, if the ACK number `una` covers data sent after the
    /// timeout. Returns this state only once.
    #[inline(always)]
    pub(super) fn take_previous_rtt(&mut self, una: u64) -> Option<PreviousRtt> {
        self.undo.as_mut()?.take_previous_rtt(una)
    }
}
