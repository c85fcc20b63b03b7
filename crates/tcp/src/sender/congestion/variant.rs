//! What is built on Reno: a variant says what it does otherwise, and has the rest from [`Reno`].

use super::{AckEvent, CongestionControl, Level, LossEvent, MarkPace, Recovered, Reno, Start};
use crate::sender::counting::AckCounting;
use crate::sender::recovery::AckNews;

/// A variant of Reno: each method is Reno's unless the variant has its own.
///
/// ```
/// use lasthop_base::{Info, Mechanism};
/// use lasthop_tcp::sender::congestion::{Build, LossEvent, OnReno, Reno, Variant};
///
/// /// A loss takes an eighth of the window.
/// struct Gentle;
///
/// impl Variant for Gentle {
///     fn on_loss(&mut self, reno: &mut Reno, _: &LossEvent) {
///         reno.set_ssthresh((0.875 * reno.exact()) as u64);
///         reno.cap();
///     }
/// }
///
/// const GENTLE: Mechanism<Build> = Mechanism {
///     info: Info { name: "gentle", summary: "a loss takes an eighth", source: "an example", ..Info::PLAIN },
///     build: &|_, start| OnReno::boxed(&start, Gentle),
/// };
/// ```
pub trait Variant: Send {
    /// See [`CongestionControl::observe`].
    fn observe(&mut self, news: &AckNews) {
        let _ = news;
    }

    /// See [`CongestionControl::observes`].
    fn observes(&self) -> bool {
        false
    }

    /// See [`CongestionControl::draws`]: Reno does not.
    fn draws(&self) -> bool {
        false
    }

    /// See [`CongestionControl::mark_pace`].
    fn mark_pace(&self) -> MarkPace {
        MarkPace::Window
    }

    /// See [`CongestionControl::judges_by_mark`].
    fn judges_by_mark(&self) -> bool {
        false
    }

    /// See [`CongestionControl::on_ack`].
    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, counting: &mut dyn AckCounting) {
        reno.on_ack(ack, counting);
    }

    /// See [`CongestionControl::on_loss`].
    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        reno.on_loss(loss);
    }

    /// See [`CongestionControl::on_restart`]: as a loss, and the window begins anew.
    fn on_restart(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.on_loss(reno, loss);
        reno.restart();
    }

    /// See [`CongestionControl::on_timeout`].
    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        reno.on_timeout(loss, first);
    }

    /// See [`CongestionControl::on_mark`].
    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        reno.on_mark(loss);
    }

    /// See [`CongestionControl::on_idle`].
    fn on_idle(&mut self, reno: &mut Reno, window: u64) {
        reno.on_idle(window);
    }

    /// A full segment has `mss` bytes of payload from now on; Reno knows already.
    fn on_segment(&mut self, mss: u64) {
        let _ = mss;
    }

    /// See [`CongestionControl::on_recovered`].
    fn on_recovered(&mut self, reno: &mut Reno, flight: u64, recovered: Recovered) {
        reno.on_recovered(flight, recovered);
    }
}

/// Reno with a variant's differences.
pub struct OnReno<V> {
    reno: Reno,
    variant: V,
}

impl<V: Variant + 'static> OnReno<V> {
    /// The window of Reno's defaults, and what is done otherwise.
    pub fn boxed(start: &Start, variant: V) -> Box<dyn CongestionControl> {
        Box::new(OnReno { reno: Reno::plain(start), variant })
    }
}

impl<V: Variant> CongestionControl for OnReno<V> {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn observe(&mut self, news: &AckNews) {
        self.variant.observe(news);
    }

    fn observes(&self) -> bool {
        self.variant.observes()
    }

    fn draws(&self) -> bool {
        self.variant.draws()
    }

    fn mark_pace(&self) -> MarkPace {
        self.variant.mark_pace()
    }

    fn judges_by_mark(&self) -> bool {
        self.variant.judges_by_mark()
    }

    fn on_ack(&mut self, ack: &AckEvent, counting: &mut dyn AckCounting) {
        self.variant.on_ack(&mut self.reno, ack, counting);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.variant.on_loss(&mut self.reno, loss);
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.variant.on_restart(&mut self.reno, loss);
    }

    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        self.variant.on_timeout(&mut self.reno, loss, first);
    }

    fn on_mark(&mut self, loss: &LossEvent) {
        self.variant.on_mark(&mut self.reno, loss);
    }

    fn leave_slow_start(&mut self) {
        self.reno.leave_slow_start();
    }

    fn on_idle(&mut self, window: u64) {
        self.variant.on_idle(&mut self.reno, window);
    }

    fn on_segment(&mut self, mss: u64) {
        self.reno.on_segment(mss);
        self.variant.on_segment(mss);
    }

    fn on_reordered(&mut self, to: Level) {
        self.reno.on_reordered(to);
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        self.variant.on_recovered(&mut self.reno, flight, recovered);
    }
}
