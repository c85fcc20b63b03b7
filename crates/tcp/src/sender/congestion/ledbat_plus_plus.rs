//! LEDBAT++: LEDBAT with round-trip times instead of one-way delays, and without LEDBAT's latecomer unfairness.
//!
//! W is cwnd, `queueing = current - base` is the queueing delay, and `GAIN = 1 / min(16, ⌈2 target / base⌉)`. Below the
//! target, a round trip adds GAIN segments. Above the target, a round trip changes W by `GAIN - W (queueing / target -
//! 1)`, but by at least -W / 2. Slow start adds GAIN × acked bytes and ends at a queueing delay of 3/4 of the target.
//!
//! Slowdowns measure the base delay. The first slowdown begins two round trips after slow start ends. The time to the
//! next slowdown is nine times the duration of the last slowdown. In a slowdown, cwnd is two segments for two round
//! trips. Slow start then raises cwnd to the value before the slowdown.
//!
//! # Not modelled
//! The draft suggests a correction of clock drift. Round-trip times need no such correction.

use super::ledbat::{Delays, halve_cwnd};
use super::{
    AckEvent, Build, CongestionControl, LossEvent, LossPhase, Nature, OnReno, Recovered, Reno, Start, Variant,
};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ledbat_plus_plus",
        summary: "keeps the queueing delay at 60 ms, yields to other flows, and empties the queue periodically",
        source: "draft-irtf-iccrg-ledbat-plus-plus-01 §4 (from descriptions)",
        parameters: &[
            Parameter {
                name: "target",
                unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(10)),
                default: Some("60 ms"),
                doc: "queueing delay that the flow aims at",
            },
            Parameter {
                name: "slowdowns",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "empty the queue after slow start and periodically, to measure the base delay",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, start| {
        let control = LedbatPlusPlus {
            target: values.duration("target").as_secs(),
            slows_down: values.flag("slowdowns"),
            mss: start.mss as f64,
            delays: Delays::new(),
            srtt: Duration::ZERO,
            slowdown: Slowdown::Never,
        };
        OnReno::boxed(&Start { window: start.window.min(SMALLEST * start.mss), ..start }, control)
    },
};

/// Initial and smallest window, segments.
const SMALLEST: u64 = 2;
/// Largest divisor in GAIN.
const MAX_DIVISOR: f64 = 16.0;
/// Share of the target queueing delay at which slow start ends.
const SLOW_START_UNTIL: f64 = 0.75;
/// Number of round trips from the end of slow start to the first slowdown. A slowdown lasts for the same number.
const ROUND_TRIPS: u64 = 2;
/// Ratio of the time to the next slowdown to the duration of the last slowdown.
const INTERVAL: u64 = 9;

struct LedbatPlusPlus {
    /// Target queueing delay, seconds.
    target: f64,
    slows_down: bool,
    mss: f64,
    delays: Delays,
    srtt: Duration,
    slowdown: Slowdown,
}

/// State of the periodic slowdown (draft §4.4).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slowdown {
    /// Slow start has not ended yet.
    Never,
    /// Start time of the next slowdown.
    Planned(Time),
    /// cwnd is two segments until `until`. Afterwards, cwnd returns to `window` bytes.
    Slow { begun: Time, until: Time, window: f64 },
    /// Slow start raises cwnd to `window` bytes.
    Return { begun: Time, window: f64 },
}

impl LedbatPlusPlus {
    fn gain(&self) -> f64 {
        let base = self.delays.base().map_or(self.target, |base| base.as_secs().max(1e-9));
        1.0 / libm::ceil(2.0 * self.target / base).clamp(1.0, MAX_DIVISOR)
    }

    fn smallest(&self) -> f64 {
        SMALLEST as f64 * self.mss
    }

    /// Returns the change of cwnd, bytes, for `acked` acknowledged bytes in congestion avoidance (draft §4.2).
    fn change(&self, window: f64, acked: f64, queueing: f64) -> f64 {
        let excess = queueing / self.target - 1.0;
        let per_round_trip = match excess {
            excess if excess <= 0.0 => self.gain() * self.mss,
            excess => (self.gain() * self.mss - window * excess).max(-window / 2.0),
        };
        per_round_trip * acked / window
    }

