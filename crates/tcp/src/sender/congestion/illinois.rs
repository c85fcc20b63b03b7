//! TCP Illinois: losses determine the direction in which cwnd changes, and the queueing delay determines the size of
//! the step.
//!
//! da is the average queueing delay of a round trip, and dm is the largest queueing delay of the connection. A round
//! trip adds α segments, and a loss removes the share β of cwnd:
//! * α falls from `alpha_max` at da ≤ dm / 100 to `alpha_min` at da = dm. In between, α = κ1 / (κ2 + da).
//! * β rises from 1/8 at da ≤ dm / 10 to 1/2 at da ≥ 0.8 dm.
//!
//! After da has exceeded dm / 100, α returns to `alpha_max` only after five round trips with da ≤ dm / 100. If cwnd is
//! below `threshold` segments, α is 1 and β is 1/2. The values 1 and 1/2 also apply after a timeout, until the next
//! round trip.

use super::{AckEvent, Build, LossEvent, OnReno, Reno, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "illinois",
        summary: "adds 10 to 0.3 segments per round trip and removes 1/8 to 1/2 at a loss; the queueing delay decides",
        source: "Liu, Başar and Srikant, Performance Evaluation 65, 2008 (from descriptions and Linux's module)",
        parameters: &[
            Parameter {
                name: "alpha_max",
                unit: Unit::Number(1.0, 1000.0),
                default: Some("10"),
                doc: "segments added per round trip without queueing delay",
            },
            Parameter {
                name: "alpha_min",
                unit: Unit::Number(0.01, 1.0),
                default: Some("0.3"),
                doc: "segments added per round trip at the largest queueing delay",
            },
            Parameter {
                name: "threshold",
                unit: Unit::Number(0.0, 1e6),
                default: Some("15"),
                doc: "segments below which the control is Reno",
            },
        ],
        linux_name: Some("illinois"),
        ..Info::PLAIN
    },
    build: &|values, start| {
        let [alpha_max, alpha_min, threshold] =
            ["alpha_max", "alpha_min", "threshold"].map(|name| values.number(name));
        let mss = start.mss as f64;
        OnReno::boxed(
            &start,
            Illinois {
                alpha_max,
                alpha_min,
                threshold,
                mss,
                base: Duration::MAX,
                largest: Duration::ZERO,
                sum: 0.0,
                count: 0,
                until: 0,
                alpha: alpha_max,
                beta: 0.5,
                was_above: false,
                low_rounds: 0,
            },
        )
    },
};

/// Number of round trips with low queueing delay after which α returns to `alpha_max` (θ).
const LOW_ROUNDS: u32 = 5;

struct Illinois {
    alpha_max: f64,
    alpha_min: f64,
    threshold: f64,
    mss: f64,
    /// Smallest RTT of the connection.
    base: Duration,
    /// Largest RTT of the connection.
    largest: Duration,
    /// Sum of the RTT samples of the current round trip, seconds.
    sum: f64,
    count: u32,
    /// Next byte to send (SND.NXT) at the start of the round trip.
    until: u64,
    alpha: f64,
    beta: f64,
    /// Whether the queueing delay has exceeded dm / 100 since α was last `alpha_max`.
    was_above: bool,
    low_rounds: u32,
}

impl Illinois {
    fn update(&mut self, reno: &Reno) {
        if reno.exact_cwnd() < self.threshold * self.mss {
            (self.alpha, self.beta) = (1.0, 0.5);
        } else if self.count > 0 {
            let base = self.base.as_secs();
            let (average, largest) = (self.sum / f64::from(self.count) - base, self.largest.as_secs() - base);
            self.alpha = self.alpha(average, largest);
            self.beta = beta(average, largest);
        }
        (self.sum, self.count) = (0.0, 0);
    }

    fn alpha(&mut self, average: f64, largest: f64) -> f64 {
        let low = largest / 100.0;
        if average > low {
            (self.was_above, self.low_rounds) = (true, 0);
            let (average, largest) = (average - low, largest - low);
            let slope = (self.alpha_max - self.alpha_min) / self.alpha_min;
            return largest * self.alpha_max / (largest + average * slope);
        }
        self.low_rounds += 1;
        if self.was_above && self.low_rounds < LOW_ROUNDS {
            return self.alpha;
        }
        (self.was_above, self.low_rounds) = (false, 0);
        self.alpha_max
    }

    fn share(&self) -> f64 {
        1.0 - self.beta
    }
}

fn beta(average: f64, largest: f64) -> f64 {
    let (low, high) = (0.1 * largest, 0.8 * largest);
    if average <= low {
        0.125
    } else if average >= high {
        0.5
    } else {
        0.125 + 0.375 * (average - low) / (high - low)
    }
}

