//! Values that change by plan. A plan is a list of steps, each with a value and a length, repeated after the last step.
//! If the value of a step is a range, each repetition of the step draws a value from the range.
//!
//! Draws depend only on the seed and on the number of the step. The two directions of a link have the same seed, so
//! they draw equal values if their plans have equal steps.

use lasthop_base::{Duration, Time, Unit, Value, quantity, random};
use std::hash::{Hash, Hasher};

/// Quantity that a plan changes at given times: a rate, a delay or a share of losses.
pub trait PlanValue: Copy + PartialEq + PartialOrd {
    /// Unit and permitted range.
    const UNIT: Unit;
    /// Name of the quantity in messages, such as `a rate`.
    const DESCRIPTION: &'static str;

    /// Converts a value with the unit [`PlanValue::UNIT`]. Returns `None` for a value of another kind.
    fn from_value(value: &Value) -> Option<Self>;

    /// Parses a value.
    ///
    /// # Errors
    /// A sentence that describes the fault.
    fn read(text: &str) -> Result<Self, String> {
        let value = Self::UNIT.parse(text)?;
        Self::from_value(&value).ok_or_else(|| format!("`{}` is not {}", text.trim(), Self::DESCRIPTION))
    }

    /// Interpolates between this value (`share` 0) and `other` (`share` 1).
    fn interpolate(self, other: Self, share: f64) -> Self;
}

impl PlanValue for Duration {
    const UNIT: Unit = Unit::Duration(Duration::ZERO, Duration::from_secs(1000));
    const DESCRIPTION: &'static str = "a delay";

    fn from_value(value: &Value) -> Option<Duration> {
        match value {
            Value::Duration(delay) => Some(*delay),
            _ => None,
        }
    }

    fn interpolate(self, other: Duration, share: f64) -> Duration {
        Duration::from_secs_f64(self.as_secs() + share * (other.as_secs() - self.as_secs()))
    }
}

/// A rate in bit/s; 0 means an outage.
#[derive(Clone, Copy, PartialEq, PartialOrd, Hash, Debug)]
pub(crate) struct PlannedRate(pub(crate) u64);

impl PlanValue for PlannedRate {
    const UNIT: Unit = Unit::Rate;
    const DESCRIPTION: &'static str = "a rate";

    fn from_value(value: &Value) -> Option<PlannedRate> {
        match value {
            Value::Rate(rate) => Some(PlannedRate(rate.bps())),
            _ => None,
        }
    }

    /// Parses a rate. Also accepts `0 bit/s`, which [`Unit::Rate`] refuses.
    fn read(text: &str) -> Result<PlannedRate, String> {
        match quantity::split(text.trim()) {
            Ok((0.0, unit)) if Unit::Rate.parse(&format!("1 {unit}")).is_ok() => Ok(PlannedRate(0)),
            _ => {
                let value = Unit::Rate.parse(text)?;
                PlannedRate::from_value(&value).ok_or_else(|| format!("`{}` is not a rate", text.trim()))
            }
        }
    }

    fn interpolate(self, other: PlannedRate, share: f64) -> PlannedRate {
        let (low, high) = (self.0 as f64, other.0 as f64);
        PlannedRate((low + share * (high - low)) as u64)
    }
}

/// A share of packets, 0 to 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct PacketShare(pub f64);

impl Hash for PacketShare {
    /// Hashes the bits of the share, because `f64` has no `Hash`.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PlanValue for PacketShare {
    const UNIT: Unit = Unit::Probability(0.0, 1.0);
    const DESCRIPTION: &'static str = "a share";

    fn from_value(value: &Value) -> Option<PacketShare> {
        match value {
            Value::Number(share) => Some(PacketShare(*share)),
            _ => None,
        }
    }

    fn interpolate(self, other: PacketShare, share: f64) -> PacketShare {
        PacketShare(self.0 + share * (other.0 - self.0))
    }
}

/// A plan with at least one step. Each step is longer than zero.
#[derive(Clone, Hash, Debug, PartialEq)]
pub struct Steps<V> {
    steps: Vec<PlanStep<V>>,
    length: Duration,
    /// Seed of the draws. If `None`, the value of a range is its middle.
    seed: Option<u64>,
}

#[derive(Clone, Copy, Hash, Debug, PartialEq)]
struct PlanStep<V> {
    low: V,
    high: V,
    /// End of the step, counted from the start of the plan's current repetition.
    ends: Duration,
}

const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(1_000_000);

impl<V: PlanValue> Steps<V> {
    /// Parses a plan such as `5 ms for 10 s, 20..60 ms for 15 s`. The lower end of a range may omit the unit.
    ///
    /// # Errors
    /// A sentence that describes the fault.
    pub fn parse(text: &str) -> Result<Steps<V>, String> {
        let mut steps = Vec::new();
        let mut ends = Duration::ZERO;
        for step in text.split(',') {
            let not_a_step =
                || format!("`{}` is not a step: write {} `for` a time", step.trim(), V::DESCRIPTION);
            let (values, span) = step.split_once(" for ").ok_or_else(not_a_step)?;
            let (low, high) = range(values)?;
            let Value::Duration(span) = Unit::Duration(SHORTEST, LONGEST).parse(span)? else {
                return Err(not_a_step());
            };
            if low > high {
                return Err(format!("`{}`: put the lower end first", values.trim()));
            }
            ends += span;
            steps.push(PlanStep { low, high, ends });
        }
        Ok(Steps { steps, length: ends, seed: None })
    }

    /// Whether the plan draws random values, because the value of some step is a range.
    pub fn draws(&self) -> bool {
        self.steps.iter().any(|step| step.low != step.high)
    }

