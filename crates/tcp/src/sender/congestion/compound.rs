//! Compound TCP: Reno's window plus a window that grows while the path's queue is short.
//!
//! The window is W = cwnd + dwnd. Each window of credit adds a segment to cwnd. Once a round trip, with `diff = W (RTT -
//! base) / RTT` queued segments and RTT the mean of the round:
//! * diff < `gamma`: dwnd grows by `alpha W^k - 1` segments, so that the whole window grows by `alpha W^k`;
//! * otherwise dwnd shrinks by `zeta` × diff segments.
//!
//! A loss halves cwnd, and W keeps the share 1 - `beta`. Below `low_window` segments, dwnd stays 0. After a timeout dwnd
//! is 0.
//!
//! # Not modelled
//! Gamma is constant: the draft's auto-tuning is absent.

use super::{AckEvent, Build, CongestionControl, LossEvent, LossPhase, Nature, OnReno, Reno, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "compound",
        summary: "Reno plus a window that grows by W^0.75 / 8 per round trip while few segments are queued",
        source: "Tan, Song, Zhang and Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp-02 (from descriptions)",
        parameters: &[
            Parameter {
                name: "alpha",
                unit: Unit::Number(0.0, 10.0),
                default: Some("0.125"),
                doc: "factor of the growth",
            },
            Parameter {
                name: "k",
                unit: Unit::Number(0.0, 1.0),
                default: Some("0.75"),
                doc: "exponent of the growth",
            },
            Parameter {
                name: "beta",
                unit: Unit::Number(0.0, 0.99),
                default: Some("0.5"),
                doc: "share of the window that a loss removes",
            },
            Parameter {
                name: "gamma",
                unit: Unit::Number(1.0, 1e6),
                default: Some("30"),
                doc: "queued segments from which the delay-based window shrinks",
            },
            Parameter {
                name: "zeta",
                unit: Unit::Number(0.0, 10.0),
                default: Some("1"),
                doc: "share of the queued segments by which the delay-based window shrinks",
            },
            Parameter {
                name: "low_window",
                unit: Unit::Number(0.0, 1e6),
                default: Some("41"),
                doc: "segments below which the control is Reno",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, start| {
        let [alpha, k, beta, gamma, zeta, low] =
            ["alpha", "k", "beta", "gamma", "zeta", "low_window"].map(|name| values.number(name));
        let (mss, base) = (start.mss as f64, Duration::MAX);
        OnReno::boxed(
            &start,
            Compound {
                alpha,
                k,
                beta,
                gamma,
                zeta,
                low,
                mss,
                base,
                sum: 0.0,
                count: 0,
                until: 0,
                delay_window: 0.0,
            },
        )
    },
};

struct Compound {
    alpha: f64,
    k: f64,
    beta: f64,
    gamma: f64,
    zeta: f64,
    low: f64,
    mss: f64,
    /// Smallest RTT so far.
    base: Duration,
    /// Sum, s, and number of the RTT samples of this round.
    sum: f64,
    count: u32,
    /// First byte that was not yet sent when the round began.
    until: u64,
    /// dwnd, segments. It is part of Reno's cwnd, which holds the whole window.
    delay_window: f64,
}

impl Compound {
    fn decide(&mut self, reno: &mut Reno) {
        let rtt = self.sum / f64::from(self.count);
        let window = reno.exact_cwnd() / self.mss;
        let queued = window * (1.0 - self.base.as_secs() / rtt);
        let step = if queued < self.gamma {
            (self.alpha * libm::pow(window, self.k) - 1.0).max(0.0)
        } else {
            -(self.zeta * queued).min(self.delay_window)
        };
        let is_low = window < self.low;
        if !reno.in_slow_start() && !is_low {
            self.delay_window += step;
            reno.set_cwnd(reno.exact_cwnd() + step * self.mss);
        }
    }

    /// Share of the window that a loss keeps. The loss-based part is halved; the delay-based part fills the rest.
    fn react(&mut self, reno: &Reno) -> f64 {
        let window = reno.exact_cwnd() / self.mss;
        let half = (window - self.delay_window).max(0.0) / 2.0;
        self.delay_window =
            if window < self.low { 0.0 } else { (window * (1.0 - self.beta) - half).max(0.0) };
        ((half + self.delay_window) / window).min(1.0)
    }
}

impl Variant for Compound {
    fn nature(&self) -> Nature {
        Nature { follows_delay: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
            self.sum += rtt.as_secs();
            self.count += 1;
        }
        if ack.phase == LossPhase::Open && self.count > 0 && ack.una > self.until {
            if !ack.held {
                self.decide(reno);
            }
            (self.until, self.sum, self.count) = (ack.nxt, 0.0, 0);
        }
        reno.on_ack(ack, ack_counting);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        let share = self.react(reno);
        reno.keep(share, loss);
    }

    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.on_loss(reno, loss);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        reno.on_timeout(loss, first);
        self.delay_window = 0.0;
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Rounds;
    use super::*;

    /// A window of 1000 segments grows by 1000^0.75 / 8 = 22.2 segments per round trip, of which Reno's is one.
    #[test]
    fn the_window_grows_by_its_power() {
        let mut path = Rounds::of(&MECHANISM, 1000);
        path.round(100.0);
        let before = path.segments();
        let grown = path.round(100.0) - before;
        let expected = 0.125 * libm::pow(before, 0.75);
        assert!((grown - expected).abs() < 0.3, "{grown} for {expected}");
    }

    /// With 1000 segments at 104 ms and a base of 100 ms, 38 segments are queued: the delay-based window shrinks by 38
    /// per round trip until it is empty. Then only Reno's part is left.
    #[test]
    fn the_delay_based_window_makes_room() {
        let mut path = Rounds::of(&MECHANISM, 1000);
        for _ in 0..12 {
            path.round(100.0);
        }
        let before = path.segments();
        assert!((before - 1000.0 - 12.0 * 23.5).abs() < 20.0, "{before}");
        let first = path.round(104.0);
        let after = path.round(104.0);
        let queued = first * 4.0 / 104.0;
        assert!((first - queued + 1.0 - after).abs() < 3.0, "{first} to {after}, {queued} queued");
        for _ in 0..20 {
            path.round(104.0);
        }
        let left = path.segments();
        assert!((left - 1012.0 - 22.0).abs() < 15.0, "{left}: the segments that Reno has added");
    }

    #[test]
    fn a_loss_halves_the_whole_window() {
        let mut path = Rounds::of(&MECHANISM, 1000);
        for _ in 0..12 {
            path.round(100.0);
        }
        let full = path.segments();
        assert!((path.lose() / full - 0.5).abs() < 0.001);
        let mut small = Rounds::of(&MECHANISM, 20);
        assert!((small.round(100.0) - 21.0).abs() < 0.1);
        assert!((small.lose() - 10.5).abs() < 0.1);
    }
}
