//! `lasthop bench`.
//!
//! Each case runs in a process of its own, so that its peak memory is its own.

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::table;
use clap::Args;
use lasthop_lab::bench::{CASES, Case, data_packets};
use lasthop_lab::document::{Cell, Table};
use lasthop_lab::runs::csv;
use lasthop_lab::runs::number::plain;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// A case is repeated until it has taken this long, so that short ones are measured as well as long ones.
const LONG_ENOUGH_S: f64 = 1.0;
const COLUMNS: [&str; 6] = ["case", "data_packets", "cpu_s", "packets_per_cpu_s", "peak_rss_mb", "runs"];

/// Measure the speed on fixed cases, one after the other on one thread.
///
/// cpu_s is the mean over as many runs of the case as fit into a second of CPU
/// time, one at least; peak_rss_mb is that of a process that runs this case alone.
#[derive(Args)]
pub(crate) struct Bench {
    /// The cases to run; all by default
    #[arg(value_name = "CASE", value_parser = case)]
    cases: Vec<&'static Case>,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Run this case here and print its numbers: what the program calls itself with
    #[arg(long, hide = true, value_parser = case, conflicts_with_all = ["cases", "format"])]
    alone: Option<&'static Case>,
}

impl Bench {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        if let Some(case) = self.alone {
            return output::print_line(&measured_here(case)?.to_string());
        }
        if cfg!(debug_assertions) {
            output::note(
                "note: this is not a release build: it is many times slower (cargo run --release -- bench)",
            );
        }
        let cases: Vec<&Case> = match self.cases.is_empty() {
            true => CASES.iter().collect(),
            false => self.cases.clone(),
        };
        let mut rows = Vec::new();
        if self.format == Format::Csv {
            output::print(&csv::line(COLUMNS))?;
        }
        for case in cases {
            let row = measured_alone(case)?;
            match self.format {
                Format::Json => output::print_line(&row.to_string())?,
                Format::Csv => output::print(&csv::line(COLUMNS.iter().map(|column| text(&row[*column]))))?,
                Format::Table => rows.push(COLUMNS.iter().map(|column| cell(&row[*column])).collect()),
            }
        }
        match self.format {
            Format::Table => {
                let columns = COLUMNS.map(String::from).to_vec();
                output::print(&table::text(&Table { caption: String::new(), columns, rows }))
            }
            _ => Ok(()),
        }
    }
}

fn case(name: &str) -> Result<&'static Case, String> {
    CASES.iter().find(|case| case.name == name).ok_or_else(|| {
        let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        format!("expected one of {}", known.join(", "))
    })
}

/// Calls this program with the one case.
fn measured_alone(case: &Case) -> Result<Value, Failure> {
    let failed = |why: String| {
        Failure::failed(format!("the case {} could not be measured: {why}", case.name), "try it again, alone")
    };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let output = Command::new(program)
        .args(["bench", "--alone", case.name])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

/// Runs the case on this thread.
fn measured_here(case: &Case) -> Result<Value, Failure> {
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

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::String(text) => Cell::Text(text.clone()),
        Value::Number(number) => Cell::Number(number.as_f64().map_or_else(String::new, plain)),
        _ => Cell::Empty,
    }
}

/// What the process has used so far.
#[cfg(unix)]
mod usage {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::time::{ClockId, clock_gettime};

    /// CPU time of this thread, s.
    pub(super) fn cpu_s() -> f64 {
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
            .map_or(0.0, |time| time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
    }

    /// Most memory resident at once.
    pub(super) fn peak_rss_bytes() -> Option<f64> {
        // Linux and the BSDs count in kilobytes, macOS in bytes.
        let unit = if cfg!(target_os = "macos") { 1.0 } else { 1024.0 };
        getrusage(UsageWho::RUSAGE_SELF).ok().map(|usage| usage.max_rss() as f64 * unit)
    }
}

/// Elsewhere time of day stands for CPU time, and memory is not measured.
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
