//! Checks whether the process that owns a resource is still alive. After the end of a process, another process may get
//! the same PID.

use nix::time::{ClockId, clock_gettime};
use std::fs;
use std::time::{Duration, SystemTime};

/// Largest difference that is tolerated between the clock of file times and the clock of process start times.
const MARGIN: Duration = Duration::from_secs(1);
/// Units of start times in /proc per second (proc(5): USER_HZ).
const TICKS: u64 = 100;

/// Whether the process with this PID existed at the time `made`.
pub(crate) fn is_alive(pid: i32, made: SystemTime) -> bool {
    start_time(pid).is_some_and(|start| start <= made + MARGIN)
}

/// Start time of a process; `None` if the process does not exist or is a zombie.
fn start_time(pid: i32) -> Option<SystemTime> {
    let ticks = start_ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
    let since_boot = Duration::from(clock_gettime(ClockId::CLOCK_BOOTTIME).ok()?);
    let age = since_boot.saturating_sub(Duration::from_millis(ticks * 1000 / TICKS));
    SystemTime::now().checked_sub(age)
}

/// Returns the start time in ticks since boot: field 22 of /proc/PID/stat (proc(5), `starttime`). Fields are counted
/// from the state, field 3, which follows the name in brackets.
fn start_ticks(stat: &str) -> Option<u64> {
    let (_, behind) = stat.rsplit_once(") ")?;
    let mut words = behind.split(' ');
    if matches!(words.next()?, "Z" | "X") {
        return None;
    }
    words.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process;

    #[test]
    fn a_number_that_was_given_anew_is_another_process() {
        let ours = process::id() as i32;
        assert!(is_alive(ours, SystemTime::now()));
        let before = start_time(ours).unwrap() - Duration::from_secs(3600);
        assert!(!is_alive(ours, before));
        assert!(!is_alive(i32::MAX, SystemTime::now()));
        let age = SystemTime::now().duration_since(start_time(ours).unwrap()).unwrap_or_default();
        assert!(age < Duration::from_secs(600), "{age:?}");
    }

    #[test]
    fn the_start_is_read_behind_any_name() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(start_ticks(&format!("7 (a) b) S {rest}")), Some(4711));
        assert_eq!(start_ticks(&format!("7 (a) Z {rest}")), None);
        assert_eq!(start_ticks("7 (a)"), None);
    }
}
