//! `lasthop list`.

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::table;
use clap::Args;
use lasthop_lab::document::{Cell, Table};
use lasthop_lab::runs::csv;
use lasthop_scenario::Entry;
use serde_json::json;

/// List every mechanism and every ready path, one line each, with its source.
#[derive(Args)]
pub(crate) struct List {
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

impl List {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let entries = lasthop_scenario::list();
        output::print(&match self.format {
            Format::Table => table::text(&as_table(&entries)),
            Format::Json => entries.iter().map(|entry| format!("{}\n", as_json(entry))).collect(),
            Format::Csv => as_csv(&entries),
        })
    }
}

fn as_table(entries: &[Entry]) -> Table {
    let columns = ["kind", "name", "what it is", "source"].map(String::from).to_vec();
    let rows = entries.iter().map(|entry| {
        [entry.kind, entry.name, &entry.summary, &entry.source]
            .map(|text| Cell::Text(text.to_owned()))
            .to_vec()
    });
    Table { caption: String::new(), columns, rows: rows.collect() }
}

fn as_json(entry: &Entry) -> serde_json::Value {
    json!({ "kind": entry.kind, "name": entry.name, "summary": entry.summary, "source": entry.source })
}

fn as_csv(entries: &[Entry]) -> String {
    let rows = entries.iter().map(|entry| csv::line([entry.kind, entry.name, &entry.summary, &entry.source]));
    csv::line(["kind", "name", "summary", "source"]) + &rows.collect::<String>()
}
