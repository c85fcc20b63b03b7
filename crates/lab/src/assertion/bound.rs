//! Bound on a number (`goodput > 5 Mbit/s`), and comparison of measurements with the bound.

use crate::stats::Estimate;
use serde_json::{Value, json};

/// Parsed bound.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Text of the assertion, as the user wrote it.
    pub written: String,
    /// Name of the metric, with its unit.
    pub metric: String,
    /// Name of the flow or class after `@`. `None` if the assertion has no `@`.
    pub at: Option<String>,
    /// `true` for `>`: the metric must be above the bound. `false` for `<`: the metric must be below the bound.
    pub is_above: bool,
    /// Bound, in the unit of the metric.
    pub bound: f64,
}

/// Error in an assertion's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionError {
    /// Error message.
    pub message: String,
    /// Hint that helps to correct the text.
    pub help: String,
}

/// Outcome of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundStatus {
    /// The whole 95 % interval is on the required side of the bound.
    Holds,
    /// The whole 95 % interval is on the wrong side of the bound, or the metric is undefined in at least one
    /// repetition.
    Fails,
    /// The interval includes the bound, or no interval exists because a scenario with randomness was run only once.
    Open,
}

/// Bound after its comparison with the measurements.
#[derive(Clone, Debug)]
pub struct CheckedBound {
    /// Text of the assertion, as the user wrote it.
    pub written: String,
    /// Outcome.
    pub status: BoundStatus,
    /// Mean and interval of the measured values, in the unit of the metric. `None` if no repetition defines the metric.
    pub measured: Option<Estimate>,
    /// Name of the metric, with its unit.
    pub metric: String,
    /// Number of repetitions in which the metric is undefined.
    pub undefined: usize,
}

/// Units that a bound may have, for each unit suffix of metric names. The factor converts a number from the bound's
/// unit to the unit of the suffix.
const UNITS: [(&str, &[(&str, f64)]); 5] = [
    ("_kbps", &[("bit/s", 1e-3), ("kbit/s", 1.0), ("Mbit/s", 1e3), ("Gbit/s", 1e6)]),
    ("_ms", &[("us", 1e-3), ("ms", 1.0), ("s", 1e3)]),
    ("_s", &[("us", 1e-6), ("ms", 1e-3), ("s", 1.0)]),
    ("_bytes", &[("bytes", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9)]),
    ("_pct", &[("%", 1.0)]),
];

impl Bound {
    /// Parses `METRIC < NUMBER UNIT` or `METRIC > NUMBER UNIT`. `@NAME` may follow the metric. `metric` returns the
    /// full name of a metric, with its unit suffix. `known` returns a list of all names.
    ///
    /// # Errors
    /// Fails if the text is not an assertion.
    pub fn parse(
        text: &str,
        metric: impl Fn(&str) -> Option<String>,
        known: impl Fn() -> String,
    ) -> Result<Bound, AssertionError> {
        let refuse = |message: String, help: String| Err(AssertionError { message, help });
        let example = "examples: goodput > 5 Mbit/s, p95(rtt) < 100 ms, timeouts@bulk < 1";
        let Some(sign) = text.find(['<', '>']) else {
            return refuse(format!("`{}` has neither < nor >", text.trim()), example.into());
        };
        let is_above = text[sign..].starts_with('>');
        let left = text[..sign].trim();
        let right = text[sign + 1..].strip_prefix('=').unwrap_or(&text[sign + 1..]).trim();
        let (name, at) = match left.split_once('@') {
            Some((name, at)) => (name.trim(), Some(at.trim().to_owned())),
            None => (left, None),
        };
        let Some(metric) = metric(name) else {
            return refuse(format!("unknown metric `{name}`"), format!("one of: {}", known()));
        };
        let digits =
            right.find(|c: char| !(c.is_ascii_digit() || ".+-eE".contains(c))).unwrap_or(right.len());
        let (number, unit) = (right[..digits].trim(), right[digits..].trim());
        let number: f64 = match number.parse() {
            Ok(number) if f64::is_finite(number) => number,
            _ => return refuse(format!("`{right}` does not begin with a number"), example.into()),
        };
        let times = match (units(&metric), unit) {
            (None, "") => 1.0,
            (None, unit) => {
                return refuse(format!("`{metric}` has no unit: remove `{unit}`"), example.into());
            }
            (Some(units), unit) => match units.iter().find(|(known, _)| *known == unit) {
                Some((_, times)) => *times,
                None => {
                    let known: Vec<&str> = units.iter().map(|(known, _)| *known).collect();
                    let missing = if unit.is_empty() {
                        "the unit is missing".into()
                    } else {
                        format!("`{unit}` is not a unit of this metric")
                    };
                    return refuse(format!("{metric}: {missing}"), format!("one of: {}", known.join(", ")));
                }
            },
        };
        Ok(Bound { written: text.trim().to_owned(), metric, at, is_above, bound: number * times })
    }

    /// Compares the bound with the values of all repetitions. A value is `None` if the metric is undefined in the
    /// repetition. `is_exact` is true if the scenario has no randomness; one value then suffices.
    pub fn check(&self, values: &[Option<f64>], is_exact: bool) -> CheckedBound {
        let defined: Vec<f64> = values.iter().copied().flatten().collect();
        let undefined = values.len() - defined.len();
        let measured = Estimate::of(&defined);
        let status = match &measured {
            _ if undefined > 0 => BoundStatus::Fails,
            None => BoundStatus::Fails,
            Some(estimate) => self.status(estimate, is_exact),
        };
        CheckedBound {
            written: self.written.clone(),
            status,
            measured,
            metric: self.metric.clone(),
            undefined,
        }
    }

