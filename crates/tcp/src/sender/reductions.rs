//! Window reductions: the first loss or mark in a window of data reduces cwnd. Later signals in the same window of data
//! do not.

use super::congestion::{Level, MarkPace};
use super::recovery::{AckNews, LossRecovery, RecoveryStep};
use super::reduction::{Reduction, ReductionInput};
use super::scoreboard::Scoreboard;
use crate::ranges::Range;
use lasthop_base::{Duration, Time};

#[repr(C)]
pub(super) struct Reductions {
    /// Rule of a gradual reduction (PRR). `None`: a reduction lowers cwnd to its target at once.
    rule: Option<Box<dyn Reduction>>,
    /// Limit on the bytes in flight during a recovery or during a reduction by a mark; otherwise [`NO_ALLOWANCE`].
    allowance: u64,
    /// Total number of bytes marked lost up to the last ACK.
    lost_known: u64,
    lost_by_ack: u64,
    /// Offset after the data that the last reduction covers. Losses and marks below this offset do not reduce cwnd
    /// again.
    until: u64,
    /// State of a reduction by an ECN mark. The reduction lasts until all data below `until` is acknowledged.
    ecn_reduction: Option<EcnReduction>,
    /// Whether loss discrimination has attributed the current recovery to the wireless link, so that cwnd stays
    /// unchanged.
    is_non_congestive: bool,
    /// Whether new data waits for the timer if ECE arrives while cwnd is one segment (RFC 3168 §6.1.2).
    may_hold: bool,
    /// Time of the last reduction by a loss or a mark; [`Time::NEVER`] before the first reduction.
    at: Time,
    /// cwnd, ssthresh and outstanding data at the begin of the last recovery, for loss discrimination; `None` after a
    /// timeout.
    entered: Option<Box<(Level, Range)>>,
    /// Without SACK: unacknowledged bytes that duplicate ACKs show as delivered.
    inferred_delivered: u64,
}

/// Allowance that no number of bytes in flight exceeds: no reduction is in progress.
const NO_ALLOWANCE: u64 = u64::MAX;

/// Progress of a reduction by an ECN mark (Linux's state `TCP_CA_CWR`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EcnReduction {
    Starting,
    InProgress,
}

impl Reductions {
    pub(super) fn new(may_hold: bool, rule: Option<Box<dyn Reduction>>) -> Reductions {
        Reductions {
            until: 0,
            at: Time::NEVER,
            entered: None,
            rule,
            allowance: NO_ALLOWANCE,
            ecn_reduction: None,
            inferred_delivered: 0,
            lost_known: 0,
            lost_by_ack: 0,
            is_non_congestive: false,
            may_hold,
        }
    }

    /// Returns the bytes marked lost since the last ACK; `total` is the new total.
    pub(super) fn newly_lost(&mut self, total: u64) -> u64 {
        self.lost_by_ack = total - std::mem::replace(&mut self.lost_known, total);
        self.lost_by_ack
    }

    pub(super) fn record(&mut self, now: Time, until: u64) {
        self.until = until;
        self.at = now;
    }

    #[inline]
    pub(super) fn is_gradual(&self) -> bool {
        self.rule.is_some()
    }

    #[inline]
    pub(super) fn allowance(&self) -> Option<u64> {
        (self.allowance != NO_ALLOWANCE).then_some(self.allowance)
    }

    /// Discards the state at the begin of the last recovery, because a timeout has ended this recovery.
    pub(super) fn forget_entry(&mut self) {
        self.is_non_congestive = false;
        self.entered = None;
    }

    pub(super) fn end(&mut self) {
        self.allowance = NO_ALLOWANCE;
    }

    #[inline]
    pub(super) fn is_reducing_by_ecn(&self) -> bool {
        self.ecn_reduction.is_some()
    }

    #[inline(always)]
    pub(super) fn permits_fast_path(&self) -> bool {
        let Reductions {
            ecn_reduction,
            rule: _,
            allowance: _,
            lost_known: _,
            lost_by_ack: _,
            until: _,
            is_non_congestive: _,
            may_hold: _,
            at: _,
            entered: _,
            inferred_delivered: _,
        } = self;
        ecn_reduction.is_none()
    }

    /// Ends a reduction that a mark has caused, if the ACK number `una` covers all data sent before the mark.
    #[inline]
    pub(super) fn on_ack(&mut self, una: u64) {
        if una >= self.until {
            self.ecn_reduction = None;
        }
    }

