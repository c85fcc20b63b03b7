//! Checks whether this machine meets the requirements of emulate, endpoint and agent.

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::table;
use lasthop_agent::doctor::{self, Finding};
use lasthop_lab::document::{Cell, Table};
use lasthop_os::unprivileged;
use serde_json::json;
use std::process::{Command, Stdio};

/// Checks all requirements and prints the findings.
///
/// # Errors
/// Fails if a requirement is missing; the help of the error explains how to meet the requirement.
pub(super) fn check(format: Format) -> Result<(), Failure> {
    let mut findings = doctor::examine();
    findings.push(emulation_mode());
    output::print(&if format == Format::Json { lines(&findings) } else { text(&findings) })?;
    let missing: Vec<&Finding> = findings.iter().filter(|one| one.is_there == Some(false)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|one| one.name).collect();
    let helps: Vec<String> = missing.iter().map(|one| format!("{}: {}", one.name, one.help)).collect();
    Err(Failure::failed(format!("missing on this machine: {}", names.join(", ")), helps.join("\n")))
}

/// Returns the mode in which `emulate` works on this machine. Without root, a test run shows whether the unprivileged
/// mode works.
fn emulation_mode() -> Finding {
    let finding = Finding {
        name: "emulation mode",
        needed_for: "emulate",
        is_there: Some(true),
        found: "root: on this machine, with real-time priority".to_owned(),
        help: "run as root: sudo lasthop …",
    };
    if unprivileged::is_root() {
        return finding;
    }
    let (is_there, found) = match try_unprivileged() {
        Ok(rest) => (true, format!("in your own namespaces, without real-time priority; {rest}")),
        Err(why) => (false, why),
    };
    Finding { is_there: Some(is_there), found, ..finding }
}

/// Emulates a path for the program `true` without root. Returns a sentence that names the traffic that can leave the
/// emulated path for the outside network, or an error message.
fn try_unprivileged() -> Result<String, String> {
    let words = ["emulate", "rate=100Mbit/s,rtt=1ms,queue=100packets", "--", "true"];
    let output = Command::new("/proc/self/exe").args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut lines = stderr.lines().map(|line| line.trim_start().trim_start_matches("× "));
    match output.status.code() {
        // Status 0 means that all packets were on time; status 3 means that some were late, but the emulation works.
        Some(0 | 3) => Ok(lines
            .find_map(|line| line.strip_prefix("note: only TCP and name resolution (DNS)"))
            .map_or_else(
                || "all traffic except IPv6 reaches the outside network".to_owned(),
                |rest| format!("only TCP and name resolution (DNS){rest}"),
            )),
        _ => Err(lines
            .find(|line| !line.is_empty() && !line.starts_with("note: "))
            .unwrap_or_default()
            .to_owned()),
    }
}

fn text(findings: &[Finding]) -> String {
    let word = |finding: &Finding| match finding.is_there {
        Some(true) => "present",
        Some(false) => "missing",
        None => "unknown",
    };
    let row = |finding: &Finding| {
        [finding.name, word(finding), &finding.found, finding.needed_for]
            .map(|cell| Cell::Text(cell.to_owned()))
    };
    table::text(&Table {
        caption: String::new(),
        columns: ["requirement", "state", "found", "needed for"].map(str::to_owned).to_vec(),
        rows: findings.iter().map(|finding| row(finding).to_vec()).collect(),
    })
}

fn lines(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let object = json!({
            "name": finding.name,
            "needed_for": finding.needed_for,
            "is_there": finding.is_there,
            "found": finding.found,
            "help": finding.help,
        });
        format!("{object}\n")
    };
    findings.iter().map(line).collect()
}
