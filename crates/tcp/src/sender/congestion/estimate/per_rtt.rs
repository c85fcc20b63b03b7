//! Westwood+'s filter: exponentially weighted mean of one rate sample per RTT. Bursts of ACKs inflate samples per ACK,
//! but not samples per RTT (Grieco and Mascolo 2004).

use lasthop_base::{Duration, Time};

/// Westwood+'s filter. Rates are in bytes per second.
#[derive(Debug)]
pub(in crate::sender::congestion) struct PerRtt {
    weight: f64,
    began: Option<Time>,
    rtt: Duration,
    bytes: u64,
    estimate: f64,
}

impl PerRtt {
    pub(in crate::sender::congestion) fn new(weight: f64) -> PerRtt {
        PerRtt { weight, began: None, rtt: Duration::ZERO, bytes: 0, estimate: 0.0 }
    }

    pub(in crate::sender::congestion) fn on_delivered(
        &mut self,
        now: Time,
        bytes: u64,
        rtt: Option<Duration>,
    ) {
        self.rtt = rtt.unwrap_or(self.rtt);
        let Some(began) = self.began else {
            self.began = Some(now);
            return;
        };
        self.bytes += bytes;
        let span = now.since(began);
        if span > Duration::ZERO && span >= self.rtt {
            let sample = std::mem::take(&mut self.bytes) as f64 / span.as_secs();
            self.estimate += self.weight * (sample - self.estimate);
            self.began = Some(now);
        }
    }

    pub(in crate::sender::congestion) fn estimate(&self) -> f64 {
        self.estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a constant rate b, each sample is b. After n samples, the estimate is b (1 - 0.9^n).
    #[test]
    fn a_step() {
        let mut filter = PerRtt::new(0.1);
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        for k in 0..=1000 {
            filter.on_delivered(at(10 * k), 1000, Some(Duration::from_millis(100)));
            let closed = 100_000.0 * (1.0 - libm::pow(0.9, (k / 10) as f64));
            assert!((filter.estimate() - closed).abs() < 1e-6, "{k}");
        }
    }
}
