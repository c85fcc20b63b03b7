//! Round-trip time and retransmission timeout (RFC 6298).

use lasthop_base::Duration;

/// Smoothed RTT, its variation and the retransmission timeout.
///
/// The fields that a sample changes come first, in adjacent cache lines. All connections share one [`RtoLimits`], so
/// callers pass the limits to each call.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RttEstimator {
    /// Number of times that the timeout was doubled since the last valid sample (RFC 6298 §5.5).
    backoff: u32,
    srtt: Duration,
    variation: Duration,
    base: Duration,
    latest: Duration,
    samples: u64,
    sum: Duration,
    smallest: Duration,
    largest: Duration,
    largest_rto: Duration,
}

/// Value of `srtt` before the first sample; no round trip is that long.
const NONE: Duration = Duration::MAX;

/// Bounds and granularity of the timeout.
#[derive(Clone, Copy, Hash, Debug, PartialEq)]
pub struct RtoLimits {
    /// Timeout before the first sample (RFC 6298 §2.1: 1 s).
    pub initial: Duration,
    /// Smallest timeout (RFC 6298 §2.4: 1 s; Linux 200 ms).
    pub smallest: Duration,
    /// Largest timeout, back-off included (RFC 6298 §2.5: at least 60 s).
    pub largest: Duration,
    /// Clock granularity G: the timeout is rounded up to a multiple of G. Zero means an exact clock.
    pub tick: Duration,
    /// Whether `smallest` is also the lower bound of the variation term (Linux): RTO = SRTT + max(`smallest`, 4
    /// RTTVAR).
    pub above_srtt: bool,
}

impl RttEstimator {
    /// Returns an estimator without samples.
    pub fn new(limits: &RtoLimits) -> RttEstimator {
        RttEstimator {
            srtt: NONE,
            variation: Duration::ZERO,
            backoff: 0,
            largest_rto: limits.largest,
            base: limits.initial,
            latest: Duration::ZERO,
            samples: 0,
            sum: Duration::ZERO,
            smallest: Duration::MAX,
            largest: Duration::ZERO,
        }
    }

