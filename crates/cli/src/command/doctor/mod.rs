//! Command `lasthop doctor`: checks this program and the requirements of commands for real packets.

#[cfg(target_os = "linux")]
mod machine;
mod program;

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::table;
use clap::Args;
use lasthop_lab::document::{Cell, Table};
use program::Fact;
use serde_json::json;
use std::path::PathBuf;

/// Check this program, and whether this machine meets the requirements of emulate, endpoint and agent
///
/// Prints version, engine and file of the program, and other programs called `lasthop` in PATH. On Linux, also prints
/// the requirements of commands for real packets, and how to meet them. Exit status 1 if something is missing.
/// Simulations have no requirements; `emulate` also works without root.
///
/// Try: lasthop doctor runs.db
#[derive(Args)]
pub(crate) struct Doctor {
    /// Sweep's store or page of `lasthop lab`: print only whether another engine made it; exit status 1 if so
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

impl Doctor {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        if self.format == Format::Csv {
            return Err(Failure::bad_input("doctor has no CSV format", "use --format json"));
        }
        if !self.files.is_empty() {
            return self.files();
        }
        self.print(&program::facts())?;
        #[cfg(target_os = "linux")]
        return machine::check(self.format);
        #[cfg(not(target_os = "linux"))]
        {
            output::note(
                "emulate, endpoint, agent and crosscheck need Linux; all other commands work on this system",
            );
            Ok(())
        }
    }

    fn files(&self) -> Result<(), Failure> {
        let facts =
            self.files.iter().map(|file| program::file(file)).collect::<Result<Vec<Fact>, Failure>>()?;
        self.print(&facts)?;
        let others: Vec<&str> = facts
            .iter()
            .filter(|fact| fact.is_of_this_engine == Some(false))
            .map(|fact| fact.name.as_str())
            .collect();
        if others.is_empty() {
            return Ok(());
        }
        Err(Failure::failed(
            format!("made by another engine: {}", others.join(", ")),
            "compare numbers of one engine only; `lasthop doctor` prints this program's engine",
        ))
    }

    fn print(&self, facts: &[Fact]) -> Result<(), Failure> {
        if self.format == Format::Json {
            let line = |fact: &Fact| {
                let Fact { name, found, is_of_this_engine } = fact;
                json!({ "name": name, "found": found, "is_of_this_engine": is_of_this_engine })
            };
            return output::print_lines(facts.iter().map(line));
        }
        let rows =
            facts.iter().map(|fact| vec![Cell::Text(fact.name.clone()), Cell::Text(fact.found.clone())]);
        let columns = if self.files.is_empty() { ["this program", "found"] } else { ["file", "found"] };
        let table = Table {
            caption: String::new(),
            columns: columns.map(str::to_owned).to_vec(),
            rows: rows.collect(),
        };
        output::print(&table::text(&table))?;
        if self.files.is_empty() { output::print("\n") } else { Ok(()) }
    }
}
