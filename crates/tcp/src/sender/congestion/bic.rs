//! BIC: binary search between cwnd after the last loss and cwnd at that loss.
//!
//! W is cwnd, and W_max is cwnd at the last loss, in segments. A round trip raises W by:
//! * `min((W_max - W) / B, S_max)` segments, if W is below W_max by more than B segments,
//! * `B / 20` segments, if W is within B segments of W_max,
//! * `min((W - W_max) / (B - 1), S_max)` segments, if W exceeds W_max by B segments or more,
//! * S_max segments or 5 % of W, whichever is more, before the first loss,
//! * one segment, as Reno does, if W is at most `low_window`.
//!
//! A loss reduces W to `keeps` × W. If the loss occurs below W_max, the next W_max is lower than W (fast convergence).
//!
//! The default values are Linux's. The paper uses B = 2 and S_max = 32.

use super::{AckEvent, Build, LossEvent, OnReno, Reno, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "bic",
        summary: "searches the window of the last loss by halving the distance, then probes beyond it",
        source: "Xu, Harfoush and Rhee, INFOCOM 2004 (from descriptions and Linux's module)",
        parameters: &[
            Parameter {
                name: "s_max",
                unit: Unit::Number(1.0, 1000.0),
                default: Some("16"),
                doc: "largest increment per round trip, segments",
            },
            Parameter {
                name: "b",
                unit: Unit::Number(2.0, 100.0),
                default: Some("4"),
                doc: "divisor of the distance to the window of the last loss",
            },
            Parameter {
                name: "keeps",
                unit: Unit::Number(0.5, 0.999),
                default: Some("0.8"),
                doc: "share of the window that remains after a loss",
            },
            Parameter {
                name: "low_window",
                unit: Unit::Number(0.0, 1e6),
                default: Some("14"),
                doc: "segments up to which the control is Reno",
            },
        ],
        linux_name: Some("bic"),
        ..Info::PLAIN
    },
    build: &|values, start| {
        let [s_max, b, keeps, low] = ["s_max", "b", "keeps", "low_window"].map(|name| values.number(name));
        OnReno::boxed(&start, Bic { s_max, b, keeps, low, mss: start.mss as f64, target: None })
    },
};

/// Number of round trips in which cwnd grows by B segments, if cwnd is within B segments of W_max.
const SMOOTH_PART: f64 = 20.0;

struct Bic {
    s_max: f64,
    b: f64,
    keeps: f64,
    low: f64,
    mss: f64,
    /// W_max, segments; `None` before the first loss, and after a timeout.
    target: Option<f64>,
}

impl Bic {
    fn segments(&self, window: f64) -> f64 {
        if window <= self.low {
            return 1.0;
        }
        let Some(target) = self.target else {
            return self.s_max.max(window / 20.0);
        };
        let (distance, beyond) = ((target - window) / self.b, window - target);
        if beyond < 0.0 {
            return if distance <= 1.0 { self.b / SMOOTH_PART } else { distance.min(self.s_max) };
        }
        if beyond < self.b { self.b / SMOOTH_PART } else { (beyond / (self.b - 1.0)).min(self.s_max) }
    }

    /// Updates W_max. Returns the share of cwnd that remains after the loss.
    fn react(&mut self, reno: &Reno) -> f64 {
        let window = reno.exact_cwnd() / self.mss;
        let is_lower = self.target.is_some_and(|target| window < target);
        self.target = Some(if is_lower { window * (1.0 + self.keeps) / 2.0 } else { window });
        if window <= self.low { 0.5 } else { self.keeps }
    }
}

impl Variant for Bic {
    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        reno.on_ack_adding(self.segments(reno.exact_cwnd() / self.mss), ack, ack_counting);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        let share = self.react(reno);
        reno.keep(share, loss);
    }

    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.on_loss(reno, loss);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        let share = self.react(reno);
        reno.time_out_keeping(share, loss, first);
        self.target = None;
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Rounds;
    use super::*;

    /// A loss at 400 segments leaves 320. The increments (400 - W) / 4, limited to S_max = 16, are 16, 16, 12, 9, 6.75,
    /// 5.06, 3.8 … segments. Within a round trip, the distance to W_max falls, so that the measured increments are
    /// slightly smaller.
    #[test]
    fn the_distance_to_the_last_loss_is_divided() {
        let mut path = Rounds::of(&MECHANISM, 400);
        assert_eq!(path.lose(), 320.0);
        let mut expected: f64 = 320.0;
        for _ in 0..10 {
            expected += ((400.0 - expected) / 4.0).min(16.0);
            let window = path.round(100.0);
            assert!((window - expected).abs() < 0.02 * expected, "{window} for {expected}");
            assert!(window < 400.0);
        }
        // If W_max is at most four segments away, a round trip adds 0.2 segments.
        while path.segments() < 396.5 {
            path.round(100.0);
        }
        let before = path.segments();
        let grown = path.round(100.0) - before;
        assert!((grown - 0.2).abs() < 0.02, "{grown}");
    }

    /// A loss at 360 segments, below W_max = 400, sets W_max to 360 × (1 + 0.8) / 2 = 324.
    #[test]
    fn convergence_is_fast() {
        let mut path = Rounds::of(&MECHANISM, 400);
        path.lose();
        while path.segments() < 360.0 {
            path.round(100.0);
        }
        let full = path.segments();
        let left = path.lose();
        assert!((left / full - 0.8).abs() < 0.01);
        let target = 0.9 * full;
        let expected = ((target - left) / 4.0).min(16.0);
        let grown = path.round(100.0) - left;
        assert!((grown - expected).abs() < 0.15 * expected, "{grown} for {expected}");
    }
}
