//! Congestion control with a window of constant size, for a link without other senders.

use lasthop_base::{Choice, Info};
use lasthop_tcp::sender::ack_counting::AckCounting;
use lasthop_tcp::sender::congestion::{
    AckEvent, Build, CongestionControl, LossEvent, Nature, RateHooks, Recovered,
};
use std::sync::Arc;

const INFO: Info = Info {
    name: "fixed",
    summary: "a window of constant size",
    source: "our construction, for the wireless side of a split connection, if no other sender uses the wireless link",
    ..Info::PLAIN
};

/// Builds a constant window of `window` bytes, or of one segment if a segment is larger.
pub(super) fn fixed(window: u64) -> Choice<Build> {
    Choice::with_constructor(&INFO, Arc::new(move |_, start| Box::new(FixedWindow(window.max(start.mss)))))
}

struct FixedWindow(u64);

impl CongestionControl for FixedWindow {
    fn window(&self) -> u64 {
        self.0
    }

    fn ssthresh(&self) -> u64 {
        self.0
    }

    fn nature(&self) -> Nature {
        Nature::FIXED
    }

    fn on_ack(&mut self, _: &AckEvent, _: &mut dyn AckCounting) {}
    fn on_loss(&mut self, _: &LossEvent) {}
    fn on_restart(&mut self, _: &LossEvent) {}
    fn on_timeout(&mut self, _: &LossEvent, _: bool) {}
    fn on_mark(&mut self, _: &LossEvent) {}
    fn on_idle(&mut self, _: u64) {}

    fn on_segment(&mut self, mss: u64) {
        self.0 = self.0.max(mss);
    }

    fn on_recovered(&mut self, _: u64, _: Recovered) {}
}

impl RateHooks for FixedWindow {}
