//! Estimates of time and memory, printed before and during a large run. A large estimate does not prevent the run.

use crate::output;
use crate::rounded;
use lasthop_lab::cost::{Cost, RunPlan};
use std::time::Duration;

/// Minimum estimated time at which a note is printed, s.
const LONG_S: f64 = 60.0;
/// Minimum estimated memory at which a note is printed, bytes.
const LARGE_BYTES: f64 = 1e9;

pub(crate) fn print_if_large(cost: &Cost, plan: &RunPlan) {
    let seconds = cost.cpu_s / plan.threads.max(1) as f64;
    if seconds >= LONG_S {
        output::note(&format!(
            "note: up to {:.1e} packets take about {} on {}, at {:.1} million packets per second and thread",
            cost.packets,
            rounded::time(seconds),
            threads(plan.threads),
            cost.packets / cost.cpu_s / 1e6
        ));
    }
    if cost.memory_bytes >= LARGE_BYTES {
        let free = free_bytes().map_or(String::new(), |free| format!("; {} are free", rounded::memory(free)));
        let hint = if plan.keeps_outcomes && plan.runs > 1 {
            "; --format csv discards outcomes after printing"
        } else {
            ""
        };
        output::note(&format!(
            "note: the runs need about {} of memory{free}{hint}",
            rounded::memory(cost.memory_bytes)
        ));
    }
}

/// Estimates the time for `count` runs on `on` threads from the duration of the first run. Returns `None` if the
/// estimate is below the threshold for a note.
pub(crate) fn estimate_from_first(count: usize, on: usize, first: Duration) -> Option<String> {
    let seconds = first.as_secs_f64() * count.div_ceil(on.max(1)) as f64;
    (count > on && seconds >= LONG_S).then(|| {
        format!(
            "note: {count} runs take about {} on {}, estimated from the first run",
            rounded::time(seconds),
            threads(on)
        )
    })
}

fn threads(count: usize) -> String {
    if count == 1 { "one thread".to_owned() } else { format!("{count} threads") }
}

/// Returns the available memory (`MemAvailable` in /proc/meminfo), bytes; `None` if unknown.
fn free_bytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_is_not_worth_a_word() {
        let second = Duration::from_secs(1);
        assert_eq!(estimate_from_first(100, 2, second), None);
        let note = estimate_from_first(1_000_000, 2, second).unwrap();
        assert_eq!(note, "note: 1000000 runs take about 5.8 days on 2 threads, estimated from the first run");
        assert_eq!(estimate_from_first(3, 3, Duration::from_secs(100)), None, "all runs are done already");
    }
}
