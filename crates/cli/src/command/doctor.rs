//! `lasthop doctor`.

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::table;
use clap::Args;
use lasthop_agent::doctor::{self, Finding};
use lasthop_lab::document::{Cell, Table};
use serde_json::json;

/// Say what this machine lacks for emulate, endpoint and agent, and how to get it.
///
/// Exit status 1 if something is missing. Simulations need none of it.
#[derive(Args)]
pub(crate) struct Doctor {
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

impl Doctor {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let findings = doctor::examine();
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
