//! Command `lasthop bench`: measures the speed of fixed cases. Each case runs in a separate process, so that its peak
//! memory can be measured.

mod alone;
mod count;

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::table;
use crate::values::KnownNames;
use clap::Args;
use lasthop_lab::bench::{BenchCase, CASES};
use lasthop_lab::document::{Cell, Table};
use lasthop_lab::runs::csv;
use lasthop_lab::runs::number::plain;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const COLUMNS: [&str; 6] = ["case", "data_packets", "cpu_s", "packets_per_cpu_s", "peak_rss_mb", "runs"];

/// Measure the speed of fixed cases, one after the other on one thread
///
/// cpu_s is the mean over as many runs of the case as fit into one second of CPU time (at least one). peak_rss_mb is
/// the peak memory of a process that runs only this case.
///
/// With --count, valgrind counts instructions per data packet and its ACK instead. Set-up is excluded: each case runs
/// for two durations, and the difference counts. Counts are equal in every run and on all machines of the same kind.
#[derive(Args)]
pub(crate) struct Bench {
    /// Cases to run; all by default
    #[arg(value_name = "CASE", value_parser = KnownNames { names, parse: case })]
    cases: Vec<&'static BenchCase>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Count instructions per data packet (needs valgrind)
    #[arg(long)]
    count: bool,
    /// Compare with a table written by --count --format csv: exit status 1 if a case takes over 2 % more instructions
    #[arg(long, value_name = "FILE.csv", requires = "count")]
    against: Option<PathBuf>,
    /// Run this case in this process and print its numbers
    #[arg(long, hide = true, value_parser = case, conflicts_with_all = ["cases", "format"])]
    alone: Option<&'static BenchCase>,
    /// Run the case once, for this simulated time, s
    #[arg(long, hide = true, value_name = "S", requires = "alone")]
    seconds: Option<u32>,
}

impl Bench {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        if let Some(case) = self.alone {
            let numbers = match self.seconds {
                Some(seconds) => alone::once(case, seconds),
                None => alone::measured(case),
            };
            return output::print_line(&numbers?.to_string());
        }
        if cfg!(debug_assertions) {
            output::note(
                "note: this is a debug build, which is many times slower (use cargo run --release -- bench)",
            );
        }
        let cases: Vec<&BenchCase> =
            if self.cases.is_empty() { CASES.iter().collect() } else { self.cases.clone() };
        if self.count {
            return count::count(&cases, self.format, self.against.as_deref());
        }
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

fn names() -> Vec<&'static str> {
    CASES.iter().map(|case| case.name).collect()
}

fn case(name: &str) -> Result<&'static BenchCase, String> {
    CASES
        .iter()
        .find(|case| case.name == name)
        .ok_or_else(|| format!("expected one of {}", names().join(", ")))
}

fn measured_alone(case: &BenchCase) -> Result<Value, Failure> {
    let failed = |why: String| {
        Failure::failed(format!("cannot measure the case {}: {why}", case.name), "run only this case again")
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