    /// Adds a valid sample and ends the back-off. The caller applies Karn's rule (RFC 6298 §3). Pass the same limits as
    /// to `new`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn sample(&mut self, limits: &RtoLimits, rtt: Duration) {
        match self.srtt() {
            None => {
                self.srtt = rtt;
                self.variation = rtt.divided_by(2);
            }
            Some(srtt) => {
                // RTTVAR is updated first, from the old SRTT (RFC 6298 §2.3); the gains are 1/4 and 1/8.
                self.variation =
                    Duration::from_nanos((3 * self.variation.as_nanos() + srtt.abs_diff(rtt).as_nanos()) / 4);
                self.srtt = Duration::from_nanos((7 * srtt.as_nanos() + rtt.as_nanos()) / 8);
            }
        }
        self.backoff = 0;
        self.base = self.computed(limits);
        self.latest = rtt;
        self.samples += 1;
        self.sum += rtt;
        self.smallest = self.smallest.min(rtt);
        self.largest = self.largest.max(rtt);
    }

    /// Adapts to a spurious timeout (RFC 4015 §3). SRTT becomes max(`srtt`, `rtt`), and RTTVAR becomes max(`variation`,
    /// `rtt` / 2). `srtt` and `variation`: values before the timeout; `rtt`: sample after the timeout.
    pub fn remember(&mut self, limits: &RtoLimits, srtt: Duration, variation: Duration, rtt: Duration) {
        self.srtt = srtt.max(rtt);
        self.variation = variation.max(rtt.divided_by(2));
        self.base = self.computed(limits);
    }

    /// Raises the timeout to at least `timeout`, until the first sample (RFC 6298 §5.7).
    pub fn start_from(&mut self, timeout: Duration) {
        self.base = self.base.max(timeout);
    }

    /// Doubles the timeout after the timer expired (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(32);
    }

    /// Whether the timer has expired since the last sample.
    pub fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// Current timeout, back-off included.
    pub fn rto(&self) -> Duration {
        self.doubled(0)
    }

    /// Current timeout, doubled another `times` times for the persist timer (RFC 9293 §3.8.6.1).
    pub fn doubled(&self, times: u32) -> Duration {
        let times = self.backoff.saturating_add(times).min(32);
        if times == 0 {
            return self.base;
        }
        let doubled = self.base.as_nanos().saturating_mul(1 << times);
        Duration::from_nanos(doubled).min(self.largest_rto)
    }

    /// Smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        (self.srtt != NONE).then_some(self.srtt)
    }

    /// Latest sample.
    pub fn latest(&self) -> Option<Duration> {
        (self.samples > 0).then_some(self.latest)
    }

    /// Mean of all samples.
    pub fn mean(&self) -> Option<Duration> {
        (self.samples > 0).then(|| self.sum.divided_by(self.samples))
    }

    /// Number and sum of the samples.
    pub fn total(&self) -> (u64, Duration) {
        (self.samples, self.sum)
    }

    /// Smallest sample.
    pub fn smallest(&self) -> Option<Duration> {
        (self.samples > 0).then_some(self.smallest)
    }

    /// Largest sample.
    pub fn largest(&self) -> Option<Duration> {
        (self.samples > 0).then_some(self.largest)
    }

    /// RTTVAR: smoothed mean deviation of the RTT.
    pub fn variation(&self) -> Duration {
        self.variation
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn computed(&self, limits: &RtoLimits) -> Duration {
        let floor = if limits.above_srtt { limits.smallest } else { limits.tick };
        let spread = floor.max(limits.tick).max(self.variation * 4);
        let rto = self.srtt + spread;
        let tick = limits.tick.as_nanos();
        let coarse = match tick {
            0 => rto,
            tick => Duration::from_nanos(rto.as_nanos().div_ceil(tick) * tick),
        };
        coarse.max(limits.smallest).min(limits.largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn limits(smallest: Duration, tick: Duration) -> RtoLimits {
        let (initial, largest) = (Duration::from_secs(1), Duration::from_secs(60));
        RtoLimits { initial, smallest, largest, tick, above_srtt: false }
    }

    #[test]
    fn rfc6298_section_2() {
        let limits = limits(Duration::ZERO, Duration::ZERO);
        let mut rtt = RttEstimator::new(&limits);
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        rtt.sample(&limits, MS * 100);
        // SRTT = R, RTTVAR = R/2, RTO = R + 4 R/2.
        assert_eq!((rtt.srtt(), rtt.variation(), rtt.rto()), (Some(MS * 100), MS * 50, MS * 300));
        rtt.sample(&limits, MS * 180);
        // RTTVAR = 3/4 50 + 1/4 |100 - 180| = 57.5, SRTT = 7/8 100 + 1/8 180 = 110.
        assert_eq!(rtt.variation(), Duration::from_micros(57_500));
        assert_eq!(rtt.srtt(), Some(MS * 110));
        assert_eq!(rtt.rto(), MS * 340);
    }

    #[test]
    fn back_off_doubles_up_to_the_limit_and_a_sample_ends_it() {
        let limits = limits(MS * 200, Duration::ZERO);
        let mut rtt = RttEstimator::new(&limits);
        rtt.sample(&limits, MS * 10);
        assert_eq!(rtt.rto(), MS * 200);
        let mut timeouts = Vec::new();
        for _ in 0..10 {
            rtt.back_off();
            timeouts.push(rtt.rto().as_millis() as u64);
        }
        assert_eq!(timeouts, [400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 60000, 60000]);
        rtt.sample(&limits, MS * 10);
        assert_eq!(rtt.rto(), MS * 200);
    }

    /// If the RTT is 600 ms throughout, Linux's SRTT + max(200 ms, 4 RTTVAR) gives 800 ms; RFC 6298 gives 600 ms.
    #[test]
    fn a_bound_of_the_variation_keeps_a_distance_from_the_round_trip() {
        for (above_srtt, expected) in [(false, MS * 600), (true, MS * 800)] {
            let limits = RtoLimits { above_srtt, ..limits(MS * 200, Duration::ZERO) };
            let mut rtt = RttEstimator::new(&limits);
            (0..200).for_each(|_| rtt.sample(&limits, MS * 600));
            assert_eq!(rtt.rto(), expected);
        }
    }

    /// RFC 4015 §3: the values before the timeout are SRTT 100 ms and RTTVAR 10 ms. A sample of 2 s gives SRTT 2 s,
    /// RTTVAR 1 s and RTO 6 s. A sample of 50 ms keeps SRTT at 100 ms and gives RTTVAR 25 ms.
    #[test]
    fn a_spurious_timeout_is_remembered() {
        for (measured, srtt, variation) in [(MS * 2000, MS * 2000, MS * 1000), (MS * 50, MS * 100, MS * 25)] {
            let limits = limits(MS * 200, Duration::ZERO);
            let mut rtt = RttEstimator::new(&limits);
            rtt.sample(&limits, measured);
            rtt.remember(&limits, MS * 100, MS * 10, measured);
            assert_eq!((rtt.srtt(), rtt.variation()), (Some(srtt), variation));
            assert_eq!(rtt.rto(), srtt + variation * 4);
        }
    }

    #[test]
    fn a_coarse_clock_rounds_up_and_bounds_the_spread() {
        let limits = limits(Duration::ZERO, MS * 10);
        let mut rtt = RttEstimator::new(&limits);
        for _ in 0..200 {
            rtt.sample(&limits, MS * 42);
        }
        // 4 RTTVAR has decayed below G, so the timeout is SRTT + G (RFC 6298 §2.3): 52 ms, rounded up to the next tick.
        assert_eq!(rtt.rto(), MS * 60);
    }
}
