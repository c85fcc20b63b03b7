//! Jersey's filter: delivery rate over a sliding window of one RTT.
//!
//! `R_n = (RTT R_{n-1} + L_n) / ((t_n - t_{n-1}) + RTT)`, with L_n the delivered bytes and t_n the time of sample n.
//! RTT is the latest RTT sample, not the smallest. Source: the available bandwidth estimate of Xu, Tian, Ansari 2004,
//! from memory; that estimate follows the time sliding window of Clark and Fang 1998.
//!
//! The first ACK starts the measurement and gives no sample. The estimate begins at zero. If the clock shows the same
//! time as at the last sample, the delivered bytes count in the next sample.

use lasthop_base::{Duration, Time};

/// Jersey's filter. Rates are in bytes per second.
#[derive(Debug, Default)]
pub(in crate::sender::congestion) struct Sliding {
    last: Option<Time>,
    pending: u64,
    estimate: f64,
}

impl Sliding {
    /// Adds `bytes` delivered at time `at` of the sender's or the receiver's clock. `rtt`: latest RTT sample.
    pub(in crate::sender::congestion) fn on_delivered(&mut self, at: Time, bytes: u64, rtt: Duration) {
        let Some(last) = self.last else {
            self.last = Some(at);
            return;
        };
        self.pending += bytes;
        if at <= last {
            return;
        }
        let (interval, rtt) = (at.since(last).as_secs(), rtt.as_secs());
        let bytes = std::mem::take(&mut self.pending) as f64;
        self.estimate = (rtt * self.estimate + bytes) / (interval + rtt);
        self.last = Some(at);
    }

    pub(in crate::sender::congestion) fn estimate(&self) -> f64 {
        self.estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    const RTT: Duration = Duration::from_millis(100);

    /// At a constant rate b, each sample reduces the error by the factor RTT / (RTT + dt), where dt is the time between
    /// samples. With a sample every 10 ms, the estimate is b (1 - (1 / 1.1)^n) after n samples. After five RTTs, the
    /// error is below 1 %. Three RTTs after the rate has halved, 5.7 % of the step remain.
    #[test]
    fn a_step_up_and_one_down() {
        let mut filter = Sliding::default();
        for n in 0..=50u64 {
            filter.on_delivered(at(10_000 * n), 2500, RTT);
            let closed = 250_000.0 * (1.0 - libm::pow(1.0 / 1.1, n as f64));
            assert!((filter.estimate() - closed).abs() < 1e-6, "{n}");
        }
        assert!((filter.estimate() / 250_000.0 - 1.0).abs() < 0.01);
        for n in 51..=80u64 {
            filter.on_delivered(at(10_000 * n), 1250, RTT);
        }
        assert!((filter.estimate() / 125_000.0 - 1.0).abs() < 0.07, "{}", filter.estimate());
    }

    /// The clock ticks every 10 ms, and a segment arrives every 2.5 ms. Segments that arrive within a tick form one
    /// sample.
    #[test]
    fn a_clock_that_stands_still() {
        let mut filter = Sliding::default();
        (0..=400u64).for_each(|n| filter.on_delivered(at(n / 4 * 10_000), 625, RTT));
        assert!((filter.estimate() / 250_000.0 - 1.0).abs() < 0.01, "{}", filter.estimate());
        let before = filter.estimate();
        filter.on_delivered(at(0), 625, RTT);
        assert_eq!(filter.estimate(), before);
    }
}
