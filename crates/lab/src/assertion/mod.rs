//! What a run has to fulfil: `goodput > 5 Mbit/s`, `p95(rtt) < 100 ms`, judged by the whole 95 % interval.
//!
//! It holds if the interval lies on its side of the bound, fails if it lies on the other, and is open otherwise: more
//! repetitions would tell. What is the same in every run is judged by its value.
//!
//! * [`Bound`]: what was written, and how what was measured stands to it.
//! * `quantile`: percentiles of round trips, delays in queues and completions.
//! * [`junit`]: all of it as continuous integration reads it.

mod bound;
pub mod junit;
mod quantile;

pub use bound::{Bound, Judged, Refusal, Standing, stem};

use crate::compare::Quantity;
use lasthop_sim::{Outcome, Samples};
use quantile::Quantile;

/// A bound on a number of a run.
#[derive(Clone)]
pub struct Assertion {
    /// What was written.
    pub bound: Bound,
    what: What,
}

/// Which number.
#[derive(Clone, Copy)]
enum What {
    Quantity(Quantity),
    Quantile(Quantile),
}

impl Assertion {
    /// Reads `METRIC < NUMBER UNIT` or `METRIC > NUMBER UNIT`; `METRIC@FLOW` is that of one flow. A metric's name may
    /// leave its unit out: `mean_rtt` is `mean_rtt_ms`. `p95(rtt)` is a percentile.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Assertion, Refusal> {
        let full = |name: &str| match (Quantile::parse(name), named(name)) {
            (Some(quantile), _) => Some(quantile.name()),
            (None, Some(quantity)) => Some(quantity.name().to_owned()),
            (None, None) => None,
        };
        let bound = Bound::parse(text, full, names)?;
        let left = bound.written.split(['<', '>', '@']).next().unwrap_or_default().trim();
        let what = match (Quantile::parse(left), named(left)) {
            (Some(quantile), _) => What::Quantile(quantile),
            (None, Some(quantity)) => What::Quantity(quantity),
            (None, None) => {
                return Err(Refusal {
                    message: format!("`{left}` is no metric"),
                    help: format!("one of: {}", names()),
                });
            }
        };
        Ok(Assertion { bound, what })
    }

    /// The flow that it names, if it names one.
    pub fn flow(&self) -> Option<&str> {
        self.bound.at.as_deref()
    }

    /// Whether every repetition has to be sampled for it.
    pub fn needs_samples(&self) -> bool {
        matches!(self.what, What::Quantile(quantile) if quantile.needs_samples())
    }

    /// What a repetition says; `None` if it does not define it.
    pub fn of(&self, outcome: &Outcome, samples: Option<&Samples>) -> Option<f64> {
        match (self.what, self.flow()) {
            (What::Quantity(quantity), Some(flow)) => quantity.of_flow(outcome, flow),
            (What::Quantity(quantity), None) => quantity.of_all(outcome),
            (What::Quantile(quantile), flow) => quantile.of(outcome, samples, flow),
        }
    }
}

/// The metric of this name, with its unit or without.
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
