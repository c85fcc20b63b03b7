//! The congestion window: congestion control, ACK counting, slow-start exit, and the resulting cwnd. Only this file
//! changes cwnd; [`CongestionWindow::control`] gives read access to congestion control.
//!
//! A transport protocol other than TCP can drive a [`CongestionWindow`], too (crate `lasthop-quic`).

use super::ack_counting::AckCounting;
use super::congestion::{
    AckEvent, CongestionControl, Level, LossEvent, LossPhase, LostSegment, Recovered, SentEvent, Start, Steer,
};
use super::recovery::AckNews;
use super::slow_start::{DividedCounting, Growth, SlowStart, SlowStartAck};
use crate::config::Config;
use lasthop_base::{Duration, Time};

/// Congestion control, ACK counting and slow-start exit of one sender.
#[repr(C)]
pub struct CongestionWindow {
    /// cwnd, bytes, updated after each ACK, timeout and idle time. During the handling of an ACK, this is cwnd before
    /// the ACK.
    cwnd: u64,
    control: Box<dyn CongestionControl>,
    ack_counting: Box<dyn AckCounting>,
    /// Early exit from slow start (such as HyStart). `None`: only a loss, a mark or ssthresh ends slow start.
    slow_start: Option<Box<dyn SlowStart>>,
    /// Whether the ACK that ends a recovery may increase cwnd.
    counts_end: bool,
    /// Whether a [pacing rule](super::pacing::Pacing) spreads the segments of a round trip.
    is_paced: bool,
}

impl CongestionWindow {
    /// Builds the mechanisms that `config` selects. `is_paced`: whether a pacing rule spreads the segments.
    pub fn new(config: &Config, start: Start, is_paced: bool) -> CongestionWindow {
        let control = (config.congestion.build)(&config.congestion.values, start);
        let ack_counting = (config.ack_counting.build)(&config.ack_counting.values);
        CongestionWindow {
            cwnd: control.window(),
            counts_end: ack_counting.counts_end(),
            control,
            ack_counting,
            slow_start: (config.slow_start.build)(&config.slow_start.values),
            is_paced,
        }
    }

    /// Whether a mechanism may end slow start early.
    pub fn watches_slow_start(&self) -> bool {
        self.slow_start.is_some()
    }

    /// cwnd, bytes.
    #[inline(always)]
    pub fn bytes(&self) -> u64 {
        self.cwnd
    }

    /// The congestion control.
    #[inline(always)]
    pub fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    /// Window and ssthresh of congestion control, including changes that [`CongestionWindow::update_cwnd`] has not yet
    /// copied to `cwnd`.
    pub fn level(&self) -> Level {
        Level { window: self.control.window(), ssthresh: self.control.ssthresh() }
    }

    /// Whether the ACK that ends a recovery may increase cwnd.
    #[inline(always)]
    pub fn counts_end(&self) -> bool {
        self.counts_end
    }

    /// Copies congestion control's window to `cwnd` after all effects of an event.
    #[inline(always)]
    pub fn update_cwnd(&mut self) {
        self.cwnd = self.control.window();
    }

    /// Passes an ACK to congestion control, but not to the slow-start exit.
    #[inline(always)]
    pub fn grow(&mut self, event: &AckEvent) {
        self.cwnd = self.control.window_after(event, &mut *self.ack_counting);
    }

    /// Passes an ACK to the slow-start exit and to congestion control. The caller must call
    /// [`CongestionWindow::update_cwnd`] afterwards.
    #[inline(always)]
    pub fn grow_monitored(&mut self, event: &AckEvent, mss: u64) {
        let is_watched = event.phase != LossPhase::Recovery && self.slow_start.is_some();
        if is_watched && self.cwnd < self.control.ssthresh() {
            self.leave_or_grow(event, mss);
        } else {
            self.control.on_ack(event, &mut *self.ack_counting);
        }
    }

    #[inline(never)]
    fn leave_or_grow(&mut self, event: &AckEvent, mss: u64) {
        let Some(watch) = self.slow_start.as_mut().filter(|_| event.acked > 0) else {
            return self.control.on_ack(event, &mut *self.ack_counting);
        };
        let AckEvent { now, una, nxt, rtt, .. } = *event;
        let mut by = 1;
        match watch.on_ack(&SlowStartAck {
            now,
            una,
            nxt,
            rtt,
            window: self.cwnd,
            mss,
            is_paced: self.is_paced,
        }) {
            Growth::Full => {}
            Growth::DividedCounting(divisor) => by = divisor,
            Growth::Over => self.control.leave_slow_start(),
        }
        self.control.on_ack(event, &mut DividedCounting { ack_counting: &mut *self.ack_counting, by });
    }

    /// Passes an ACK, before the ACK takes effect, to a congestion control that observes ACKs.
    pub fn observe(&mut self, news: &AckNews) {
        if self.control.nature().observes {
            self.control.observe(news);
        }
    }

    /// Passes a D-SACK to congestion control.
    pub fn on_dsack(&mut self) {
        self.control.on_dsack();
    }

    /// Passes the sending of an extra segment to congestion control.
    pub fn on_extra(&mut self, now: Time) {
        self.control.on_extra(now);
    }

    /// Passes the opening of the connection to congestion control. `rtt`: the handshake's RTT.
    pub fn on_open(&mut self, rtt: Option<Duration>) {
        self.control.on_open(rtt);
    }

    /// Passes the sending of a segment to congestion control.
    pub fn on_sent(&mut self, sent: &SentEvent) {
        self.control.on_sent(sent);
    }

    /// Passes the loss of a segment to congestion control.
    pub fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        self.control.on_lost(now, lost);
    }

    /// Reduces the window because of a loss. The caller must then call [`CongestionWindow::update_cwnd`]; the same
    /// holds for all methods below except [`CongestionWindow::on_idle`].
    pub fn on_loss(&mut self, loss: &LossEvent) {
        self.control.on_loss(loss);
    }

    /// Restarts from one segment after a loss (Tahoe).
    pub fn on_restart(&mut self, loss: &LossEvent) {
        self.control.on_restart(loss);
    }

    /// Handles a timeout. `first`: whether this is the first timeout of the outstanding data.
    pub fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        self.control.on_timeout(loss, first);
        if let Some(watch) = &mut self.slow_start {
            watch.on_timeout();
        }
    }

    /// Reduces the window because of a congestion mark.
    pub fn on_mark(&mut self, loss: &LossEvent) {
        self.control.on_mark(loss);
    }

    /// Changes the payload of a full segment to `mss` bytes.
    pub fn on_segment(&mut self, mss: u64) {
        self.control.on_segment(mss);
    }

    /// Limits the window when a segment suspected lost turns out to be reordered.
    pub fn on_reordered(&mut self, to: Level) {
        self.control.on_reordered(to);
    }

    /// Ends a recovery while `flight` bytes are outstanding.
    pub fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        self.control.on_recovered(flight, recovered);
    }

    /// Lowers cwnd to `window`, because nothing was sent for longer than the RTO.
    pub fn on_idle(&mut self, window: u64) {
        self.control.on_idle(window);
        self.update_cwnd();
    }

    /// Sets cwnd or the pacing rate by an order from outside. Has no effect if the control takes no orders.
    pub fn steer(&mut self, order: &Steer) {
        if self.control.nature().takes_orders {
            self.control.steer(order);
            self.update_cwnd();
        }
    }
}
