//! Whether the programs at both ends got a processor when they wanted one: a run in which they did not measures the
//! machine, not the path.
//!
//! That they wait for microseconds is the usual case: the path itself runs before them. So the kernel's account is read
//! every 20 ms, and a wait counts where a side stood still for more than half of such a stretch: for 10 ms or more.

use lasthop_os::group::Group;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Both sides, as far as there are control groups for them.
pub(super) struct Sides {
    command: Option<Side>,
    server: Option<Side>,
    looked: Instant,
}

/// The programs of one side.
struct Side {
    group: Group,
    /// The kernel's account when it was read last.
    stalled: Duration,
    waited: Duration,
}

/// For how long the programs of each side, all of them at once, waited for a processor; `None`: that cannot be known.
#[derive(Clone, Copy, Default)]
pub(super) struct Waits {
    command: Option<Duration>,
    server: Option<Duration>,
    /// While the command ran.
    took: Duration,
}

/// So often the account is read.
const STRETCH: Duration = Duration::from_millis(20);
/// So many percent of the time a side may wait …
const SHARE_PCT: f64 = 5.0;
/// … and so long in any case: programs begin, and short commands are over soon.
const ALWAYS: Duration = Duration::from_millis(50);

impl Side {
    fn new(role: &str) -> Option<Side> {
        Some(Side { group: Group::create(role)?, stalled: Duration::ZERO, waited: Duration::ZERO })
    }

    /// `span` has passed since the last look.
    fn look(&mut self, span: Duration) {
        let Some(stalled) = self.group.stalled() else { return };
        let stalled = Duration::from_nanos(stalled.as_nanos());
        self.waited += counted(stalled.saturating_sub(self.stalled), span);
        self.stalled = stalled;
    }
}

/// What counts of a wait within a stretch of time.
fn counted(waited: Duration, span: Duration) -> Duration {
    if waited * 2 > span { waited } else { Duration::ZERO }
}

impl Sides {
    pub(super) fn new(has_server: bool) -> Sides {
        Sides {
            command: Side::new("command"),
            server: if has_server { Side::new("listener") } else { None },
            looked: Instant::now(),
        }
    }

    pub(super) fn command(&self) -> Option<&Group> {
        self.command.as_ref().map(|side| &side.group)
    }

    pub(super) fn server(&self) -> Option<&Group> {
        self.server.as_ref().map(|side| &side.group)
    }

    /// What was before does not count.
    pub(super) fn begin(&mut self) {
        self.read(Duration::ZERO);
        self.sides().for_each(|side| side.waited = Duration::ZERO);
    }

    /// To be called often while the command runs.
    pub(super) fn look(&mut self) {
        let span = self.looked.elapsed();
        if span >= STRETCH {
            self.read(span);
        }
    }

    /// Waits since it began, `took` ago.
    pub(super) fn waits(&mut self, took: Duration) -> Waits {
        let waited = |side: &Option<Side>| side.as_ref().map(|side| side.waited);
        Waits { command: waited(&self.command), server: waited(&self.server), took }
    }

    fn read(&mut self, span: Duration) {
        self.looked = Instant::now();
        self.sides().for_each(|side| side.look(span));
    }

    fn sides(&mut self) -> impl Iterator<Item = &mut Side> {
        self.command.iter_mut().chain(&mut self.server)
    }
}

impl Waits {
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
        Waits { command: Some(millis(command_ms)), server: None, took: millis(took_ms) }
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

    #[test]
    fn many_short_waits_are_none() {
        let millis = Duration::from_millis;
        assert_eq!(counted(millis(9), millis(20)), Duration::ZERO);
        assert_eq!(counted(millis(11), millis(20)), millis(11));
    }
}
