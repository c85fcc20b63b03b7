//! Scalable TCP: the time to regain cwnd after a loss does not depend on cwnd.
//!
//! Each acknowledged segment adds `a` segments, so that a round trip raises cwnd by the share `a`. A loss removes an
//! eighth of cwnd. cwnd is regained after `ln(1 / 0.875) / ln(1 + a)` = 13.4 round trips. Up to `legacy_window`, the
//! control acts like Reno.

use super::{AckEvent, Build, LossEvent, OnReno, Reno, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "scalable",
        summary: "grows by 1 % per round trip and removes an eighth at a loss",
        source: "Kelly, ACM CCR 33(2), 2003 (from descriptions)",
        parameters: &[
            Parameter {
                name: "a",
                unit: Unit::Number(0.0001, 1.0),
                default: Some("0.01"),
                doc: "segments added per acknowledged segment",
            },
            Parameter {
                name: "keeps",
                unit: Unit::Number(0.5, 0.999),
                default: Some("0.875"),
                doc: "share of the window that remains after a loss",
            },
            Parameter {
                name: "legacy_window",
                unit: Unit::Number(0.0, 1e6),
                default: Some("16"),
                doc: "segments up to which the control is Reno",
            },
        ],
        linux_name: Some("scalable"),
        ..Info::PLAIN
    },
    build: &|values, start| {
        let [a, keeps, legacy] = ["a", "keeps", "legacy_window"].map(|name| values.number(name));
        OnReno::boxed(&start, Scalable { a, keeps, legacy, mss: start.mss as f64 })
    },
};

struct Scalable {
    a: f64,
    keeps: f64,
    legacy: f64,
    mss: f64,
}

impl Scalable {
    fn is_legacy(&self, reno: &Reno) -> bool {
        reno.exact_cwnd() <= self.legacy * self.mss
    }

    fn share(&self, reno: &Reno) -> f64 {
        if self.is_legacy(reno) { 0.5 } else { self.keeps }
    }
}

impl Variant for Scalable {
    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        let segments = if self.is_legacy(reno) { 1.0 } else { self.a * reno.exact_cwnd() / self.mss };
        reno.on_ack_adding(segments, ack, ack_counting);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        reno.keep(self.share(reno), loss);
    }

    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        reno.keep(self.share(reno), loss);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        reno.time_out_keeping(self.share(reno), loss, first);
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Rounds;
    use super::*;

    /// At every cwnd, regaining takes ln(1 / 0.875) / ln(1.01) = 13.42 round trips.
    #[test]
    fn the_time_to_regain_a_window_does_not_depend_on_it() {
        for window in [100, 1000, 5000] {
            let mut path = Rounds::of(&MECHANISM, window);
            assert_eq!(path.lose(), 0.875 * window as f64);
            let regained = (1..).find(|_| path.round(100.0) >= window as f64);
            assert!(regained.is_some_and(|rounds| (13..=14).contains(&rounds)), "{window}: {regained:?}");
        }
    }

    #[test]
    fn a_small_window_is_renos() {
        let mut path = Rounds::of(&MECHANISM, 10);
        assert!((path.round(100.0) - 11.0).abs() < 0.1);
        assert_eq!(path.lose().floor(), 5.0);
    }
}
