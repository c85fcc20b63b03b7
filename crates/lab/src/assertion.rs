//! What a run has to fulfil: `goodput > 5 Mbit/s`, judged by the whole 95 % interval.
//!
//! It holds if the interval lies on its side of the bound, fails if it lies on the other, and is open otherwise: more
//! repetitions would tell. What is the same in every run is judged by its value.

use crate::compare::Quantity;
use crate::repeat::estimate_by;
use crate::stats::Estimate;
use lasthop_sim::Outcome;
use serde_json::{Value, json};

/// A bound on a number.
#[derive(Clone)]
pub struct Assertion {
    /// As it was written.
    pub written: String,
    quantity: Quantity,
    /// Of this flow; `None`: of all.
    flow: Option<String>,
    /// Whether it has to be above the bound, else below.
    is_above: bool,
    /// In the metric's own unit.
    bound: f64,
}

/// Why a text is no assertion, and what would be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

/// How an assertion stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The whole interval is where it has to be.
    Holds,
    /// None of it is, or a run does not define the number.
    Fails,
    /// The interval has the bound in it, or one run of several possible ones is too few.
    Open,
}

/// An assertion with what was measured.
#[derive(Clone, Debug)]
pub struct Judged {
    /// As it was written.
    pub written: String,
    /// How it stands.
    pub standing: Standing,
    /// What was measured, in the metric's own unit.
    pub measured: Option<Estimate>,
    /// The metric's name, with its unit.
    pub metric: &'static str,
    /// Repetitions that do not define it.
    pub undefined: usize,
}

/// Units by the ending of a metric's name: how many of the metric's own unit each is.
const UNITS: [(&str, &[(&str, f64)]); 5] = [
    ("_kbps", &[("bit/s", 1e-3), ("kbit/s", 1.0), ("Mbit/s", 1e3), ("Gbit/s", 1e6)]),
    ("_ms", &[("us", 1e-3), ("ms", 1.0), ("s", 1e3)]),
    ("_s", &[("us", 1e-6), ("ms", 1e-3), ("s", 1.0)]),
    ("_bytes", &[("bytes", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9)]),
    ("_pct", &[("%", 1.0)]),
];

impl Assertion {
    /// Reads `METRIC < NUMBER UNIT` or `METRIC > NUMBER UNIT`; `METRIC@FLOW` is that of one flow. A metric's name may
    /// leave its unit out: `mean_rtt` is `mean_rtt_ms`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Assertion, Refusal> {
        let refuse = |message: String, help: String| Err(Refusal { message, help });
        let example = "such as: goodput > 5 Mbit/s, mean_rtt < 100 ms, timeouts@bulk < 1";
        let Some(at) = text.find(['<', '>']) else {
            return refuse(format!("`{}` has neither < nor >", text.trim()), example.into());
        };
        let is_above = text[at..].starts_with('>');
        let left = text[..at].trim();
        let right = text[at + 1..].strip_prefix('=').unwrap_or(&text[at + 1..]).trim();
        let (name, flow) = match left.split_once('@') {
            Some((name, flow)) => (name.trim(), Some(flow.trim().to_owned())),
            None => (left, None),
        };
        let Some(quantity) = named(name) else {
            return refuse(format!("`{name}` is no metric"), format!("one of: {}", names()));
        };
        let digits =
            right.find(|c: char| !(c.is_ascii_digit() || ".+-eE".contains(c))).unwrap_or(right.len());
        let (number, unit) = (right[..digits].trim(), right[digits..].trim());
        let number: f64 = match number.parse() {
            Ok(number) if f64::is_finite(number) => number,
            _ => return refuse(format!("`{right}` does not begin with a number"), example.into()),
        };
        let times = match (units(quantity), unit) {
            (None, "") => 1.0,
            (None, unit) => {
                return refuse(
                    format!("`{}` has no unit, but here is `{unit}`", quantity.name()),
                    example.into(),
                );
            }
            (Some(units), unit) => match units.iter().find(|(known, _)| *known == unit) {
                Some((_, times)) => *times,
                None => {
                    let known: Vec<&str> = units.iter().map(|(known, _)| *known).collect();
                    let missing = if unit.is_empty() {
                        "the unit is missing".into()
                    } else {
                        format!("`{unit}` is no unit of it")
                    };
                    return refuse(
                        format!("{}: {missing}", quantity.name()),
                        format!("one of: {}", known.join(", ")),
                    );
                }
            },
        };
        Ok(Assertion { written: text.trim().to_owned(), quantity, flow, is_above, bound: number * times })
    }

    /// The flow that it names, if it names one.
    pub fn flow(&self) -> Option<&str> {
        self.flow.as_deref()
    }

    /// How it stands after these repetitions. `is_exact`: nothing is random, so that one value is known.
    pub fn judge(&self, outcomes: &[Outcome], is_exact: bool) -> Judged {
        let of = |outcome: &Outcome| match &self.flow {
            Some(flow) => self.quantity.of_flow(outcome, flow),
            None => self.quantity.of_all(outcome),
        };
        let undefined = outcomes.iter().filter(|outcome| of(outcome).is_none()).count();
        let measured = estimate_by(outcomes, of);
        let standing = match &measured {
            _ if undefined > 0 => Standing::Fails,
            None => Standing::Fails,
            Some(estimate) => self.standing(estimate, is_exact),
        };
        Judged { written: self.written.clone(), standing, measured, metric: self.quantity.name(), undefined }
    }

    fn standing(&self, Estimate { mean, ci95, runs }: &Estimate, is_exact: bool) -> Standing {
        let [low, high] = match runs {
            1 if is_exact => [*mean; 2],
            1 => return Standing::Open,
            _ => *ci95,
        };
        let (inner, outer) = if self.is_above {
            (low - self.bound, high - self.bound)
        } else {
            (self.bound - high, self.bound - low)
        };
        match () {
            () if inner > 0.0 => Standing::Holds,
            () if outer <= 0.0 => Standing::Fails,
            () => Standing::Open,
        }
    }
}

