//! Window reductions: at most one per window of data, by the first signal.

use super::congestion::{Level, MarkPace};
use super::recovery::{AckNews, LossRecovery, Step};
use super::reduction::{Progress, Reduction};
use super::scoreboard::Scoreboard;
use crate::ranges::Range;
use lasthop_base::{Duration, Time};

#[repr(C)]
pub(super) struct Reductions {
    /// Gradual reduction; `None`: immediate.
    rule: Option<Box<dyn Reduction>>,
    /// Bytes that may be in flight during a recovery or a mark's reduction; else [`NO_ALLOWANCE`].
    allowance: u64,
    /// Total of bytes found lost, at the last ACK.
    lost_known: u64,
    lost_by_ack: u64,
    /// Signals about data below this offset are already accounted.
    until: u64,
    /// State of a mark's reduction, which lasts until `until` is acknowledged.
    by_mark: Option<ByMark>,
    /// The current recovery is non-congestive: the window stays, also at its end.
    spared: bool,
    /// Whether new data waits for the timer if ECE arrives at a window of one segment (RFC 3168 §6.1.2).
    may_hold: bool,
    /// Time of the last reduction by a loss or a mark; [`Time::NEVER`]: none.
    at: Time,
    /// For loss discrimination: state at the last recovery's entry; `None` after a timeout.
    entered: Option<Box<(Level, Range)>>,
    /// Without SACK: bytes inferred delivered from duplicate ACKs and not acknowledged yet.
    stood_for: u64,
}

/// Larger than any window.
const NO_ALLOWANCE: u64 = u64::MAX;

/// Progress of a mark's reduction (Linux's state CWR).
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

    /// Bytes found lost since the last ACK, given the total.
    pub(super) fn news_of_losses(&mut self, total: u64) -> u64 {
        self.lost_by_ack = total - std::mem::replace(&mut self.lost_known, total);
        self.lost_by_ack
    }

    pub(super) fn note(&mut self, now: Time, until: u64) {
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

    /// A timeout discards the state at the entry of the last recovery.
    pub(super) fn forget_entry(&mut self) {
        self.spared = false;
        self.entered = None;
    }

    pub(super) fn end(&mut self) {
        self.allowance = NO_ALLOWANCE;
    }

    #[inline]
    pub(super) fn lasts_by_mark(&self) -> bool {
        self.by_mark.is_some()
    }

    #[inline(always)]
    pub(super) fn is_quiet(&self) -> bool {
        let Reductions {
            by_mark,
            rule: _,
            allowance: _,
            lost_known: _,
            lost_by_ack: _,
            until: _,
            spared: _,
            may_hold: _,
            at: _,
            entered: _,
            stood_for: _,
        } = self;
        by_mark.is_none()
    }

    /// An ACK of `una` may end a mark's reduction.
    #[inline]
    pub(super) fn reach(&mut self, una: u64) {
        if una >= self.until {
            self.by_mark = None;
        }
    }

    /// A loss or a timeout replaces a mark's reduction.
    pub(super) fn forget_mark(&mut self) {
        self.by_mark = None;
    }

    pub(super) fn on_sent(&mut self, bytes: u64) {
        if let Some(rule) = self.rule.as_mut().filter(|_| self.allowance != NO_ALLOWANCE) {
            rule.on_sent(bytes);
        }
    }

    pub(super) fn spare(&mut self, spared: bool) {
        self.spared = spared;
    }

    pub(super) fn take_spared(&mut self) -> bool {
        std::mem::take(&mut self.spared)
    }

    /// Lets the next signal about data from `una` on reduce the window.
    pub(super) fn reopen(&mut self, una: u64) {
        self.until = una;
    }

    /// Whether a loss at `una` may reduce the window.
    pub(super) fn is_due_at(&self, una: u64) -> bool {
        una >= self.until
    }

    /// For loss discrimination: notes a recovery's entry. On re-entry (`anew`, 1990s' Reno) the first level stays.
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

    pub(super) fn begin_by_mark(&mut self) {
        self.by_mark = Some(ByMark::Begins);
    }

    pub(super) fn may_hold(&self) -> bool {
        self.may_hold
    }

    /// Updates the allowance of a gradual reduction to `target`. `delivered`: new bytes, `reported` of these by SACK.
    #[inline(never)]
    pub(super) fn come_down(
        &mut self,
        step: Step,
        news: &AckNews,
        (delivered, reported): (u64, u64),
        target: u64,
        recovery: &dyn LossRecovery,
        board: &Scoreboard,
    ) {
        let Some(mut rule) = self.rule.take() else { return };
        let begins_by_mark = self.by_mark == Some(ByMark::Begins);
        if matches!(step, Step::Enter | Step::Reenter) || begins_by_mark {
            self.by_mark = self.by_mark.map(|_| ByMark::GoesOn);
            self.stood_for = 0;
            // RecoverFS excludes bytes reported earlier (RFC 9937 §6). This ACK's reports may be discarded.
            let reported_before = board.sacked().saturating_sub(reported);
            rule.on_entered(board.outstanding() + news.acked - reported_before);
        }
        let lasts = recovery.is_recovering() || self.lasts_by_mark();
        self.allowance = if lasts {
            rule.on_ack(&Progress {
                delivered: self.delivered(news, delivered, recovery.uses_sack()),
                lost: self.lost_by_ack,
                advanced: news.acked > 0,
                in_flight: recovery.in_flight(board),
                target,
                mss: news.mss,
            })
        } else {
            NO_ALLOWANCE
        };
        self.rule = Some(rule);
    }

    /// DeliveredData (RFC 9937 §6). Without SACK a duplicate counts as a segment, to be deducted from later ACKs.
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
