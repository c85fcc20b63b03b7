//! `lasthop doctor`.

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::table;
use clap::Args;
use lasthop_agent::doctor::{self, Finding};
use lasthop_lab::document::{Cell, Table};
use lasthop_os::apart;
use serde_json::json;
use std::process::{Command, Stdio};

/// Say what this machine lacks for emulate, endpoint and agent, and how to get it.
///
/// Exit status 1 if something is missing. Simulations need none of it, and `emulate` goes without root's rights, too.
#[derive(Args)]
pub(crate) struct Doctor {
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

impl Doctor {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let mut findings = doctor::examine();
        findings.push(way());
        match self.format {
            Format::Json => output::print(&lines(&findings))?,
            Format::Csv => return Err(Failure::bad_input("doctor has no CSV", "use --format json")),
            Format::Table => output::print(&text(&findings))?,
        }
        let missing: Vec<&Finding> = findings.iter().filter(|one| one.is_there == Some(false)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = missing.iter().map(|one| one.name).collect();
        let helps: Vec<String> = missing.iter().map(|one| format!("{}: {}", one.name, one.help)).collect();
        Err(Failure::failed(format!("missing here: {}", names.join(", ")), helps.join("\n")))
    }
}

/// Which way `emulate` takes here; that of a user without root's rights is tried.
fn way() -> Finding {
    let finding = Finding {
        name: "a way for you",
        needed_for: "emulate",
        is_there: Some(true),
        found: "root's: on this machine, with real-time priority".to_owned(),
        help: "run it as root: sudo lasthop …",
    };
    if apart::is_root() {
        return finding;
    }
    let (is_there, found) = match tried() {
        Ok(rest) => (true, format!("in namespaces of your own, without real-time priority; {rest}")),
        Err(why) => (false, why),
    };
    Finding { is_there: Some(is_there), found, ..finding }
}

/// A run of a moment: what gets outside, or why there is none.
fn tried() -> Result<String, String> {
    let words = ["emulate", "rate=100Mbit/s,rtt=1ms,queue=100packets", "--", "true"];
    let output = Command::new("/proc/self/exe").args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines = said.lines().map(|line| line.trim_start().trim_start_matches("× "));
    match output.status.code() {
        // It was in time, or was not.
        Some(0 | 3) => Ok(lines
            .find_map(|line| line.strip_prefix("note: only TCP and questions for names"))
            .map_or_else(
                || "everything but IPv6 gets outside".to_owned(),
                |rest| format!("only TCP and questions for names{rest}"),
            )),
        _ => Err(lines
            .find(|line| !line.is_empty() && !line.starts_with("note: "))
            .unwrap_or_default()
            .to_owned()),
    }
}

fn text(findings: &[Finding]) -> String {
    let word = |finding: &Finding| match finding.is_there {
        Some(true) => "there",
        Some(false) => "missing",
        None => "unknown",
    };
    let row = |finding: &Finding| {
        [finding.name, word(finding), &finding.found, finding.needed_for]
            .map(|cell| Cell::Text(cell.to_owned()))
    };
    table::text(&Table {
        caption: String::new(),
        columns: ["what", "", "found", "needed for"].map(str::to_owned).to_vec(),
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