    /// Halves the cwnd to which the current slowdown returns.
    fn halve_saved(&mut self) {
        if let Slowdown::Slow { window, .. } = &mut self.slowdown {
            *window /= 2.0;
        }
    }

    /// Begins or advances a slowdown. Returns whether the slowdown keeps cwnd at two segments.
    fn slow_down(&mut self, reno: &mut Reno, now: Time) -> bool {
        let round_trips = self.srtt * ROUND_TRIPS;
        match self.slowdown {
            Slowdown::Planned(at) if self.slows_down && now >= at => {
                let window = reno.exact_cwnd();
                self.slowdown = Slowdown::Slow { begun: now, until: now + round_trips, window };
                reno.set_cwnd(self.smallest());
                true
            }
            Slowdown::Slow { begun, until, window } if now >= until => {
                reno.set_ssthresh(window as u64);
                self.slowdown = Slowdown::Return { begun, window };
                false
            }
            Slowdown::Slow { .. } => true,
            Slowdown::Return { begun, window } if reno.exact_cwnd() >= window => {
                self.plan_next(begun, now);
                false
            }
            Slowdown::Never | Slowdown::Planned(_) | Slowdown::Return { .. } => false,
        }
    }

    fn plan_next(&mut self, begun: Time, now: Time) {
        self.slowdown = Slowdown::Planned(now + now.since(begun) * INTERVAL);
    }

    fn leave(&mut self, now: Time) {
        match self.slowdown {
            Slowdown::Never => self.slowdown = Slowdown::Planned(now + self.srtt * ROUND_TRIPS),
            Slowdown::Return { begun, .. } => self.plan_next(begun, now),
            Slowdown::Planned(_) | Slowdown::Slow { .. } => {}
        }
    }
}

