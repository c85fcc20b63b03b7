//! Whether the programs at both ends got a processor when they wanted one: a run in which they did not measures the
//! machine, not the path.

use lasthop_os::group::Group;
use serde_json::{Value, json};
use std::time::Duration;

/// The groups of both sides, if there can be such.
pub(super) struct Sides {
    command: Option<Group>,
    server: Option<Group>,
}

/// For how long the programs of each side, all of them at once, waited for a processor; `None`: that cannot be known.
#[derive(Clone, Copy, Default)]
pub(super) struct Waits {
    command: Option<Duration>,
    server: Option<Duration>,
    /// While the command ran.
    took: Duration,
}

/// So many percent of the time a side may wait …
const SHARE_PCT: f64 = 5.0;
/// … and so long in any case: programs begin, and short commands are over soon.
const ALWAYS: Duration = Duration::from_millis(50);

impl Sides {
    pub(super) fn new(has_server: bool) -> Sides {
        Sides {
            command: Group::create("command"),
            server: if has_server { Group::create("listener") } else { None },
        }
    }

    pub(super) fn command(&self) -> Option<&Group> {
        self.command.as_ref()
    }

    pub(super) fn server(&self) -> Option<&Group> {
        self.server.as_ref()
    }

    /// Waits so far; the difference of two is that of a span of time.
    pub(super) fn waits(&self) -> Waits {
        let stalled =
            |group: &Option<Group>| Some(Duration::from_nanos(group.as_ref()?.stalled()?.as_nanos()));
        Waits { command: stalled(&self.command), server: stalled(&self.server), took: Duration::ZERO }
    }
}

impl Waits {
    /// What came to it since then, which took so long.
    pub(super) fn since(&self, before: &Waits, took: Duration) -> Waits {
        let more = |now: Option<Duration>, then: Option<Duration>| Some(now?.saturating_sub(then?));
        Waits { command: more(self.command, before.command), server: more(self.server, before.server), took }
    }

    fn sides(&self) -> [(&'static str, Option<Duration>); 2] {
        [("the command", self.command), ("the server", self.server)]
    }

    fn pct(&self, waited: Duration) -> f64 {
        100.0 * waited.as_secs_f64() / self.took.as_secs_f64().max(1e-9)
    }

    /// Why the run may not be trusted; empty if it may.
    pub(super) fn complaints(&self) -> Vec<String> {
        let waited = self.sides().into_iter().filter_map(|(side, waited)| Some((side, waited?)));
        let too_long = waited.filter(|(_, waited)| *waited > ALWAYS && self.pct(*waited) > SHARE_PCT);
        too_long
            .map(|(side, waited)| {
                format!(
                    "{side} waited for a processor for {:.1} % of the time ({SHARE_PCT} % are allowed): others had it",
                    self.pct(waited)
                )
            })
            .collect()
    }

    /// In percent of the time, `null` where it cannot be known.
    pub(super) fn object(&self) -> Value {
        let pct = |waited: Option<Duration>| json!(waited.map(|waited| self.pct(waited)));
        json!({ "command": pct(self.command), "server": pct(self.server) })
    }

    /// For people.
    pub(super) fn words(&self) -> String {
        let known: Vec<String> = self
            .sides()
            .into_iter()
            .filter_map(|(side, waited)| Some(format!("{side} {:.1} %", self.pct(waited?))))
            .collect();
        match known.is_empty() {
            true => "how long programs waited for a processor is not known here".to_owned(),
            false => format!("waited for a processor: {} of the time", known.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(command_ms: u64, took_ms: u64) -> Waits {
        let millis = Duration::from_millis;
        let before = Waits { command: Some(millis(7)), server: None, took: Duration::ZERO };
        let after = Waits { command: Some(millis(7 + command_ms)), ..before };
        after.since(&before, millis(took_ms))
    }

    #[test]
    fn a_side_may_wait_for_a_twentieth_of_the_time_or_a_moment() {
        assert_eq!(waits(400, 10_000).complaints(), Vec::<String>::new());
        assert_eq!(waits(40, 100).complaints(), Vec::<String>::new());
        let complaints = waits(600, 10_000).complaints();
        assert!(complaints[0].starts_with("the command waited for a processor for 6.0 %"), "{complaints:?}");
        assert_eq!(waits(600, 10_000).object(), json!({ "command": 6.0, "server": null }));
        assert!(waits(600, 10_000).words().contains("the command 6.0 % of the time"));
        assert!(Waits::default().words().contains("not known"));
    }
}
