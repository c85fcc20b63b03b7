//! Westwood's filter: first-order low-pass filter, discretised by the bilinear (Tustin) rule, with one rate sample per
//! ACK.
//!
//! `b_k = d_k / Δ_k`, `B_k = α B_{k-1} + (1 - α) (b_k + b_{k-1}) / 2`, `α = (2τ - Δ_k) / (2τ + Δ_k)` (Mascolo et al.
//! 2001 §2.2, Eq. 2). d_k are the delivered bytes and Δ_k is the time since the last sample. If no ACK arrives for
//! `τ/m`, the filter adds a sample of zero.
//!
//! The first ACK starts the measurement and gives no sample. The estimate begins at zero.

use lasthop_base::{Duration, Time};

/// Westwood's filter. Rates are in bytes per second.
#[derive(Debug)]
pub(in crate::sender::congestion) struct Tustin {
    /// τ, seconds.
    time_constant: f64,
    /// τ/m: longest time between two samples.
    longest: Duration,
    /// Time of the last sample, zero samples included.
    last: Option<Time>,
    sample: f64,
    estimate: f64,
    /// Bytes delivered at the instant of the last sample. These bytes count in the next sample.
    pending: u64,
}

impl Tustin {
    /// Returns a filter with the time constant τ that adds a zero sample after each τ/m without an ACK.
    pub(in crate::sender::congestion) fn new(time_constant: Duration, m: u64) -> Tustin {
        Tustin {
            time_constant: time_constant.as_secs(),
            longest: Duration::from_nanos(time_constant.divided_by(m.max(1)).as_nanos().max(1)),
            last: None,
            sample: 0.0,
            estimate: 0.0,
            pending: 0,
        }
    }

    pub(in crate::sender::congestion) fn on_delivered(&mut self, now: Time, bytes: u64) {
        let Some(last) = self.idle_until(now) else {
            self.last = Some(now);
            return;
        };
        let bytes = bytes + std::mem::take(&mut self.pending);
        let interval = now.since(last).as_secs();
        if interval <= 0.0 {
            self.pending = bytes;
            return;
        }
        self.add_sample(bytes as f64 / interval, interval);
        self.last = Some(now);
    }

    pub(in crate::sender::congestion) fn estimate(&mut self, now: Time) -> f64 {
        self.idle_until(now);
        self.estimate
    }

    /// Adds a zero sample for every τ/m without an ACK. Returns the time of the last sample.
    fn idle_until(&mut self, now: Time) -> Option<Time> {
        let mut last = self.last?;
        let longest = self.longest;
        // After 4096 zero samples, the estimate is practically zero, so that more zero samples are unnecessary.
        for _ in 0..4096 {
            if now.since(last) <= longest {
                break;
            }
            self.add_sample(0.0, longest.as_secs());
            last += longest;
        }
        if now.since(last) > longest {
            last = now;
        }
        self.last = Some(last);
        Some(last)
    }

    fn add_sample(&mut self, sample: f64, interval: f64) {
        let twice = 2.0 * self.time_constant;
        let alpha = (twice - interval) / (twice + interval);
        self.estimate = alpha * self.estimate + (1.0 - alpha) * (sample + self.sample) / 2.0;
        self.sample = sample;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAU: Duration = Duration::from_millis(500);

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// α for an interval of 10 ms and 2τ = 1 s: (1 - 0.01) / (1 + 0.01).
    const ALPHA: f64 = 0.99 / 1.01;

    /// Step response to a constant rate b, from zero: B_k = b (1 - α^(k-1) (1 + α) / 2).
    #[test]
    fn a_step() {
        let mut filter = Tustin::new(TAU, 2);
        filter.on_delivered(at(0), 1000);
        for k in 1..=400 {
            filter.on_delivered(at(10 * k), 1000);
            let closed = 100_000.0 * (1.0 - libm::pow(ALPHA, k as f64 - 1.0) * (1.0 + ALPHA) / 2.0);
            let ours = filter.estimate(at(10 * k));
            assert!((ours - closed).abs() < 1e-6, "k = {k}: {ours} instead of {closed}");
        }
    }

    /// After one time constant, the estimate is close to the response of the analogue filter, 1 - e^(-t/τ) = 63.2 %.
    #[test]
    fn a_time_constant() {
        let mut filter = Tustin::new(TAU, 2);
        (0..=500).for_each(|k| filter.on_delivered(at(k), 100));
        let share = filter.estimate(at(500)) / 100_000.0;
        assert!((share - 0.632).abs() < 0.002, "{share}");
    }

    /// Three ACKs arrive at each instant. The second and the third ACK give no sample, because the interval since the
    /// first ACK is 0. The bytes of these two ACKs count in the sample of the next instant.
    #[test]
    fn acks_at_one_instant() {
        let (mut one, mut two) = (Tustin::new(TAU, 2), Tustin::new(TAU, 2));
        for k in 0..50 {
            one.on_delivered(at(20 * k), 3000);
            for _ in 0..3 {
                two.on_delivered(at(20 * k), 1000);
            }
        }
        // The bytes of the second and the third ACK of this instant are still pending, so that the estimates agree.
        let (one, two) = (one.estimate(at(980)), two.estimate(at(980)));
        assert!((one - two).abs() / one < 1e-9, "{one} and {two}");
    }

    /// A silence adds a zero sample per τ/m. With m = 2, α = (2 - 1/2) / (2 + 1/2) = 0.6. The first zero sample is
    /// averaged with the last nonzero sample. Each later zero sample multiplies the estimate by 0.6.
    #[test]
    fn silence() {
        let mut filter = Tustin::new(TAU, 2);
        (0..=5000).for_each(|k| filter.on_delivered(at(k), 100));
        let before = filter.estimate(at(5000));
        let first = 0.6 * before + 0.4 * 100_000.0 / 2.0;
        assert!((filter.estimate(at(5251)) - first).abs() < 1e-6);
        assert!((filter.estimate(at(5751)) - first * 0.36).abs() < 1e-6);
        assert!(filter.estimate(at(100_000_000)) < 1e-9);
    }
}
