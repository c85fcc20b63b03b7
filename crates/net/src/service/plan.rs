//! A planned rate: a list of steps, each with a rate and a length, repeated after the last step (koga §5.4.2, Fig.
//! 5.8). A rate of `0 bit/s` is an outage. If a rate is a range, each repetition of the step draws a rate from the
//! range.

use super::Served;
use crate::steps::{PlannedRate, Steps};
use lasthop_base::{Duration, Rate, Time};

/// A rate plan with at least one step. Each step is longer than zero, and at least one rate is above 0.
#[derive(Clone, Hash, Debug, PartialEq)]
pub struct RatePlan {
    steps: Steps<PlannedRate>,
}

impl RatePlan {
    /// Parses a plan such as `384 kbit/s for 10 s, 64 kbit/s for 10 s`. Steps such as `0 bit/s for 50 ms` and `5..20
    /// Mbit/s for 15 s` are valid, too.
    ///
    /// # Errors
    /// A sentence that describes the fault.
    pub fn parse(text: &str) -> Result<RatePlan, String> {
        let steps = Steps::<PlannedRate>::parse(text)?;
        let sends = steps.iter().any(|(low, ..)| low.0 > 0);
        if sends {
            Ok(RatePlan { steps })
        } else {
            Err(format!("`{text}` never sends: give at least one step a rate above 0"))
        }
    }

    /// Whether the plan draws random rates, because the rate of some step is a range.
    pub fn draws(&self) -> bool {
        self.steps.draws()
    }

    pub(super) fn seeded(&self, seed: u64) -> RatePlan {
        RatePlan { steps: self.steps.clone().seeded(seed) }
    }

    /// Returns the mean rate over one repetition of the plan. A range counts as its middle.
    pub fn mean_rate(&self) -> Rate {
        let bits = |(low, high, span): (PlannedRate, PlannedRate, Duration)| {
            (u128::from(low.0) + u128::from(high.0)) * u128::from(span.as_nanos()) / 2
        };
        let sum = self.steps.iter().map(bits).sum::<u128>();
        let mean = sum / u128::from(self.steps.length().as_nanos().max(1));
        Rate::from_bps(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// Returns the rate at `now`, and the end of the current step. In an outage, the returned rate is 1 bit/s, the
    /// smallest rate.
    pub fn at(&self, now: Time) -> (Rate, Time) {
        let (rate, [_, until]) = self.steps.at(now);
        (Rate::from_bps(rate.0), until)
    }

    /// Returns the number of bytes that the plan allows from the start of the run until `end`.
    pub(super) fn bytes_until(&self, end: Time) -> f64 {
        let bytes = |rate: PlannedRate, span: Duration| rate.0 as f64 / 8.0 * span.as_secs();
        let both = |(low, high, span)| 0.5 * (bytes(low, span) + bytes(high, span));
        let whole: f64 = self.steps.iter().map(both).sum();
        let passes = if self.draws() { 0 } else { end.as_nanos() / self.steps.length().as_nanos().max(1) };
        let mut now = Time::from_nanos(passes * self.steps.length().as_nanos());
        let mut sum = whole * passes as f64;
        while now < end {
            let (rate, [_, until]) = self.steps.at(now);
            sum += bytes(rate, until.min(end).since(now));
            now = until;
        }
        sum
    }

    #[inline(never)]
    pub(super) fn serve(&self, start: Time, bytes: u32) -> Served {
        const NANOS: u128 = 1_000_000_000;
        // `left` has the unit 10^-9 bits, so that all numbers are whole.
        let mut left = u128::from(bytes) * 8 * NANOS;
        let mut now = start;
        loop {
            let (rate, [_, until]) = self.steps.at(now);
            let bps = u128::from(rate.0);
            let within = bps * u128::from(until.since(now).as_nanos());
            if left <= within {
                let nanos = left.div_ceil(bps.max(1)) as u64;
                return Served { begins: start, ends: now + Duration::from_nanos(nanos) };
            }
            left -= within;
            now = until;
        }
    }

    /// Returns the part of a packet that is unsent at `now` if the packet's transmission began at `start`, in units of
    /// 10^-9 bits.
    pub(crate) fn unsent(&self, start: Time, bytes: u32, now: Time) -> u128 {
        let mut left = u128::from(bytes) * 8 * 1_000_000_000;
        let mut from = start;
        while from < now && left > 0 {
            let (rate, [_, until]) = self.steps.at(from);
            let until = until.min(now);
            left = left.saturating_sub(u128::from(rate.0) * u128::from(until.since(from).as_nanos()));
            from = until;
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_change_on_time_and_a_packet_meets_both() {
        let plan = RatePlan::parse("384 kbit/s for 10 s, 64 kbit/s for 10 s").unwrap();
        let secs = |secs| Time::ZERO + Duration::from_secs(secs);
        assert_eq!(plan.mean_rate(), Rate::from_bps(224_000));
        assert_eq!(plan.at(secs(3)), (Rate::from_bps(384_000), secs(10)));
        assert_eq!(plan.at(secs(10)), (Rate::from_bps(64_000), secs(20)));
        assert_eq!(plan.at(secs(45)), (Rate::from_bps(384_000), secs(50)));
        // 1500 bytes at 64 kbit/s take 187.5 ms.
        let alone = plan.serve(secs(12), 1500);
        assert_eq!(alone.ends, secs(12) + Duration::from_micros(187_500));
        // The first 20 s allow 560,000 bytes, the next 10 s 480,000 bytes, and the last 5 s 40,000 bytes.
        assert!((plan.bytes_until(secs(35)) - 1_080_000.0).abs() < 1e-6);
        // A packet of 12 000 bits starts 10 ms before the change. 3840 bits are sent before the change, and the other
        // 8160 bits take 127.5 ms at 64 kbit/s.
        let start = Time::ZERO + Duration::from_millis(9990);
        assert_eq!(plan.serve(start, 1500).ends, secs(10) + Duration::from_micros(127_500));
    }

    /// An outage of 50 ms in each second must delay packets. The mean rate of a range must be its middle.
    #[test]
    fn outages_and_ranges() {
        let plan = RatePlan::parse("1 Mbit/s for 950 ms, 0 bit/s for 50 ms").unwrap();
        assert_eq!(plan.mean_rate(), Rate::from_bps(950_000));
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        // 1000 bytes take 8 ms, of which 5 ms are before the outage and 3 ms after it.
        assert_eq!(plan.serve(at(945), 1000).ends, at(1003));
        assert_eq!(plan.serve(at(960), 1000).ends, at(1008));
        let range = RatePlan::parse("50..150 Mbit/s for 15 s").unwrap();
        assert!(range.draws() && !plan.draws());
        assert_eq!((range.mean_rate(), range.at(at(0)).0), (Rate::from_bps(100_000_000), range.mean_rate()));
        let drawn = range.seeded(7);
        assert_eq!(drawn.at(at(0)).0, drawn.at(at(14_999)).0);
        assert_ne!(drawn.at(at(0)).0, drawn.at(at(15_000)).0);
        let slots = [0, 15_000].map(|begins| drawn.at(at(begins)).0.bps() as f64 / 8.0 * 15.0);
        assert!((drawn.bytes_until(at(30_000)) - slots[0] - slots[1]).abs() < 1e-3);
    }

    #[test]
    fn what_is_not_a_plan_is_refused() {
        for text in ["", "384 kbit/s", "384 kbit/s for ever", "0 kbit/s for 1 s", "1 Mbit/s for 0 s"] {
            assert!(RatePlan::parse(text).is_err(), "{text}");
        }
    }
}