impl Variant for Illinois {
    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        if let Some(rtt) = ack.rtt {
            (self.base, self.largest) = (self.base.min(rtt), self.largest.max(rtt));
            self.sum += rtt.as_secs();
            self.count += 1;
        }
        if ack.una > self.until {
            self.update(reno);
            self.until = ack.nxt;
        }
        reno.on_ack_adding(self.alpha, ack, ack_counting);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        reno.keep(self.share(), loss);
    }

    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        reno.keep(self.share(), loss);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        reno.time_out_keeping(self.share(), loss, first);
        (self.alpha, self.beta, self.was_above, self.low_rounds) = (1.0, 0.5, false, 0);
        (self.sum, self.count, self.until) = (0.0, 0, loss.nxt);
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Rounds;
    use super::*;

    /// Returns two results: the growth of a cwnd of 1000 segments in one round trip, segments, and the share of cwnd
    /// that remains after a loss. The queueing delay has been `delay_ms` for the eight preceding round trips. The
    /// smallest RTT is 100 ms, and the largest queueing delay is 100 ms.
    fn at(delay_ms: f64) -> (f64, f64) {
        let mut path = Rounds::of(&MECHANISM, 1000);
        for rtt in [100.0, 200.0, 200.0] {
            path.round(rtt);
        }
        // The first ACK of a round trip still updates α for the previous round trip, so that a new delay takes effect a
        // round trip later.
        for _ in 0..8 {
            path.round(100.0 + delay_ms);
        }
        let before = path.segments();
        let grown = path.round(100.0 + delay_ms) - before;
        let full = path.segments();
        (grown, path.lose() / full)
    }

    /// α is 10 without queueing delay and 0.3 at da = dm. At da = dm / 2, α = 10 / (1 + 0.5 × 9.7 / 0.3) = 0.583, if
    /// the offset dm / 100 is ignored. β is 1/8 up to 0.1 dm, 0.3125 at 0.45 dm, and 1/2 from 0.8 dm.
    #[test]
    fn steps_follow_the_delay() {
        for (delay, alpha, share) in
            [(0.0, 10.0, 0.875), (50.0, 0.583, 0.661), (45.0, 0.64, 0.6875), (100.0, 0.3, 0.5)]
        {
            let (grown, kept) = at(delay);
            assert!((grown - alpha).abs() < 0.05 * alpha + 0.02, "{delay}: {grown} for {alpha}");
            assert!((kept - share).abs() < 0.01, "{delay}: {kept} for {share}");
        }
    }

    #[test]
    fn a_small_window_is_renos() {
        let mut path = Rounds::of(&MECHANISM, 10);
        let grown = path.round(100.0);
        assert!((grown - 11.0).abs() < 0.1);
        assert!((path.lose() / grown - 0.5).abs() < 0.01);
    }

    fn illinois() -> Illinois {
        Illinois {
            alpha_max: 10.0,
            alpha_min: 0.3,
            threshold: 15.0,
            mss: 1000.0,
            base: Duration::from_millis(500),
            largest: Duration::from_millis(1500),
            sum: 0.0,
            count: 0,
            until: 0,
            alpha: 10.0,
            beta: 0.5,
            was_above: false,
            low_rounds: 0,
        }
    }

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} {expected}");
    }

    /// α falls from 10 at dm / 100 to 0.3 at the largest delay dm: κ1 / (κ2 + da) (Liu, Başar and Srikant 2008, Eq. 5).
    /// At dm = 100 and da = 34, α is 99 x 10 / (99 + 33 x 9.7 / 0.3) = 990 / 1166.
    #[test]
    fn alpha_falls_with_the_delay() {
        close(illinois().alpha(100.0, 100.0), 0.3);
        close(illinois().alpha(34.0, 100.0), 990.0 / 1166.0);
        close(illinois().alpha(1.0, 100.0), 10.0);
        assert!(illinois().alpha(1.001, 100.0) < 10.0);
    }

    /// After a delay above dm / 100, α stays until five round trips had low delays.
    #[test]
    fn alpha_returns_after_five_low_rounds() {
        let mut one = Illinois { alpha: 4.0, was_above: true, low_rounds: 3, ..illinois() };
        assert!(one.alpha(50.0, 100.0) < 1.0);
        let low: Vec<f64> = (0..6).map(|_| one.alpha(0.5, 100.0)).collect();
        assert_eq!(low, [4.0, 4.0, 4.0, 4.0, 10.0, 10.0]);
    }

    /// β is 1/8 up to a tenth of dm, and 1/2 from 0.8 dm on.
    #[test]
    fn beta_rises_with_the_delay() {
        let values = [0.0, 10.0, 45.0, 80.0, 100.0].map(|average| beta(average, 100.0));
        values
            .iter()
            .zip([0.125, 0.125, 0.3125, 0.5, 0.5])
            .for_each(|(value, expected)| close(*value, expected));
        close(Illinois { beta: 0.3125, ..illinois() }.share(), 0.6875);
    }

    /// Below 15 segments, the control is Reno. From 15 segments on, α and β follow from the mean RTT: here 0.95 s, so
    /// that da is 0.45 s and dm is 1 s. Without samples, α and β stay.
    #[test]
    fn small_windows_are_renos() {
        let update = |window, count| {
            let mut one = Illinois { sum: 1.9, count, alpha: 7.0, beta: 0.2, ..illinois() };
            one.update(&Reno::plain(&Rounds::start(window, 2)));
            assert_eq!((one.sum, one.count), (0.0, 0));
            (one.alpha, one.beta)
        };
        assert_eq!([update(14, 2), update(15, 0)], [(1.0, 0.5), (7.0, 0.2)]);
        let (alpha, beta) = update(15, 2);
        close(alpha, 9.9 / (0.99 + 0.44 * 9.7 / 0.3));
        close(beta, 0.3125);
    }
}
