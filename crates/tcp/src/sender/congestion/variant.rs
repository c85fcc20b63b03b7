//! What is built on Reno: a variant says what it does otherwise, and has the rest from [`Reno`].

use super::{
    AckEvent, CongestionControl, Level, LossEvent, LostSegment, MarkPace, Recovered, Reno, SentEvent, Start,
};
use crate::sender::counting::AckCounting;
use crate::sender::recovery::AckNews;
use lasthop_base::{Duration, Rate, Time};

/// A variant of Reno: each method is Reno's unless the variant has its own. Every hook of [`CongestionControl`] is here.
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

    /// See [`CongestionControl::samples`].
    fn samples(&self) -> bool {
        false
    }

    /// See [`CongestionControl::conserves`].
    fn conserves(&self) -> bool {
        false
    }

    /// See [`CongestionControl::on_sent`].
    fn on_sent(&mut self, sent: &SentEvent) {
        let _ = sent;
    }

    /// See [`CongestionControl::on_open`].
    fn on_open(&mut self, rtt: Option<Duration>) {
        let _ = rtt;
    }

    /// See [`CongestionControl::on_lost`].
    fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        let _ = (now, lost);
    }

    /// See [`CongestionControl::holds_back`].
    fn holds_back(&self) -> bool {
        false
    }

    /// See [`CongestionControl::pacing_rate`].
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// See [`CongestionControl::sends_extra`].
    fn sends_extra(&self) -> bool {
        false
    }

    /// See [`CongestionControl::extra_at`].
    fn extra_at(&self) -> Time {
        Time::NEVER
    }

    /// See [`CongestionControl::on_extra`].
    fn on_extra(&mut self, now: Time) {
        let _ = now;
    }

    /// See [`CongestionControl::on_told_twice`].
    fn on_told_twice(&mut self) {}

    /// See [`CongestionControl::is_scalable`].
    fn is_scalable(&self) -> bool {
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

    /// See [`CongestionControl::leave_slow_start`].
    fn leave_slow_start(&mut self, reno: &mut Reno) {
        reno.leave_slow_start();
    }

    /// See [`CongestionControl::on_reordered`].
    fn on_reordered(&mut self, reno: &mut Reno, to: Level) {
        reno.on_reordered(to);
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

    fn samples(&self) -> bool {
        self.variant.samples()
    }

    fn conserves(&self) -> bool {
        self.variant.conserves()
    }

    fn on_sent(&mut self, sent: &SentEvent) {
        self.variant.on_sent(sent);
    }

    fn on_open(&mut self, rtt: Option<Duration>) {
        self.variant.on_open(rtt);
    }

    fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        self.variant.on_lost(now, lost);
    }

    fn holds_back(&self) -> bool {
        self.variant.holds_back()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.variant.pacing_rate()
    }

    fn sends_extra(&self) -> bool {
        self.variant.sends_extra()
    }

    fn extra_at(&self) -> Time {
        self.variant.extra_at()
    }

    fn on_extra(&mut self, now: Time) {
        self.variant.on_extra(now);
    }

    fn on_told_twice(&mut self) {
        self.variant.on_told_twice();
    }

    fn is_scalable(&self) -> bool {
        self.variant.is_scalable()
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
        self.variant.leave_slow_start(&mut self.reno);
    }

    fn on_idle(&mut self, window: u64) {
        self.variant.on_idle(&mut self.reno, window);
    }

    fn on_segment(&mut self, mss: u64) {
        self.reno.on_segment(mss);
        self.variant.on_segment(mss);
    }

    fn on_reordered(&mut self, to: Level) {
        self.variant.on_reordered(&mut self.reno, to);
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        self.variant.on_recovered(&mut self.reno, flight, recovered);
    }
}

#[cfg(test)]
mod tests {
    /// Names of the methods in the block of `text` that begins with `head`.
    fn methods<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
        let block = text.split_once(head).expect("the block").1;
        let block = block.split_once("\n}").expect("its end").0;
        let lines = block.lines().filter_map(|line| line.strip_prefix("    fn "));
        lines.map(|line| line.split_once('(').expect("arguments").0).collect()
    }

    #[test]
    fn every_hook_is_forwarded() {
        let (all, here) = (include_str!("mod.rs"), include_str!("variant.rs"));
        let hooks = methods(all, "pub trait CongestionControl: Send {");
        assert!(hooks.len() > 20 && hooks.contains(&"on_lost"), "{hooks:?}");
        let forwarded = methods(here, "CongestionControl for OnReno<V> {");
        // Nobody has another `window_after` than the trait's.
        let missing = hooks.iter().filter(|hook| **hook != "window_after" && !forwarded.contains(hook));
        assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
        // Reno keeps the window and the threshold.
        let asked = methods(here, "pub trait Variant: Send {");
        let kept = forwarded.iter().filter(|hook| !asked.contains(hook));
        assert_eq!(kept.collect::<Vec<_>>(), [&"window", &"ssthresh"]);
    }
}
