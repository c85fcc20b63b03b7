//! cwnd and pacing rate set from outside the simulation, while the run is stepped ([`Steer`]).
//!
//! The control reacts to no event. Losses are repaired within the window that is set. cwnd has at least one segment.
//! Without any order, cwnd stays the initial window and nothing is paced.

use super::{
    AckEvent, Build, CongestionControl, Level, LossEvent, Nature, RateHooks, Recovered, Start, Steer,
};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Info, Mechanism, Rate};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "external",
        summary: "cwnd and pacing rate set from outside, by whoever steps the run",
        source: "this project (sessions)",
        ..Info::PLAIN
    },
    build: &|_, start| Box::new(External::new(&start)),
};

/// Largest cwnd that an order may set, bytes: the largest receive window (RFC 7323 §2.2).
const LARGEST_WINDOW: u64 = 1 << 30;

struct External {
    /// cwnd as ordered, bytes. The window in effect has at least one segment.
    ordered: u64,
    mss: u64,
    pacing: Option<Rate>,
}

impl External {
    fn new(start: &Start) -> External {
        External { ordered: start.window, mss: start.mss, pacing: None }
    }
}

impl RateHooks for External {
    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing
    }
}

impl CongestionControl for External {
    fn window(&self) -> u64 {
        self.ordered.max(self.mss)
    }

    fn ssthresh(&self) -> u64 {
        self.window()
    }

    /// `uses_rate_samples` gives the sender a pacer. `conserves` keeps gradual window reductions (PRR) away.
    fn nature(&self) -> Nature {
        Nature { uses_rate_samples: true, conserves: true, takes_orders: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, _: &AckEvent, _: &mut dyn AckCounting) {}

    fn on_loss(&mut self, _: &LossEvent) {}

    fn on_restart(&mut self, _: &LossEvent) {}

    fn on_timeout(&mut self, _: &LossEvent, _: bool) {}

    fn on_mark(&mut self, _: &LossEvent) {}

    fn on_idle(&mut self, _: u64) {}

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

    fn on_reordered(&mut self, _: Level) {}

    fn on_recovered(&mut self, _: u64, _: Recovered) {}

    fn steer(&mut self, order: &Steer) {
        if let Some(window) = order.window {
            self.ordered = window.min(LARGEST_WINDOW);
        }
        if let Some(pacing) = order.pacing {
            self.pacing = pacing;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Stream;

    fn start() -> Start {
        Start {
            window: 10_000,
            ssthresh: 1 << 30,
            mss: 1000,
            selective: true,
            random: Stream::named(1, "sender"),
        }
    }

    #[test]
    fn an_order_holds_through_every_event() {
        let mut control = External::new(&start());
        assert_eq!((control.window(), control.pacing_rate()), (10_000, None));
        let rate = Rate::from_bps(8_000_000);
        control.steer(&Steer { window: Some(25_000), pacing: Some(Some(rate)) });
        let loss = LossEvent { flight: 20_000, window: 25_000, ..LossEvent::default() };
        control.on_loss(&loss);
        control.on_timeout(&loss, true);
        control.on_mark(&loss);
        control.on_idle(1000);
        control.on_recovered(0, Recovered::Kept);
        assert_eq!(
            (control.window(), control.ssthresh(), control.pacing_rate()),
            (25_000, 25_000, Some(rate))
        );
        control.steer(&Steer { pacing: Some(None), ..Steer::default() });
        assert_eq!((control.window(), control.pacing_rate()), (25_000, None));
    }

    /// A window of 0 means one segment, also after the segments have become smaller.
    #[test]
    fn one_segment_is_the_least() {
        let mut control = External::new(&start());
        control.steer(&Steer { window: Some(0), pacing: None });
        assert_eq!(control.window(), 1000);
        control.on_segment(500);
        assert_eq!(control.window(), 500);
    }
}
