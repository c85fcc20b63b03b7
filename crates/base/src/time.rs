//! Virtual or real time, in integer nanoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant, in nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Time(u64);

/// A span of time in nanoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Instant that is later than every event. A stopped timer has this value.
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the instant `nanos` nanoseconds after the start of the run.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Returns the nanoseconds since the start of the run.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start of the run.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time from `earlier` to `self`, or zero if `earlier` is later than `self`.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Returns the instant rounded up to a multiple of `tick`. If `tick` is zero, returns the instant unchanged.
    ///
    /// Models the timers of a host with a coarse clock, which expire on ticks of the clock (RFC 6298 §4).
    pub fn round_up(self, tick: Duration) -> Time {
        match tick.0 {
            0 => self,
            tick => Time(self.0.div_ceil(tick).saturating_mul(tick)),
        }
    }
}

impl Duration {
    /// Span of zero nanoseconds.
    pub const ZERO: Duration = Duration(0);
    /// Longest span (584 years).
    pub const MAX: Duration = Duration(u64::MAX);

    /// Returns a span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Duration {
        Duration(nanos)
    }

    /// Returns a span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Duration {
        Duration(micros.saturating_mul(1_000))
    }

    /// Returns a span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Duration {
        Duration(millis.saturating_mul(1_000_000))
    }

    /// Returns a span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Duration {
        Duration(secs.saturating_mul(1_000_000_000))
    }

    /// Returns a span of `secs` seconds, rounded to the nanosecond; negative values and NaN yield zero.
    pub fn from_secs_f64(secs: f64) -> Duration {
        let nanos = secs * 1e9;
        // Fast path with the same result as `libm::round`. Below 2^52, the subtraction `nanos - whole` is exact.
        if (0.0..4_503_599_627_370_496.0).contains(&nanos) {
            let whole = nanos as i64;
            return Duration(whole as u64 + u64::from(nanos - whole as f64 >= 0.5));
        }
        Duration(libm::round(nanos) as u64)
    }

    /// Returns the span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the span in seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the span in milliseconds.
    pub fn as_millis(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns `self` minus `other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// Returns the absolute difference between `self` and `other`.
    pub const fn abs_diff(self, other: Duration) -> Duration {
        Duration(self.0.abs_diff(other.0))
    }

    /// Returns the span divided by `n`, rounded down to the nanosecond. `n` must not be 0.
    pub const fn divided_by(self, n: u64) -> Duration {
        Duration(self.0 / n)
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, span: Duration) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, n: u64) -> Duration {
        Duration(self.0.saturating_mul(n))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// Prints the exact span in the largest unit in which the number is at least 1: `45 ms`, `6.16 ms`, `1 s`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, per_unit) = match self.0 {
            0 => return write!(f, "0 s"),
            n if n >= 1_000_000_000 => ("s", 1_000_000_000),
            n if n >= 1_000_000 => ("ms", 1_000_000),
            n if n >= 1_000 => ("us", 1_000),
            _ => ("ns", 1),
        };
        let (whole, rest) = (self.0 / per_unit, self.0 % per_unit);
        if rest == 0 {
            return write!(f, "{whole} {unit}");
        }
        let digits = (per_unit.ilog10()) as usize;
        let fraction = format!("{rest:0digits$}");
        write!(f, "{whole}.{} {unit}", fraction.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_print_exactly_in_their_largest_unit() {
        for (nanos, text) in [
            (0, "0 s"),
            (45_000_000, "45 ms"),
            (6_160_000, "6.16 ms"),
            (1_500_000_000, "1.5 s"),
            (10_000, "10 us"),
            (7, "7 ns"),
            (1_000_000_000_000, "1000 s"),
        ] {
            assert_eq!(Duration::from_nanos(nanos).to_string(), text);
        }
    }

    /// `Duration::from_secs_f64` must agree with `libm::round`, which rounds halves away from zero. Results saturate at
    /// 64 bits.
    #[test]
    fn seconds_are_rounded_to_the_nearest_nanosecond() {
        let mut random = crate::Stream::named(1, "rounding");
        let drawn = (0..20_000).map(|power| random.uniform() * libm::exp2(f64::from(power % 70)));
        let halves = (0..1000).map(|half| f64::from(half) + 0.5);
        let edges = [0.0, -0.0, -0.3, -0.7, -1.5, 0.5, 0.499_999_999_999_999_94, f64::NAN, f64::INFINITY];
        let near_2_to_52 = (0..64).map(|step| 4_503_599_627_370_480.0 + f64::from(step) * 0.5);
        for nanos in drawn.chain(halves).chain(edges).chain(near_2_to_52) {
            let secs = nanos / 1e9;
            let rounded = Duration::from_secs_f64(secs).as_nanos();
            assert_eq!(rounded, libm::round(secs * 1e9) as u64, "{nanos} ns");
        }
        assert_eq!(Duration::from_secs_f64(2.5e-9), Duration::from_nanos(3));
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
    }

    #[test]
    fn coarse_clocks_round_up() {
        let tick = Duration::from_millis(10);
        assert_eq!(Time::from_nanos(1).round_up(tick), Time::ZERO + tick);
        assert_eq!((Time::ZERO + tick).round_up(tick), Time::ZERO + tick);
        assert_eq!(Time::from_nanos(7).round_up(Duration::ZERO), Time::from_nanos(7));
    }
}
