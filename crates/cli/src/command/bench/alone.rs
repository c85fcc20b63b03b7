//! Runs a single case in this process, so that the measured time, memory and instructions belong to this case alone.

use crate::failure::Failure;
use lasthop_lab::bench::{BenchCase, data_packets};
use serde_json::{Value, json};

/// Minimum total CPU time of the runs of a case, s. Shorter cases are repeated.
const LONG_ENOUGH_S: f64 = 1.0;

pub(super) fn measured(case: &BenchCase) -> Result<Value, Failure> {
    let scenario = case.scenario()?;
    let began = usage::cpu_s();
    let (mut runs, mut packets) = (0_u32, 0);
    let mut cpu = 0.0;
    while runs == 0 || (cpu > 0.0 && cpu < LONG_ENOUGH_S) {
        packets = data_packets(&lasthop_sim::run(&scenario, scenario.seed));
        runs += 1;
        cpu = usage::cpu_s() - began;
    }
    let cpu_s = cpu / f64::from(runs);
    Ok(json!({
        "case": case.name,
        "data_packets": packets,
        "cpu_s": (cpu_s * 1e6).round() / 1e6,
        "packets_per_cpu_s": (packets as f64 / cpu_s).round() as u64,
        "peak_rss_mb": usage::peak_rss_bytes().map(|bytes| (bytes / 1e5).round() / 10.0),
        "runs": runs,
    }))
}

/// Runs a case once for `duration_s` of simulated time. Returns only the number of data packets.
pub(super) fn once(case: &BenchCase, duration_s: u32) -> Result<Value, Failure> {
    let scenario = case.scenario_of(duration_s)?;
    Ok(json!({ "data_packets": data_packets(&lasthop_sim::run(&scenario, scenario.seed)) }))
}

pub(super) fn packets(printed: &[u8]) -> Option<u64> {
    serde_json::from_slice::<Value>(printed).ok()?["data_packets"].as_u64()
}

#[cfg(unix)]
mod usage {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::time::{ClockId, clock_gettime};

    pub(super) fn cpu_s() -> f64 {
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
            .map_or(0.0, |time| time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
    }

    /// Returns the peak resident memory, bytes.
    pub(super) fn peak_rss_bytes() -> Option<f64> {
        // Linux and the BSDs report kilobytes; macOS reports bytes.
        let unit = if cfg!(target_os = "macos") { 1.0 } else { 1024.0 };
        getrusage(UsageWho::RUSAGE_SELF).ok().map(|usage| usage.max_rss() as f64 * unit)
    }
}

/// Substitutes on systems other than Unix: wall-clock time replaces CPU time, and memory is not measured.
#[cfg(not(unix))]
mod usage {
    use std::sync::OnceLock;
    use std::time::Instant;

    pub(super) fn cpu_s() -> f64 {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        BEGAN.get_or_init(Instant::now).elapsed().as_secs_f64()
    }

    pub(super) fn peak_rss_bytes() -> Option<f64> {
        None
    }
}