    /// Sets the seed of the draws. Without a seed, the value of a range is its middle.
    pub fn seeded(mut self, seed: u64) -> Steps<V> {
        self.seed = Some(seed);
        self
    }

    pub(crate) fn length(&self) -> Duration {
        self.length
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (V, V, Duration)> + '_ {
        let mut begins = Duration::ZERO;
        self.steps.iter().map(move |step| {
            let span = step.ends.saturating_sub(begins);
            begins = step.ends;
            (step.low, step.high, span)
        })
    }

    /// Returns the value at `now`, and the start and the end of the step with this value.
    pub fn at(&self, now: Time) -> (V, [Time; 2]) {
        let length = self.length.as_nanos().max(1);
        let (pass, within) = (now.as_nanos() / length, Duration::from_nanos(now.as_nanos() % length));
        let number = self.steps.partition_point(|step| step.ends <= within);
        let step = &self.steps[number.min(self.steps.len() - 1)];
        let begins = number.checked_sub(1).map_or(Duration::ZERO, |before| self.steps[before].ends);
        let holds = [begins, step.ends].map(|edge| Time::from_nanos(pass * length) + edge);
        if step.low == step.high {
            return (step.low, holds);
        }
        let share = self.seed.map_or(0.5, |seed| {
            let count = pass.wrapping_mul(self.steps.len() as u64).wrapping_add(number as u64);
            random::unit_interval(random::derive(seed, 1 + (count % u64::from(u32::MAX)) as u32))
        });
        (step.low.interpolate(step.high, share), holds)
    }
}

/// Parses a value such as `5 ms` or a range such as `5..25 ms`. Returns the lower and the upper end.
fn range<V: PlanValue>(text: &str) -> Result<(V, V), String> {
    let Some((low, high)) = text.split_once("..") else {
        let value = V::read(text)?;
        return Ok((value, value));
    };
    let unit = high.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-.eE".contains(c));
    let low = if low.trim().ends_with(|c: char| c.is_ascii_digit()) {
        V::read(&format!("{} {}", low.trim(), unit.trim()))?
    } else {
        V::read(low)?
    };
    Ok((low, V::read(high)?))
}

/// A plan that caches the step of the last query.
#[derive(Clone, Debug)]
pub(crate) struct PlanCursor<V> {
    steps: Steps<V>,
    value: V,
    holds: [Time; 2],
}

impl<V: PlanValue> PlanCursor<V> {
    pub(crate) fn new(steps: Steps<V>) -> PlanCursor<V> {
        let (value, holds) = steps.at(Time::ZERO);
        PlanCursor { steps, value, holds }
    }

    #[inline]
    pub(crate) fn at(&mut self, now: Time) -> V {
        if now < self.holds[0] || now >= self.holds[1] {
            (self.value, self.holds) = self.steps.at(now);
        }
        self.value
    }

    pub(crate) fn draws(&self) -> bool {
        self.steps.draws()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> Time {
        Time::ZERO + Duration::from_secs(secs)
    }

    #[test]
    fn steps_come_in_turn_and_again() {
        let steps = Steps::<Duration>::parse("5 ms for 10 s, 40 ms for 5 s").unwrap();
        let ms = Duration::from_millis;
        assert_eq!(steps.at(secs(0)), (ms(5), [secs(0), secs(10)]));
        assert_eq!(steps.at(secs(10)), (ms(40), [secs(10), secs(15)]));
        assert_eq!(steps.at(secs(44)), (ms(40), [secs(40), secs(45)]));
        assert!(!steps.draws());
        let shares = Steps::<PacketShare>::parse("0.5 % for 14.95 s, 0.5 for 50 ms").unwrap();
        assert_eq!(shares.at(secs(14)).0, PacketShare(0.005));
        assert_eq!(shares.at(secs(15) - ms(1)).0, PacketShare(0.5));
    }

    #[test]
    fn a_range_is_drawn_anew_each_time_and_alike_for_the_same_seed() {
        let steps = |seed| {
            let steps = Steps::<Duration>::parse("5..25 ms for 15 s").unwrap();
            steps.seeded(seed)
        };
        let (one, other) = (steps(1), steps(2));
        assert!(one.draws());
        let unseeded = Steps::<Duration>::parse("5..25 ms for 15 s").unwrap();
        assert_eq!(
            unseeded.at(secs(3)).0,
            Duration::from_millis(15),
            "without a seed, the value of a range must be its middle"
        );
        let drawn: Vec<f64> = (0..4000).map(|n| one.at(secs(15 * n + n % 15)).0.as_millis()).collect();
        assert_eq!(drawn[7], one.at(secs(15 * 7)).0.as_millis(), "a step must have one value");
        assert_ne!(drawn[7], other.at(secs(15 * 7)).0.as_millis());
        assert!(drawn.iter().all(|delay| (5.0..=25.0).contains(delay)));
        let mean = drawn.iter().sum::<f64>() / 4000.0;
        // The delays are uniform on 5 to 25 ms. The bound is five standard errors, each 20 / sqrt(12) / sqrt(4000) ms.
        assert!((mean - 15.0).abs() < 5.0 * 5.774 / 4000f64.sqrt(), "{mean}");
    }

    #[test]
    fn what_is_not_a_plan_is_refused() {
        for text in
            ["", "5 ms", "5 ms for ever", "5 for 1 s", "25..5 ms for 1 s", "1 ms for 0 s", "a..b ms for 1 s"]
        {
            assert!(Steps::<Duration>::parse(text).is_err(), "{text}");
        }
        assert!(Steps::<PacketShare>::parse("2 for 1 s").is_err());
        let same = Steps::<Duration>::parse("5 ms..25 ms for 1 s").unwrap();
        assert_eq!(same, Steps::<Duration>::parse("5..25 ms for 1 s").unwrap());
    }
}
