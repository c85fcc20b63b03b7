//! Variants of Reno. A variant overrides some of the functions of [`Reno`].

use super::{
    AckEvent, CongestionControl, Level, LossEvent, LostSegment, Nature, RateHooks, Recovered, Reno,
    SentEvent, Start,
};
use crate::sender::ack_counting::AckCounting;
use crate::sender::recovery::AckNews;
use lasthop_base::{Duration, Rate, Time};

/// Variant of Reno. Each function defaults to Reno's behaviour. The trait has every hook of [`CongestionControl`] and
/// [`RateHooks`].
///
/// ```
/// use lasthop_base::{Info, Mechanism};
/// use lasthop_tcp::sender::congestion::{Build, LossEvent, OnReno, Reno, Variant};
///
/// // A loss reduces the window by an eighth.
/// struct Gentle;
///
/// impl Variant for Gentle {
///     fn on_loss(&mut self, reno: &mut Reno, _: &LossEvent) {
///         reno.set_ssthresh((0.875 * reno.exact_cwnd()) as u64);
///         reno.cap_at_ssthresh();
///     }
/// }
///
/// const GENTLE: Mechanism<Build> = Mechanism {
///     info: Info { name: "gentle", summary: "removes an eighth at a loss", source: "an example", ..Info::PLAIN },
///     build: &|_, start| OnReno::boxed(&start, Gentle),
/// };
/// ```
pub trait Variant: Send {
    /// See [`CongestionControl::nature`]. The default is [`Nature::FIXED`], as for Reno.
    fn nature(&self) -> Nature {
        Nature::FIXED
    }

    /// See [`CongestionControl::observe`].
    fn observe(&mut self, news: &AckNews) {
        let _ = news;
    }

    /// See [`RateHooks::on_sent`].
    fn on_sent(&mut self, sent: &SentEvent) {
        let _ = sent;
    }

    /// See [`RateHooks::on_open`].
    fn on_open(&mut self, rtt: Option<Duration>) {
        let _ = rtt;
    }

    /// See [`RateHooks::on_lost`].
    fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        let _ = (now, lost);
    }

    /// See [`RateHooks::holds_back`].
    fn holds_back(&self) -> bool {
        false
    }

    /// See [`RateHooks::pacing_rate`].
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// See [`RateHooks::extra_at`].
    fn extra_at(&self) -> Time {
        Time::NEVER
    }

    /// See [`RateHooks::on_extra`].
    fn on_extra(&mut self, now: Time) {
        let _ = now;
    }

    /// See [`RateHooks::on_dsack`].
    fn on_dsack(&mut self) {}

    /// See [`CongestionControl::on_ack`].
    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        reno.on_ack(ack, ack_counting);
    }

    /// See [`CongestionControl::on_loss`].
    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        reno.on_loss(loss);
    }

    /// See [`CongestionControl::on_restart`]. The default calls [`Variant::on_loss`] and then sets cwnd to one segment.
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

    /// See [`CongestionControl::on_segment`]. [`Reno`] has handled the change before this call.
    fn on_segment(&mut self, mss: u64) {
        let _ = mss;
    }

    /// See [`CongestionControl::on_recovered`].
    fn on_recovered(&mut self, reno: &mut Reno, flight: u64, recovered: Recovered) {
        reno.on_recovered(flight, recovered);
    }
}

/// Reno with the functions that a variant overrides.
pub struct OnReno<V> {
    reno: Reno,
    variant: V,
}

impl<V: Variant + 'static> OnReno<V> {
    /// Returns Reno with default parameters, in which `variant` overrides functions.
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

    fn nature(&self) -> Nature {
        self.variant.nature()
    }

    fn observe(&mut self, news: &AckNews) {
        self.variant.observe(news);
    }

    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        self.variant.on_ack(&mut self.reno, ack, ack_counting);
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

impl<V: Variant> RateHooks for OnReno<V> {
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

    fn extra_at(&self) -> Time {
        self.variant.extra_at()
    }

    fn on_extra(&mut self, now: Time) {
        self.variant.on_extra(now);
    }

    fn on_dsack(&mut self) {
        self.variant.on_dsack();
    }
}

#[cfg(test)]
mod tests {
    fn methods<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
        let block = text.split_once(head).expect("the file contains the head of the block").1;
        let block = block.split_once("\n}").expect("the block ends with a brace").0;
        let lines = block.lines().filter_map(|line| line.strip_prefix("    fn "));
        lines.map(|line| line.split_once('(').expect("a function has arguments").0).collect()
    }

    #[test]
    fn every_hook_is_forwarded() {
        let (all, here) = (include_str!("mod.rs"), include_str!("variant.rs"));
        let asked = methods(here, "pub trait Variant: Send {");
        for (hooks, own) in [
            ("pub trait CongestionControl: RateHooks + Send {", "CongestionControl for OnReno<V> {"),
            ("pub trait RateHooks {", "RateHooks for OnReno<V> {"),
        ] {
            let (hooks, forwarded) = (methods(all, hooks), methods(here, own));
            assert!(hooks.len() > 7, "{hooks:?}");
            // Exceptions: no control overrides `window_after`, no variant takes orders (`steer`), and [`Reno`] stores
            // cwnd and ssthresh for every variant.
            let is_exempt = |hook: &str| ["window_after", "steer"].contains(&hook);
            let missing = hooks.iter().filter(|hook| !is_exempt(hook) && !forwarded.contains(hook));
            assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
            let kept = forwarded.iter().filter(|hook| !asked.contains(hook));
            assert!(
                kept.eq(["window", "ssthresh"].iter().filter(|name| hooks.contains(name))),
                "{forwarded:?}"
            );
        }
    }
}
