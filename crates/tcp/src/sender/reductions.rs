//! One reduction of the window per window of data: which signal has had its effect, and whether that stays.

use super::congestion::{Level, MarkPace};
use super::recovery::{AckNews, LossRecovery, Step};
use super::reduction::{Progress, Reduction};
use super::scoreboard::Scoreboard;
use crate::ranges::Range;
use lasthop_base::{Duration, Time};

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
    until: u64,
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

    /// The window does not come down because of a mark.
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

    /// The recovery that begins repairs what is no congestion, or not.
    pub(super) fn spare(&mut self, spared: bool) {
        self.spared = spared;
    }

    /// Whether the recovery that ends was spared.
    pub(super) fn take_spared(&mut self) -> bool {
        std::mem::take(&mut self.spared)
    }

    /// A signal about data from `una` on has its effect, whatever was before.
    pub(super) fn reopen(&mut self, una: u64) {
        self.until = una;
    }

    /// Whether a loss in what begins at `una` is a new one.
    pub(super) fn is_due_at(&self, una: u64) -> bool {
        una >= self.until
    }

    /// For the judge: a recovery is entered at this level. The 1990s' Reno reduces again while it recovers (`anew`): what is
    /// restored is what was before it all.
    pub(super) fn note_entry(&mut self, level: Level, outstanding: Range, anew: bool) {
        let first = self.entered.as_ref().filter(|_| anew);
        let before = first.map_or(level, |first| first.0);
        self.entered = Some(Box::new((before, outstanding)));
    }

    /// Window and threshold before the last recovery, and the range that was outstanding.
    pub(super) fn entry(&self) -> Option<(Level, Range)> {
        self.entered.as_deref().copied()
    }

    /// Nothing is to be restored.
    pub(super) fn drop_entry(&mut self) {
        self.entered = None;
    }

    /// Whether a mark comes too soon after what reduced the window last.
    pub(super) fn is_too_soon(&self, pace: MarkPace, una: u64, now: Time, srtt: Option<Duration>) -> bool {
        match pace {
            MarkPace::Window => una <= self.until,
            MarkPace::Rtt => self.at < Time::NEVER && srtt.is_some_and(|srtt| now.since(self.at) < srtt),
            MarkPace::Every => false,
        }
    }

    /// The window comes down because of a mark, not at once.
    pub(super) fn begin_by_mark(&mut self) {
        self.by_mark = Some(ByMark::Begins);
    }

    /// Whether new data waits for the timer when an echo comes at a window of one segment.
    pub(super) fn may_hold(&self) -> bool {
        self.may_hold
    }

    /// An ACK, or time, has had its effect on the window, which the recovery's `step` may have reduced to `target`: how much of
    /// the reduction has to hold already. `delivered`: bytes that are new by it, `reported` of them by SACK.
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
            // Bytes that SACK had reported before are not delivered any more (RFC 9937 §6, RecoverFS). A recovery may have
            // forgotten what this ACK reported.
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
