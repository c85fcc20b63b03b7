//! Path of a run: PATH, or the flags `--down`, `--up` and `--delay`, which resemble the flags of Mahimahi.

use crate::failure::Failure;
use crate::scenario_args::ScenarioArgs;
use crate::values::Assignment;
use clap::Args;
use lasthop_base::Value;
use lasthop_net::link::Config as Direction;
use lasthop_scenario::Scenario;

/// PATH or `--down`, `--up` and `--delay`, and `--set`.
#[derive(Args)]
pub(super) struct PathArgs {
    /// Scenario file, name of a ready path, or one line: rate=10Mbit/s,rtt=20ms,loss=1% or lte,loss=1%
    #[arg(required_unless_present_any = ["down", "up", "delay"])]
    path: Option<String>,
    /// Set a value of the scenario: recovery=reno, link.wireless.down.rate=4Mbit/s; PATH= removes the value
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<Assignment>,
    /// Instead of PATH: trace of the downlink rate, with --up (in one line: trace=FILE,up_trace=FILE)
    #[arg(long, value_name = "FILE", requires = "up", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    down: Option<String>,
    /// Instead of PATH: trace of the uplink rate, with --down
    #[arg(long, value_name = "FILE", requires = "down", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    up: Option<String>,
    /// Instead of PATH: one-way delay, with --down and --up or alone (in one line: one_way_delay=TIME)
    #[arg(long, value_name = "TIME")]
    delay: Option<String>,
}

const NO_LIMITS: [&str; 2] = ["rate=10Tbit/s", "queue=unlimited"];

impl PathArgs {
    pub(super) fn source(&self) -> Result<ScenarioArgs, Failure> {
        let flags = [("--down", &self.down), ("--up", &self.up), ("--delay", &self.delay)];
        let given = flags.into_iter().find(|(_, value)| value.is_some());
        let path = match (&self.path, given) {
            (Some(path), Some((flag, _))) => {
                return Err(Failure::bad_input(
                    format!("the path is given twice: by `{path}` and by {flag}"),
                    "remove one; in one line: trace=FILE,up_trace=FILE,one_way_delay=TIME,loss=1%",
                ));
            }
            (Some(path), None) => path.clone(),
            (None, _) => self.line(),
        };
        Ok(ScenarioArgs { path, set: self.set.clone() })
    }

    /// Returns a note if a queue is limited and `--down` is given, because queues in Mahimahi are unlimited.
    pub(super) fn note(&self, scenario: &Scenario) -> Option<String> {
        self.down.as_ref()?;
        let is_limited = |direction: &Direction| {
            let limits =
                direction.queue.values.iter().filter(|(name, _)| ["packets", "bytes"].contains(name));
            limits.map(|(_, value)| value).any(|value| !matches!(value, Value::Count(0) | Value::Bytes(0)))
        };
        let directions = scenario.links.iter().flat_map(|link| [&link.down, &link.up]);
        directions.into_iter().any(is_limited).then(|| {
            "note: each queue is limited (1 bdp unless set); for unlimited queues as in Mahimahi: --set \
             queue=unlimited --set up_queue=unlimited"
                .to_owned()
        })
    }

    fn line(&self) -> String {
        let mut items = match (&self.down, &self.up) {
            (Some(down), Some(up)) => {
                vec![format!("trace={}", quoted(down)), format!("up_trace={}", quoted(up))]
            }
            _ => NO_LIMITS.map(str::to_owned).to_vec(),
        };
        items.extend(self.delay.as_ref().map(|delay| format!("one_way_delay={delay}")));
        items.join(",")
    }
}

/// Formats a file name as a value in a one-line scenario, in quotes if necessary.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("{name:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(down: Option<&str>, delay: Option<&str>) -> PathArgs {
        let [down, delay] = [down, delay].map(|value| value.map(str::to_owned));
        let up = down.clone().map(|name| format!("up-{name}"));
        PathArgs { path: None, set: Vec::new(), down, up, delay }
    }

    #[test]
    fn flags_are_a_line() {
        assert_eq!(given(Some("a"), None).line(), "trace=a,up_trace=up-a");
        assert_eq!(
            given(Some("a, b"), Some("20ms")).line(),
            r#"trace="a, b",up_trace="up-a, b",one_way_delay=20ms"#
        );
        assert_eq!(given(None, Some("5ms")).line(), "rate=10Tbit/s,queue=unlimited,one_way_delay=5ms");
    }
}