impl Judged {
    /// One line for people.
    pub fn line(&self) -> String {
        let stands = match (self.standing, self.undefined) {
            (Standing::Holds, _) => "holds",
            (Standing::Fails, 0) => "fails",
            (Standing::Fails, _) => "fails: not every run defines it",
            (Standing::Open, _) => "open: more --runs would tell",
        };
        let measured = self.measured.as_ref().map_or_else(
            || "undefined".to_owned(),
            |Estimate { mean, ci95: [low, high], .. }| match low.is_finite() && high.is_finite() {
                true => format!("{mean:.6} ({low:.6} to {high:.6})"),
                false => format!("{mean:.6}"),
            },
        );
        format!("assert {}: {stands}; {} {measured}", self.written, self.metric)
    }

    /// The same for programs.
    pub fn value(&self) -> Value {
        let holds = match self.standing {
            Standing::Holds => Value::Bool(true),
            Standing::Fails => Value::Bool(false),
            Standing::Open => Value::Null,
        };
        let measured =
            self.measured.as_ref().map(|it| json!({ "mean": it.mean, "ci95": it.ci95, "runs": it.runs }));
        json!({ "assertion": self.written, "holds": holds, "metric": self.metric, "measured": measured })
    }
}

/// The metric of this name, with its unit or without.
fn named(name: &str) -> Option<Quantity> {
    Quantity::named(name).or_else(|| Quantity::all().find(|quantity| stem(*quantity) == name))
}

fn stem(quantity: Quantity) -> &'static str {
    let name = quantity.name();
    UNITS.iter().find_map(|(ending, _)| name.strip_suffix(ending)).unwrap_or(name)
}

fn units(quantity: Quantity) -> Option<&'static [(&'static str, f64)]> {
    UNITS.iter().find(|(ending, _)| quantity.name().ends_with(ending)).map(|(_, units)| *units)
}

fn names() -> String {
    Quantity::all().map(stem).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, half: f64, runs: usize) -> Estimate {
        Estimate { mean, ci95: [mean - half, mean + half], runs }
    }

    #[test]
    fn the_whole_interval_has_to_be_on_its_side() {
        let above = Assertion::parse("goodput > 5 Mbit/s").ok().unwrap();
        assert_eq!((above.quantity.name(), above.bound), ("goodput_kbps", 5000.0));
        assert_eq!(above.standing(&estimate(5200.0, 100.0, 10), false), Standing::Holds);
        assert_eq!(above.standing(&estimate(5050.0, 100.0, 10), false), Standing::Open);
        assert_eq!(above.standing(&estimate(4800.0, 100.0, 10), false), Standing::Fails);
        let below = Assertion::parse("mean_rtt_ms<=0.1s").ok().unwrap();
        assert_eq!((below.is_above, below.bound), (false, 100.0));
        assert_eq!(below.standing(&estimate(80.0, 10.0, 10), false), Standing::Holds);
        assert_eq!(below.standing(&estimate(120.0, 10.0, 10), false), Standing::Fails);
        // One run decides only where nothing is random.
        assert_eq!(below.standing(&estimate(80.0, f64::INFINITY, 1), false), Standing::Open);
        assert_eq!(below.standing(&estimate(80.0, f64::INFINITY, 1), true), Standing::Holds);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        let refused = |text: &str| Assertion::parse(text).err().unwrap();
        assert!(refused("goodput 5 Mbit/s").message.contains("neither < nor >"));
        assert!(refused("godput > 5 Mbit/s").help.contains("goodput"));
        assert!(refused("goodput > 5").message.contains("unit is missing"));
        assert_eq!(refused("goodput > 5 ms").help, "one of: bit/s, kbit/s, Mbit/s, Gbit/s");
        assert!(refused("goodput > fast").message.contains("number"));
        assert!(refused("timeouts < 3 ms").message.contains("has no unit"));
        assert_eq!(Assertion::parse("timeouts@bulk < 1").ok().unwrap().flow(), Some("bulk"));
    }
}
