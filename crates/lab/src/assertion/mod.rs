//! Assertions on a run, such as `goodput > 5 Mbit/s` and `p95(rtt) < 100 ms`. The whole 95 % interval is compared with
//! the bound.
//!
//! An assertion holds if the whole interval lies on the required side of the bound. An assertion fails if the whole
//! interval lies on the wrong side. Otherwise the assertion is open, and more repetitions are needed. If nothing in the
//! scenario is random, a single value is compared instead of an interval.
//!
//! * [`Bound`]: the parsed bound, and its comparison with measurements.
//! * `quantile`: percentiles of RTTs, queueing delays and completion times.
//! * [`junit`]: JUnit XML for continuous integration.

mod bound;
pub mod junit;
mod quantile;

pub use bound::{AssertionError, Bound, BoundStatus, CheckedBound, stem};

use crate::compare::Quantity;
use lasthop_sim::{Outcome, Samples};
use quantile::Quantile;

/// A condition on one number of a run, such as `goodput > 5 Mbit/s`.
#[derive(Clone)]
pub struct Assertion {
    /// The parsed bound.
    pub bound: Bound,
    number: AssertedNumber,
}

#[derive(Clone, Copy)]
enum AssertedNumber {
    Quantity(Quantity),
    Quantile(Quantile),
}

impl Assertion {
    /// Parses `METRIC < NUMBER UNIT` or `METRIC > NUMBER UNIT`. `METRIC@FLOW` bounds the metric of one flow. The unit
    /// suffix of a metric may be omitted: `mean_rtt` means `mean_rtt_ms`. `p95(rtt)` is the 95th percentile of the RTT.
    /// Fails if the text is not an assertion.
    pub fn parse(text: &str) -> Result<Assertion, AssertionError> {
        let full = |name: &str| match (Quantile::parse(name), named(name)) {
            (Some(quantile), _) => Some(quantile.name()),
            (None, Some(quantity)) => Some(quantity.name().to_owned()),
            (None, None) => None,
        };
        let bound = Bound::parse(text, full, names)?;
        let left = bound.written.split(['<', '>', '@']).next().unwrap_or_default().trim();
        let number = match (Quantile::parse(left), named(left)) {
            (Some(quantile), _) => AssertedNumber::Quantile(quantile),
            (None, Some(quantity)) => AssertedNumber::Quantity(quantity),
            (None, None) => {
                return Err(AssertionError {
                    message: format!("unknown metric `{left}`"),
                    help: format!("one of: {}", names()),
                });
            }
        };
        Ok(Assertion { bound, number })
    }

    /// Returns the name of the flow or class after `@`. Returns `None` if the assertion has no `@`.
    pub fn flow(&self) -> Option<&str> {
        self.bound.at.as_deref()
    }

    /// Whether the check of the assertion needs samples of every repetition.
    pub fn needs_samples(&self) -> bool {
        matches!(self.number, AssertedNumber::Quantile(quantile) if quantile.needs_samples())
    }

    /// Returns the value of the asserted number in a repetition. Returns `None` if the number is undefined.
    pub fn of(&self, outcome: &Outcome, samples: Option<&Samples>) -> Option<f64> {
        match (self.number, self.flow()) {
            (AssertedNumber::Quantity(quantity), Some(flow)) => quantity.of_flow(outcome, flow),
            (AssertedNumber::Quantity(quantity), None) => quantity.of_all(outcome),
            (AssertedNumber::Quantile(quantile), flow) => quantile.of(outcome, samples, flow),
        }
    }
}

fn named(name: &str) -> Option<Quantity> {
    Quantity::named(name).or_else(|| Quantity::all().find(|quantity| stem(quantity.name()) == name))
}

fn names() -> String {
    let all: Vec<&str> = Quantity::all().map(|quantity| stem(quantity.name())).collect();
    format!("{}; percentiles: p50, p95, p99 … of {}", all.join(", "), quantile::NAMES.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_and_percentiles_are_read() {
        let read = |text: &str| {
            Assertion::parse(text).map(|it| (it.bound.metric.clone(), it.bound.bound, it.needs_samples()))
        };
        assert_eq!(read("goodput > 5 Mbit/s"), Ok(("goodput_kbps".into(), 5000.0, false)));
        assert_eq!(read("p95(rtt) < 0.1 s"), Ok(("p95(rtt)_ms".into(), 100.0, true)));
        assert_eq!(read("p99.9( queue_delay )@bulk < 5 ms"), Ok(("p99.9(queue_delay)_ms".into(), 5.0, true)));
        assert_eq!(read("p50(completion) < 200 ms"), Ok(("p50(completion)_s".into(), 0.2, false)));
        for wrong in
            ["p95(goodput) > 1 ms", "p0(rtt) < 1 ms", "p100(rtt) < 1 ms", "px(rtt) < 1 ms", "p95(rtt < 1 ms"]
        {
            assert!(read(wrong).is_err_and(|refusal| refusal.help.contains("percentiles")), "{wrong}");
        }
        assert!(
            Assertion::parse("p95(rtt) < 5")
                .is_err_and(|refusal| refusal.message.contains("unit is missing"))
        );
    }
}