    /// Ends a reduction that an ECN mark caused, because a loss or a timeout reduces cwnd now.
    pub(super) fn end_ecn_reduction(&mut self) {
        self.ecn_reduction = None;
    }

    pub(super) fn on_sent(&mut self, bytes: u64) {
        if let Some(rule) = self.rule.as_mut().filter(|_| self.allowance != NO_ALLOWANCE) {
            rule.on_sent(bytes);
        }
    }

    pub(super) fn set_non_congestive(&mut self, is_non_congestive: bool) {
        self.is_non_congestive = is_non_congestive;
    }

    pub(super) fn take_non_congestive(&mut self) -> bool {
        std::mem::take(&mut self.is_non_congestive)
    }

    /// Permits the next loss or mark of data at or above offset `una` to reduce cwnd.
    pub(super) fn allow_from(&mut self, una: u64) {
        self.until = una;
    }

    /// Whether a loss at offset `una` may reduce cwnd.
    pub(super) fn is_due_at(&self, una: u64) -> bool {
        una >= self.until
    }

    /// Records the state at the begin of a recovery, for loss discrimination. If Reno enters a second recovery for the
    /// same window of data (`anew`), the recorded cwnd and ssthresh remain those of the first recovery.
    pub(super) fn note_entry(&mut self, level: Level, outstanding: Range, anew: bool) {
        let first = self.entered.as_ref().filter(|_| anew);
        let before = first.map_or(level, |first| first.0);
        self.entered = Some(Box::new((before, outstanding)));
    }

    pub(super) fn entry(&self) -> Option<(Level, Range)> {
        self.entered.as_deref().copied()
    }

    pub(super) fn drop_entry(&mut self) {
        self.entered = None;
    }

    pub(super) fn is_too_soon(&self, pace: MarkPace, una: u64, now: Time, srtt: Option<Duration>) -> bool {
        match pace {
            MarkPace::Window => una <= self.until,
            MarkPace::Rtt => self.at < Time::NEVER && srtt.is_some_and(|srtt| now.since(self.at) < srtt),
            MarkPace::Every => false,
        }
    }

    pub(super) fn begin_ecn_reduction(&mut self) {
        self.ecn_reduction = Some(EcnReduction::Starting);
    }

    pub(super) fn may_hold(&self) -> bool {
        self.may_hold
    }

    /// Updates the allowance of a gradual reduction of cwnd to `target`. `delivered`: newly delivered bytes;
    /// `reported`: the part of these bytes that SACK newly reports.
    #[inline(never)]
    pub(super) fn update_allowance(
        &mut self,
        step: RecoveryStep,
        news: &AckNews,
        (delivered, reported): (u64, u64),
        target: u64,
        recovery: &dyn LossRecovery,
        scoreboard: &Scoreboard,
    ) {
        let Some(mut rule) = self.rule.take() else { return };
        let begins_ecn_reduction = self.ecn_reduction == Some(EcnReduction::Starting);
        if matches!(step, RecoveryStep::Enter | RecoveryStep::Reenter) || begins_ecn_reduction {
            self.ecn_reduction = self.ecn_reduction.map(|_| EcnReduction::InProgress);
            self.inferred_delivered = 0;
            // RecoverFS excludes bytes that earlier ACKs reported by SACK (RFC 9937 §6), but includes bytes that this
            // ACK reports.
            let reported_before = scoreboard.sacked().saturating_sub(reported);
            rule.on_entered(scoreboard.outstanding() + news.acked - reported_before);
        }
        let lasts = recovery.is_recovering() || self.is_reducing_by_ecn();
        self.allowance = if lasts {
            rule.on_ack(&ReductionInput {
                delivered: self.delivered(news, delivered, recovery.uses_sack()),
                lost: self.lost_by_ack,
                advanced: news.acked > 0,
                in_flight: recovery.in_flight(scoreboard),
                target,
                mss: news.mss,
            })
        } else {
            NO_ALLOWANCE
        };
        self.rule = Some(rule);
    }

    /// Returns DeliveredData (RFC 9937 §6). Without SACK, each duplicate ACK counts as one segment; later cumulative
    /// ACKs subtract the bytes that were counted this way.
    fn delivered(&mut self, news: &AckNews, delivered: u64, uses_sack: bool) -> u64 {
        if uses_sack {
            return delivered;
        }
        if news.duplicate {
            self.inferred_delivered += news.mss;
            return news.mss;
        }
        let inferred_delivered = self.inferred_delivered.min(news.acked);
        self.inferred_delivered -= inferred_delivered;
        news.acked - inferred_delivered
    }
}