impl Variant for LedbatPlusPlus {
    fn nature(&self) -> Nature {
        Nature { follows_delay: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, _: &mut dyn AckCounting) {
        if let Some(rtt) = ack.rtt {
            self.delays.record(ack.now, rtt);
        }
        self.srtt = ack.srtt.unwrap_or(self.srtt);
        let Some(queueing) = self.delays.queueing() else { return };
        if ack.acked == 0 || ack.phase == LossPhase::Recovery || self.slow_down(reno, ack.now) {
            return;
        }
        let (window, acked) = (reno.exact_cwnd(), ack.acked as f64);
        if reno.in_slow_start() {
            if queueing > SLOW_START_UNTIL * self.target {
                reno.leave_slow_start();
                self.leave(ack.now);
            } else if !ack.held {
                reno.set_cwnd((window + self.gain() * acked).min(window.max(reno.ssthresh() as f64)));
            }
            return;
        }
        self.leave_first(ack.now);
        let change = self.change(window, acked, queueing);
        if change < 0.0 || !ack.held {
            reno.set_cwnd((window + change).max(self.smallest()));
        }
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.halve_saved();
        halve_cwnd(reno);
        self.leave(loss.now);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        if first {
            self.halve_saved();
        }
        reno.on_timeout(loss, first);
    }

    fn on_recovered(&mut self, reno: &mut Reno, flight: u64, recovered: Recovered) {
        reno.on_recovered(flight, recovered);
        let smallest = self.smallest();
        if let Slowdown::Slow { window, .. } = &mut self.slowdown {
            if let Recovered::Revised { to, .. } = recovered {
                *window = window.max(to.window as f64);
            }
            if !matches!(recovered, Recovered::Probed { .. }) {
                reno.set_cwnd(smallest);
            }
        }
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss as f64;
    }
}

impl LedbatPlusPlus {
    /// Plans the first slowdown if slow start has ended without a call of [`LedbatPlusPlus::leave`].
    fn leave_first(&mut self, now: Time) {
        if self.slowdown == Slowdown::Never {
            self.leave(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::rounds::Rounds;
    use super::*;

    /// GAIN = 1 / min(16, ⌈120 ms / base⌉): 1/2 at a base delay of 100 ms, 1/12 at 10 ms, 1/16 at 1 ms. In slow start,
    /// a round trip multiplies cwnd by 1 + GAIN.
    #[test]
    fn slow_start_is_slower_on_short_paths() {
        for (base, gain) in [(100.0, 1.0 / 2.0), (10.0, 1.0 / 12.0), (1.0, 1.0 / 16.0)] {
            let mut path = Rounds::with_ssthresh(&MECHANISM, 2, 1_000_000);
            while path.segments() < 200.0 {
                path.round(base);
            }
            let before = path.segments();
            let grown = path.round(base) / before - 1.0;
            assert!((grown - gain).abs() < 0.02, "{base}: {grown} for {gain}");
        }
    }

    /// Slow start ends at a queueing delay of 3/4 of 60 ms. Two round trips later, cwnd is two segments for two round
    /// trips. Slow start then raises cwnd to the value before the slowdown.
    #[test]
    fn a_slowdown_follows_slow_start() {
        let mut path = Rounds::with_ssthresh(&MECHANISM, 2, 1_000_000);
        while path.segments() < 100.0 {
            path.round(100.0);
        }
        let before = path.round(150.0);
        let slow = (1..10).find(|_| path.round(150.0) <= 2.0);
        assert!(slow.is_some_and(|rounds| rounds <= 4), "{slow:?}");
        let returned = (1..100).find(|_| path.round(100.0) > 0.9 * before);
        // GAIN is 1/2 and 1.5^10 = 58, so that cwnd grows from 2 to 100 segments within ten round trips.
        assert!(returned.is_some_and(|rounds| (8..=12).contains(&rounds)), "{returned:?}");
    }

    /// A loss during a slowdown halves the saved cwnd, to which the flow returns. An undo during a slowdown restores
    /// the saved cwnd, and cwnd stays two segments until the slowdown ends.
    #[test]
    fn losses_during_a_slowdown_count() {
        let begin = |reno: &mut Reno| {
            let mut control = LedbatPlusPlus {
                target: 0.06,
                slows_down: true,
                mss: 1000.0,
                delays: Delays::new(),
                srtt: Duration::from_millis(100),
                slowdown: Slowdown::Planned(Time::ZERO),
            };
            assert!(control.slow_down(reno, Time::ZERO));
            control
        };
        let saved = |control: &LedbatPlusPlus| match control.slowdown {
            Slowdown::Slow { window, .. } => window,
            _ => panic!("{:?}", control.slowdown),
        };
        let loss = LossEvent { flight: 40_000, window: 40_000, ..LossEvent::default() };
        let mut reno = Reno::plain(&Rounds::start(40, 2));
        let mut control = begin(&mut reno);
        control.on_loss(&mut reno, &loss);
        assert_eq!((saved(&control), reno.exact_cwnd()), (20_000.0, 2_000.0));
        control.on_timeout(&mut reno, &loss, true);
        assert_eq!((saved(&control), reno.exact_cwnd()), (10_000.0, 1_000.0));
        let before = Level { window: 40_000, ssthresh: 40_000 };
        let undone = Recovered::Revised { from: Level::default(), to: before };
        control.on_recovered(&mut reno, 0, undone);
        assert_eq!((saved(&control), reno.exact_cwnd()), (40_000.0, 2_000.0));
        assert!(control.slow_down(&mut reno, Time::ZERO + Duration::from_millis(100)));
        assert!(!control.slow_down(&mut reno, Time::ZERO + Duration::from_millis(200)));
        assert_eq!(reno.ssthresh(), 40_000);
    }

    /// Above the target, cwnd shrinks in proportion to the excess. At a queueing delay of 90 ms (1.5 times the target),
    /// a round trip removes half of cwnd. At 66 ms, a round trip removes a tenth. GAIN adds half a segment in each
    /// case.
    #[test]
    fn above_the_target_the_window_shrinks_in_proportion() {
        for (queueing, share) in [(90.0, 0.5), (66.0, 0.1)] {
            let mut values = MECHANISM.info.defaults();
            values.set("slowdowns", lasthop_base::Value::Flag(false));
            let mut path = Rounds::new((MECHANISM.build)(&values, Rounds::start(2, 2)));
            for _ in 0..400 {
                path.round(100.0);
            }
            path.round(100.0 + queueing);
            let before = path.segments();
            let kept = path.round(100.0 + queueing) / before;
            // cwnd shrinks with each ACK, so that later ACKs of the round trip remove less.
            let expected = 1.0 - share;
            assert!((kept - expected).abs() < 0.12, "{queueing}: {kept} for {expected}");
        }
    }
}
