//! The congestion window: congestion control, byte counting, slow-start exit, and their last result. Only this
//! component changes them; [`Window::rules`] gives read access.

use super::ack_counting::AckCounting;
use super::congestion::{
    AckEvent, CongestionControl, Level, LossEvent, LostSegment, Phase, Recovered, SentEvent,
};
use super::recovery::AckNews;
use super::slow_start::{Divided, Growth, Sample, SlowStart};
use lasthop_base::{Duration, Time};

#[repr(C)]
pub(super) struct Window {
    /// cwnd, bytes, updated after each ACK, timeout and idle time; during an ACK's effects the value before the ACK.
    cwnd: u64,
    rules: Box<dyn CongestionControl>,
    ack_counting: Box<dyn AckCounting>,
    /// `None`: only a loss ends slow start.
    slow_start: Option<Box<dyn SlowStart>>,
    /// Whether the ACK that ends a recovery may grow the window.
    counts_end: bool,
}

impl Window {
    pub(super) fn new(
        rules: Box<dyn CongestionControl>,
        ack_counting: Box<dyn AckCounting>,
        slow_start: Option<Box<dyn SlowStart>>,
    ) -> Window {
        Window {
            cwnd: rules.window(),
            counts_end: ack_counting.counts_end(),
            rules,
            ack_counting,
            slow_start,
        }
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> u64 {
        self.cwnd
    }

    #[inline(always)]
    pub(super) fn rules(&self) -> &dyn CongestionControl {
        &*self.rules
    }

    /// Current window and threshold, including changes since [`Window::settle`].
    pub(super) fn level(&self) -> Level {
        Level { window: self.rules.window(), ssthresh: self.rules.ssthresh() }
    }

    #[inline(always)]
    pub(super) fn counts_end(&self) -> bool {
        self.counts_end
    }

    /// Updates cwnd after all effects of an event.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        self.cwnd = self.rules.window();
    }

    #[inline(always)]
    pub(super) fn grow(&mut self, event: &AckEvent) {
        self.cwnd = self.rules.window_after(event, &mut *self.ack_counting);
    }

    /// Applies an ACK; [`Window::settle`] must follow.
    #[inline(always)]
    pub(super) fn grow_watched(&mut self, event: &AckEvent, mss: u64) {
        let is_watched = event.phase != Phase::Recovery && self.slow_start.is_some();
        match is_watched && self.cwnd < self.rules.ssthresh() {
            true => self.leave_or_grow(event, mss),
            false => self.rules.on_ack(event, &mut *self.ack_counting),
        }
    }

    #[inline(never)]
    fn leave_or_grow(&mut self, event: &AckEvent, mss: u64) {
        let Some(watch) = self.slow_start.as_mut().filter(|_| event.acked > 0) else {
            return self.rules.on_ack(event, &mut *self.ack_counting);
        };
        let AckEvent { now, una, nxt, rtt, .. } = *event;
        let mut by = 1;
        match watch.on_ack(&Sample { now, una, nxt, rtt, window: self.cwnd, mss }) {
            Growth::Full => {}
            Growth::Divided(divisor) => by = divisor,
            Growth::Over => self.rules.leave_slow_start(),
        }
        self.rules.on_ack(event, &mut Divided { ack_counting: &mut *self.ack_counting, by });
    }

    /// Shows an ACK to congestion control that observes, before its effect.
    pub(super) fn observe(&mut self, news: &AckNews) {
        if self.rules.nature().observes {
            self.rules.observe(news);
        }
    }

    pub(super) fn on_told_twice(&mut self) {
        self.rules.on_told_twice();
    }

    pub(super) fn on_extra(&mut self, now: Time) {
        self.rules.on_extra(now);
    }

    pub(super) fn on_open(&mut self, rtt: Option<Duration>) {
        self.rules.on_open(rtt);
    }

    pub(super) fn on_sent(&mut self, sent: &SentEvent) {
        self.rules.on_sent(sent);
    }

    pub(super) fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        self.rules.on_lost(now, lost);
    }

    pub(super) fn on_loss(&mut self, loss: &LossEvent) {
        self.rules.on_loss(loss);
    }

    pub(super) fn on_restart(&mut self, loss: &LossEvent) {
        self.rules.on_restart(loss);
    }

    pub(super) fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        self.rules.on_timeout(loss, first);
        if let Some(watch) = &mut self.slow_start {
            watch.on_timeout();
        }
    }

    pub(super) fn on_mark(&mut self, loss: &LossEvent) {
        self.rules.on_mark(loss);
    }

    pub(super) fn on_segment(&mut self, mss: u64) {
        self.rules.on_segment(mss);
    }

    pub(super) fn on_reordered(&mut self, to: Level) {
        self.rules.on_reordered(to);
    }

    pub(super) fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        self.rules.on_recovered(flight, recovered);
    }

    /// Nothing was sent for a timeout: lowers cwnd to `window`.
    pub(super) fn on_idle(&mut self, window: u64) {
        self.rules.on_idle(window);
        self.settle();
    }
}
