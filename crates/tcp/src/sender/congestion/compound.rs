//! Compound TCP: Reno's window plus a delay-based window, which grows while the queue of the path is short.
//!
//! cwnd is W = loss window + dwnd. As in Reno, a window of acknowledged data adds one segment to the loss window. Once
//! per round trip, the sender estimates the number of its segments in the queue, `diff = W (RTT - base) / RTT`. RTT is
//! the mean RTT of the round, and base is the smallest RTT of the connection.
//! * If diff < `gamma`, dwnd grows by `alpha W^k - 1` segments. W then grows by `alpha W^k` segments in total.
//! * Otherwise, dwnd shrinks by `zeta` × diff segments.
//!
//! A loss halves the loss window and reduces W to (1 - `beta`) × W. If W is below `low_window` segments, dwnd does not
//! grow, and a loss sets dwnd to 0. A timeout also sets dwnd to 0.
//!
//! # Not modelled
//! Gamma is constant: the auto-tuning of gamma in the draft is not modelled.

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
                doc: "alpha in alpha × W^k, the growth of cwnd W per round trip",
            },
            Parameter {
                name: "k",
                unit: Unit::Number(0.0, 1.0),
                default: Some("0.75"),
                doc: "k in alpha × W^k, the growth of cwnd W per round trip",
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
    /// Smallest RTT of the connection.
    base: Duration,
    /// Sum of the RTT samples of the current round, seconds.
    sum: f64,
    count: u32,
    /// Next byte to send (SND.NXT) at the start of the round.
    until: u64,
    /// dwnd, segments. The cwnd of the enclosing [`Reno`] includes dwnd.
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

    /// Reduces dwnd. Returns the share of cwnd that remains after a loss: half of the loss window plus the reduced
    /// dwnd.
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

    /// A cwnd of 1000 segments grows by 1000^0.75 / 8 = 22.2 segments per round trip. Reno adds one of these segments.
    #[test]
    fn the_window_grows_by_its_power() {
        let mut path = Rounds::of(&MECHANISM, 1000);
        path.round(100.0);
        let before = path.segments();
        let grown = path.round(100.0) - before;
        let expected = 0.125 * libm::pow(before, 0.75);
        assert!((grown - expected).abs() < 0.3, "{grown} for {expected}");
    }

    /// cwnd is 1000 segments, the RTT 104 ms and the smallest RTT 100 ms, so that 38 segments are queued. dwnd shrinks
    /// by 38 segments per round trip until dwnd is 0. Then only the loss window remains.
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
        assert!((left - 1012.0 - 22.0).abs() < 15.0, "{left}: only the segments that Reno has added remain");
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

    fn compound(delay_window: f64) -> Compound {
        Compound {
            alpha: 0.125,
            k: 0.75,
            beta: 0.5,
            gamma: 30.0,
            zeta: 1.0,
            low: 41.0,
            mss: 1000.0,
            base: Duration::from_millis(500),
            sum: 0.0,
            count: 0,
            until: 0,
            delay_window,
        }
    }

    fn reno(window: u64, ssthresh: u64) -> Reno {
        Reno::plain(&Rounds::start(window, ssthresh))
    }

    /// dwnd grows by 0.125 x win^0.75 - 1 below 30 queued segments, and shrinks by the queued segments from 30 on (Tan
    /// et al. 2006 §III, Eq. 5). At win = 256, the growth is 0.125 x 64 - 1 = 7 segments. At an RTT of twice the base,
    /// half of the window is queued.
    #[test]
    fn the_delay_window_follows_the_queue() {
        let step = |window, ssthresh, rtt: f64, delay_window| {
            let (mut one, mut reno) = (compound(delay_window), reno(window, ssthresh));
            (one.sum, one.count) = (2.0 * rtt, 2);
            one.decide(&mut reno);
            assert!(
                (reno.exact_cwnd() / 1000.0 - window as f64 - one.delay_window + delay_window).abs() < 1e-9
            );
            one.delay_window - delay_window
        };
        assert!((step(256, 2, 0.5, 5.0) - 7.0).abs() < 1e-9);
        assert_eq!([step(58, 2, 1.0, 90.0) > 0.0, step(60, 2, 1.0, 90.0) == -30.0], [true, true]);
        assert_eq!([step(100, 2, 1.0, 90.0), step(100, 2, 1.0, 20.0)], [-50.0, -20.0]);
        assert_eq!([step(40, 2, 0.5, 5.0), step(100, 200, 0.5, 5.0)], [0.0, 0.0], "Reno, and slow start");
        // At win = 41, the growth is 0.125 x 41^0.75 - 1 = 1.025 segments.
        assert!((step(41, 2, 0.5, 5.0) - 1.0252).abs() < 1e-3);
        // A growth below 0 is none: 0.125 x 41^0.5 is below 1.
        let mut one = Compound { k: 0.5, sum: 1.0, count: 2, ..compound(5.0) };
        one.decide(&mut reno(41, 2));
        assert_eq!(one.delay_window, 5.0);
    }

    /// A loss halves the loss window and leaves dwnd = win (1 - β) - cwnd / 2. Below 41 segments, dwnd is 0.
    #[test]
    fn a_loss_halves_both_windows() {
        let react = |window, delay_window, beta| {
            let mut one = Compound { beta, ..compound(delay_window) };
            let share = one.react(&reno(window, 2));
            (share, one.delay_window)
        };
        assert_eq!([react(100, 40.0, 0.5), react(100, 0.0, 0.5)], [(0.5, 20.0), (0.5, 0.0)]);
        assert_eq!([react(100, 40.0, 0.25), react(100, 20.0, 0.75)], [(0.75, 45.0), (0.4, 0.0)]);
        assert_eq!([react(40, 10.0, 0.5), react(41, 11.0, 0.5)], [(0.375, 0.0), (0.5, 5.5)]);
        assert_eq!(react(100, 150.0, 0.5), (0.5, 50.0));
    }
}
