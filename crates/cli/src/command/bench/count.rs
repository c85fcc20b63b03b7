//! Option `lasthop bench --count`: counts instructions. Unlike times, these counts are equal in every run.

use super::alone;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::table;
use lasthop_lab::bench::BenchCase;
use lasthop_lab::bench::growth::{self, COLUMNS, CaseCost, Growth};
use lasthop_lab::document::{Cell, Table};
use lasthop_lab::runs::csv;
use lasthop_lab::runs::number::plain;
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

/// Compiler of this program, as set by the build script: version and target.
const COMPILER: &str = env!("LASTHOP_COMPILER");

/// Counts the instructions of each case and prints a row per case. With an earlier table (`against`), also prints the
/// growth of each case's instruction count, and fails if this growth exceeds the limit.
pub(super) fn count(cases: &[&BenchCase], format: Format, against: Option<&Path>) -> Result<(), Failure> {
    let before = against.map(read_table).transpose()?;
    let mut rows = Vec::new();
    let mut growths = Vec::new();
    if format == Format::Csv {
        output::print(&csv::line(COLUMNS))?;
    }
    for case in cases {
        let now = counted(case)?;
        let growth = before.as_deref().map(|before| growth_of(before, &now)).transpose()?;
        match format {
            Format::Json => output::print_line(&serde_json::json!(now).to_string())?,
            Format::Csv => output::print(&csv::line(fields(&now)))?,
            Format::Table => rows.push(cells(&now, growth.as_ref())),
        }
        growths.extend(growth);
    }
    if format == Format::Table {
        let columns = ["case", "data packets", "instructions per packet", "growth, %"];
        let shown = if before.is_some() { columns.len() } else { columns.len() - 1 };
        let columns = columns[..shown].iter().map(|name| (*name).to_owned()).collect();
        output::print(&table::text(&Table { caption: String::new(), columns, rows }))?;
    }
    check_growth(&growths)
}

fn read_table(path: &Path) -> Result<Vec<CaseCost>, Failure> {
    let wrong = |why: String| {
        Failure::bad_input(
            format!("cannot read the table `{}`: {why}", path.display()),
            "create the table with: lasthop bench --count --format csv",
        )
    };
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    growth::read(&text).map_err(|error| wrong(error.to_string()))
}

fn growth_of(before: &[CaseCost], now: &CaseCost) -> Result<Growth, Failure> {
    Growth::of(before, now).map_err(|why| {
        Failure::bad_input(
            format!("the case {} cannot be compared: {why}", now.case),
            "recreate the table at the commit before your change: make count-update",
        )
    })
}

/// Counts the instructions of a case: the difference between a long and a short simulated time, which excludes the
/// set-up. The two runs are parallel.
fn counted(case: &BenchCase) -> Result<CaseCost, Failure> {
    let [short_s, long_s] = case.counted_s;
    let (short, long) = thread::scope(|scope| {
        let short = scope.spawn(|| under_valgrind(case, short_s));
        let long = under_valgrind(case, long_s);
        (short.join().unwrap_or_else(|_| Err("the thread failed".into())), long)
    });
    let failed = |why: String| {
        Failure::failed(
            format!("cannot count the instructions of the case {}: {why}", case.name),
            "install valgrind (Debian: apt install valgrind; in the sources: make tools)",
        )
    };
    let (short, long) = (short.map_err(failed)?, long.map_err(failed)?);
    case.counted(short, long, COMPILER)
        .ok_or_else(|| failed("the longer run executed no more instructions than the shorter run".into()))
}

fn under_valgrind(case: &BenchCase, duration_s: u32) -> Result<(u64, u64), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(["bench", "--alone", case.name, "--seconds", &duration_s.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("valgrind: {}\n{}", output.status, stderr.trim_end()));
    }
    let packets = alone::packets(&output.stdout).ok_or("the run did not print its number of packets")?;
    let instructions =
        instructions(&stderr).ok_or_else(|| format!("valgrind printed no count:\n{stderr}"))?;
    Ok((packets, instructions))
}

/// Returns the number of instructions from a line in valgrind's output such as `==123== I refs: 6,119,294`.
fn instructions(stderr: &str) -> Option<u64> {
    let line = stderr.lines().find(|line| line.contains("refs:"))?;
    line.rsplit_once(':')?.1.trim().replace(',', "").parse().ok()
}

fn fields(now: &CaseCost) -> [String; COLUMNS.len()] {
    [
        now.case.clone(),
        now.from_s.to_string(),
        now.to_s.to_string(),
        now.data_packets.to_string(),
        now.instructions_per_packet.to_string(),
        now.compiler.clone(),
    ]
}

fn cells(now: &CaseCost, growth: Option<&Growth>) -> Vec<Cell> {
    let mut cells = vec![
        Cell::Text(now.case.clone()),
        Cell::Number(now.data_packets.to_string()),
        Cell::Number(plain(now.instructions_per_packet.round())),
    ];
    cells.extend(growth.map(|growth| Cell::Number(format!("{:+.2}", growth.pct()))));
    cells
}

fn check_growth(growths: &[Growth]) -> Result<(), Failure> {
    if let Some(compiler) = growths.iter().find_map(|growth| growth.other_compiler.as_deref()) {
        output::note(&format!(
            "note: the table is from {compiler}, this program from {COMPILER}: changes by the compiler cannot be \
             separated from changes of the code, so only growth above {} % fails. \
             For the limit of {} %, count the previous commit with this compiler: make count-update",
            growth::LIMIT_OTHER_COMPILER_PCT,
            growth::LIMIT_PCT
        ));
    }
    let list =
        |growths: Vec<&Growth>| growths.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(", ");
    let (grown, rest): (Vec<&Growth>, Vec<&Growth>) = growths.iter().partition(|growth| growth.is_too_much());
    let cheaper: Vec<&Growth> = rest.into_iter().filter(|growth| growth.pct() < -growth::LIMIT_PCT).collect();
    if !cheaper.is_empty() {
        output::note(&format!(
            "note: cheaper than the table: {}. Update the table: make count-update",
            list(cheaper)
        ));
    }
    if grown.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(
        format!("more instructions per data packet and ACK than the table allows: {}", list(grown)),
        "reduce the cost, or justify the growth in docs/development/performance/journal.md and run: make count-update",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_valgrind_says_is_read_in_its_older_and_newer_form() {
        assert_eq!(instructions("==1== warning\n==1== I   refs:      6,119,294\n"), Some(6_119_294));
        assert_eq!(instructions("==1== I refs: 512\n==1== D refs: 7\n"), Some(512));
        assert_eq!(instructions("==1== nothing"), None);
    }
}
