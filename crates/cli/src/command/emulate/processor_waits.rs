//! Measures the time for which the programs at each end waited for a processor. If waits are long, the run's results
//! depend on the machine instead of the path.
//!
//! Waits of some microseconds are normal, because the process that emulates the path has real-time priority. The
//! kernel's counter of stall time (PSI) is read every 20 ms. A wait counts only if all programs of one end waited for
//! more than half of these 20 ms.

use lasthop_os::control_group::ControlGroup;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Measures the waits of the command and of the server, each including child processes. A field is `None` if the
/// program has no control group.
pub(super) struct WaitMeter {
    command: Option<SideWait>,
    server: Option<SideWait>,
    last_read: Instant,
}

struct SideWait {
    group: ControlGroup,
    /// Total stall time at the last reading of the kernel's counter.
    stalled: Duration,
    /// Sum of the waits that count; see the module's documentation.
    waited: Duration,
}

/// Times for which all programs of one end waited for a processor; a time is `None` if unknown.
#[derive(Clone, Copy, Default)]
pub(super) struct ProcessorWaits {
    command: Option<Duration>,
    server: Option<Duration>,
    took: Duration,
}

const READ_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum share of the run's duration for which the programs of one end may wait, %.
const SHARE_PCT: f64 = 5.0;
/// Total wait that is always allowed. Programs wait more at start-up, so short commands would otherwise exceed
/// [`SHARE_PCT`].
const ALLOWED_WAIT: Duration = Duration::from_millis(50);

impl SideWait {
    fn new(role: &str) -> Option<SideWait> {
        Some(SideWait { group: ControlGroup::create(role)?, stalled: Duration::ZERO, waited: Duration::ZERO })
    }

    /// Reads the kernel's counter. `span` is the time since the last reading.
    fn poll(&mut self, span: Duration) {
        let Some(stalled) = self.group.stalled() else { return };
        let stalled = Duration::from_nanos(stalled.as_nanos());
        self.waited += counted(stalled.saturating_sub(self.stalled), span);
        self.stalled = stalled;
    }
}

/// Returns `waited` if it exceeds half of the interval `span`, otherwise zero.
fn counted(waited: Duration, span: Duration) -> Duration {
    if waited * 2 > span { waited } else { Duration::ZERO }
}

impl WaitMeter {
    pub(super) fn new(has_server: bool) -> WaitMeter {
        WaitMeter {
            command: SideWait::new("command"),
            server: if has_server { SideWait::new("listener") } else { None },
            last_read: Instant::now(),
        }
    }

    pub(super) fn command(&self) -> Option<&ControlGroup> {
        self.command.as_ref().map(|side| &side.group)
    }

    pub(super) fn server(&self) -> Option<&ControlGroup> {
        self.server.as_ref().map(|side| &side.group)
    }

    pub(super) fn begin(&mut self) {
        self.read(Duration::ZERO);
        self.sides().for_each(|side| side.waited = Duration::ZERO);
    }

    /// Reads the kernel's counters if the last reading was at least [`READ_INTERVAL`] ago. Called often while the
    /// command runs.
    pub(super) fn poll(&mut self) {
        let span = self.last_read.elapsed();
        if span >= READ_INTERVAL {
            self.read(span);
        }
    }

    pub(super) fn waits(&mut self, took: Duration) -> ProcessorWaits {
        let waited = |side: &Option<SideWait>| side.as_ref().map(|side| side.waited);
        ProcessorWaits { command: waited(&self.command), server: waited(&self.server), took }
    }

    fn read(&mut self, span: Duration) {
        self.last_read = Instant::now();
        self.sides().for_each(|side| side.poll(span));
    }

    fn sides(&mut self) -> impl Iterator<Item = &mut SideWait> {
        self.command.iter_mut().chain(&mut self.server)
    }
}

impl ProcessorWaits {
    fn sides(&self) -> [(&'static str, Option<Duration>); 2] {
        [("the command", self.command), ("the server", self.server)]
    }

    fn pct(&self, waited: Duration) -> f64 {
        100.0 * waited.as_secs_f64() / self.took.as_secs_f64().max(1e-9)
    }

    pub(super) fn complaints(&self) -> Vec<String> {
        let waited = self.sides().into_iter().filter_map(|(side, waited)| Some((side, waited?)));
        let too_long = waited.filter(|(_, waited)| *waited > ALLOWED_WAIT && self.pct(*waited) > SHARE_PCT);
        too_long
            .map(|(side, waited)| {
                format!(
                    "{side} waited for a processor for {:.1} % of the time ({SHARE_PCT} % are allowed)",
                    self.pct(waited)
                )
            })
            .collect()
    }

    /// Returns the waits of the command and of the server, % of the run's duration; `null` if unknown.
    pub(super) fn object(&self) -> Value {
        let pct = |waited: Option<Duration>| json!(waited.map(|waited| self.pct(waited)));
        json!({ "command": pct(self.command), "server": pct(self.server) })
    }

    pub(super) fn words(&self) -> String {
        let known: Vec<String> = self
            .sides()
            .into_iter()
            .filter_map(|(side, waited)| Some(format!("{side} {:.1} %", self.pct(waited?))))
            .collect();
        if known.is_empty() {
            "time that programs waited for a processor: not known".to_owned()
        } else {
            format!("waited for a processor: {} of the time", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(command_ms: u64, took_ms: u64) -> ProcessorWaits {
        let millis = Duration::from_millis;
        ProcessorWaits { command: Some(millis(command_ms)), server: None, took: millis(took_ms) }
    }

    #[test]
    fn a_side_may_wait_for_a_twentieth_of_the_time_or_a_moment() {
        assert_eq!(waits(400, 10_000).complaints(), Vec::<String>::new());
        assert_eq!(waits(40, 100).complaints(), Vec::<String>::new());
        let complaints = waits(600, 10_000).complaints();
        assert!(complaints[0].starts_with("the command waited for a processor for 6.0 %"), "{complaints:?}");
        assert_eq!(waits(600, 10_000).object(), json!({ "command": 6.0, "server": null }));
        assert!(waits(600, 10_000).words().contains("the command 6.0 % of the time"));
        assert!(ProcessorWaits::default().words().contains("not known"));
    }

    #[test]
    fn many_short_waits_are_none() {
        let millis = Duration::from_millis;
        assert_eq!(counted(millis(9), millis(20)), Duration::ZERO);
        assert_eq!(counted(millis(11), millis(20)), millis(11));
    }
}