    fn status(&self, Estimate { mean, ci95, runs }: &Estimate, is_exact: bool) -> BoundStatus {
        let [low, high] = match (runs, ci95) {
            (1, _) if is_exact => [*mean; 2],
            (_, Some(ci95)) => *ci95,
            (_, None) => return BoundStatus::Open,
        };
        let (inner, outer) = if self.is_above {
            (low - self.bound, high - self.bound)
        } else {
            (self.bound - high, self.bound - low)
        };
        match () {
            () if inner > 0.0 => BoundStatus::Holds,
            () if outer <= 0.0 => BoundStatus::Fails,
            () => BoundStatus::Open,
        }
    }
}

impl CheckedBound {
    /// Returns the outcome as one line of text.
    pub fn line(&self) -> String {
        let outcome = match (self.status, self.undefined) {
            (BoundStatus::Holds, _) => "holds",
            (BoundStatus::Fails, 0) => "fails",
            (BoundStatus::Fails, _) => "fails: some runs do not define the metric",
            (BoundStatus::Open, _) => "open: needs more --runs",
        };
        let measured = self.measured.as_ref().map_or_else(
            || "undefined".to_owned(),
            |Estimate { mean, ci95, .. }| match ci95 {
                Some([low, high]) => format!("{mean:.6} ({low:.6} to {high:.6})"),
                None => format!("{mean:.6}"),
            },
        );
        format!("assert {}: {outcome}; {} {measured}", self.written, self.metric)
    }

    /// Returns the outcome as JSON.
    pub fn value(&self) -> Value {
        let holds = match self.status {
            BoundStatus::Holds => Value::Bool(true),
            BoundStatus::Fails => Value::Bool(false),
            BoundStatus::Open => Value::Null,
        };
        let ends = |estimate: &Estimate| estimate.ci95.map_or([None; 2], |ends| ends.map(Some));
        let measured =
            self.measured.as_ref().map(|it| json!({ "mean": it.mean, "ci95": ends(it), "runs": it.runs }));
        json!({ "assertion": self.written, "holds": holds, "metric": self.metric, "measured": measured })
    }
}

/// Returns the metric's name without its unit suffix.
pub fn stem(metric: &str) -> &str {
    UNITS.iter().find_map(|(ending, _)| metric.strip_suffix(ending)).unwrap_or(metric)
}

fn units(metric: &str) -> Option<&'static [(&'static str, f64)]> {
    UNITS.iter().find(|(ending, _)| metric.ends_with(ending)).map(|(_, units)| *units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, half: f64, runs: usize) -> Estimate {
        Estimate { mean, ci95: half.is_finite().then_some([mean - half, mean + half]), runs }
    }

    fn read(text: &str) -> Result<Bound, AssertionError> {
        let known = ["goodput_kbps", "mean_rtt_ms", "timeouts"];
        let metric =
            |name: &str| known.iter().find(|it| **it == name || stem(it) == name).map(|it| (*it).to_owned());
        Bound::parse(text, metric, || known.map(stem).join(", "))
    }

    #[test]
    fn the_whole_interval_has_to_be_on_its_side() {
        let above = read("goodput > 5 Mbit/s").unwrap();
        assert_eq!((above.metric.as_str(), above.bound), ("goodput_kbps", 5000.0));
        assert_eq!(above.status(&estimate(5200.0, 100.0, 10), false), BoundStatus::Holds);
        assert_eq!(above.status(&estimate(5050.0, 100.0, 10), false), BoundStatus::Open);
        assert_eq!(above.status(&estimate(4800.0, 100.0, 10), false), BoundStatus::Fails);
        let below = read("mean_rtt_ms<=0.1s").unwrap();
        assert_eq!((below.is_above, below.bound), (false, 100.0));
        assert_eq!(below.status(&estimate(80.0, 10.0, 10), false), BoundStatus::Holds);
        assert_eq!(below.status(&estimate(120.0, 10.0, 10), false), BoundStatus::Fails);
        // A single run decides only if the scenario has no randomness (`is_exact`).
        assert_eq!(below.status(&estimate(80.0, f64::INFINITY, 1), false), BoundStatus::Open);
        assert_eq!(below.status(&estimate(80.0, f64::INFINITY, 1), true), BoundStatus::Holds);
        assert_eq!(below.check(&[Some(80.0), None], true).status, BoundStatus::Fails);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        let refused = |text: &str| read(text).unwrap_err();
        assert!(refused("goodput 5 Mbit/s").message.contains("neither < nor >"));
        assert!(refused("godput > 5 Mbit/s").help.contains("goodput"));
        assert!(refused("goodput > 5").message.contains("unit is missing"));
        assert_eq!(refused("goodput > 5 ms").help, "one of: bit/s, kbit/s, Mbit/s, Gbit/s");
        assert!(refused("goodput > fast").message.contains("number"));
        assert!(refused("timeouts < 3 ms").message.contains("has no unit"));
        assert_eq!(read("timeouts@bulk < 1").unwrap().at.as_deref(), Some("bulk"));
    }
}
