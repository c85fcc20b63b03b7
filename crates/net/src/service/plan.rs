//! A rate that changes by plan: steps of a rate and how long it holds, from the start again after the last
//! (koga §5.4.2, Fig. 5.8).

use super::Served;
use lasthop_base::{Duration, Rate, Time, Unit, Value};

/// Rates, each with the time that it holds; never empty, no step without length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<(Rate, Duration)>,
    length: Duration,
}

impl Plan {
    /// Reads `384 kbit/s for 10 s, 64 kbit/s for 10 s`.
    ///
    /// # Errors
    /// One sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Plan, String> {
        let mut steps = Vec::new();
        let mut length = Duration::ZERO;
        for step in text.split(',') {
            let Some((rate, span)) = step.split_once(" for ") else {
                return Err(format!("`{}` is not a rate and a time", step.trim()));
            };
            let shortest = Duration::from_millis(1);
            let longest = Duration::from_secs(1_000_000);
            match (Unit::Rate.parse(rate)?, Unit::Duration(shortest, longest).parse(span)?) {
                (Value::Rate(rate), Value::Duration(span)) if rate.bps() > 0 => {
                    steps.push((rate, span));
                    length += span;
                }
                _ => return Err(format!("`{}` is not a rate and a time", step.trim())),
            }
        }
        Ok(Plan { steps, length })
    }

    /// The mean over one pass, by time.
    pub fn mean_rate(&self) -> Rate {
        let bits = |(rate, span): &(Rate, Duration)| u128::from(rate.bps()) * u128::from(span.as_nanos());
        let mean = self.steps.iter().map(bits).sum::<u128>() / u128::from(self.length.as_nanos().max(1));
        Rate::from_bps(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// The rate at an instant, and until when it holds.
    pub fn at(&self, now: Time) -> (Rate, Time) {
        let passed = now.as_nanos() / self.length.as_nanos().max(1) * self.length.as_nanos();
        let mut until = Time::from_nanos(passed);
        for (rate, span) in &self.steps {
            until += *span;
            if now < until {
                return (*rate, until);
            }
        }
        // Not reached: the steps add up to the length.
        (self.steps.first().map_or(Rate::from_bps(1), |(rate, _)| *rate), Time::NEVER)
    }

    /// How many bytes the steps add up to from the start until `end`.
    pub(super) fn bytes_until(&self, end: Time) -> f64 {
        let bytes = |rate: Rate, span: Duration| rate.bps() as f64 / 8.0 * span.as_secs();
        let whole: f64 = self.steps.iter().map(|(rate, span)| bytes(*rate, *span)).sum();
        let passes = end.as_nanos() / self.length.as_nanos().max(1);
        let mut now = Time::from_nanos(passes * self.length.as_nanos());
        let mut sum = whole * passes as f64;
        while now < end {
            let (rate, until) = self.at(now);
            sum += bytes(rate, until.min(end).since(now));
            now = until;
        }
        sum
    }

    /// Serves a packet from `start` on, at the rates that hold meanwhile.
    #[inline(never)]
    pub(super) fn serve(&self, start: Time, bytes: u32) -> Served {
        const NANOS: u128 = 1_000_000_000;
        // Bits times nanoseconds per second: whole numbers throughout.
        let mut left = u128::from(bytes) * 8 * NANOS;
        let mut now = start;
        loop {
            let (rate, until) = self.at(now);
            let bps = u128::from(rate.bps());
            let within = bps * u128::from(until.since(now).as_nanos());
            if left <= within {
                let nanos = left.div_ceil(bps) as u64;
                return Served { begins: start, ends: now + Duration::from_nanos(nanos) };
            }
            left -= within;
            now = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_change_on_time_and_a_packet_meets_both() {
        let plan = Plan::parse("384 kbit/s for 10 s, 64 kbit/s for 10 s").unwrap();
        let secs = |secs| Time::ZERO + Duration::from_secs(secs);
        // 10 s and 10 s.
        assert_eq!(plan.mean_rate(), Rate::from_bps(224_000));
        assert_eq!(plan.at(secs(3)), (Rate::from_bps(384_000), secs(10)));
        assert_eq!(plan.at(secs(10)), (Rate::from_bps(64_000), secs(20)));
        assert_eq!(plan.at(secs(45)), (Rate::from_bps(384_000), secs(50)));
        // 1500 bytes at 64 kbit/s: 187.5 ms.
        let alone = plan.serve(secs(12), 1500);
        assert_eq!(alone.ends, secs(12) + Duration::from_micros(187_500));
        // A whole pass of 560,000 bytes, then 480,000 and 5 s at 8,000 bytes a second.
        assert!((plan.bytes_until(secs(35)) - 1_080_000.0).abs() < 1e-6);
        // 12 000 bits from 10 ms before the change: 3840 of them before it, 8160 at 64 kbit/s, 127.5 ms.
        let start = Time::ZERO + Duration::from_millis(9990);
        assert_eq!(plan.serve(start, 1500).ends, secs(10) + Duration::from_micros(127_500));
    }

    #[test]
    fn what_is_not_a_plan_is_refused() {
        for text in ["", "384 kbit/s", "384 kbit/s for ever", "0 kbit/s for 1 s", "1 Mbit/s for 0 s"] {
            assert!(Plan::parse(text).is_err(), "{text}");
        }
    }
}
