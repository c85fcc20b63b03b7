//! `lasthop list [WORD…]`.

use crate::failure::Failure;
use crate::output::{self, Format};
use clap::Args;
use lasthop_lab::runs::csv;
use lasthop_scenario::ListEntry;
use serde_json::json;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

const WIDTH: usize = 80;
const INDENT: &str = "  ";

/// List mechanisms and ready paths, with sources.
///
/// WORD is a kind (`list queue`), part of a name (`list sack`), or a word of
/// the summary or the source (`list satellite`).
#[derive(Args)]
pub(crate) struct List {
    /// Print only entries that match; by default all
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

impl List {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let entries = self.entries()?;
        output::print(&match self.format {
            Format::Table => as_text(&entries),
            Format::Json => entries.iter().map(|entry| format!("{}\n", as_json(entry))).collect(),
            Format::Csv => as_csv(&entries),
        })
    }

    /// Entries that match any word, without duplicates, in the catalogue's order.
    fn entries(&self) -> Result<Vec<ListEntry>, Failure> {
        let all = lasthop_scenario::Catalogue::default().list();
        if self.words.is_empty() {
            return Ok(all);
        }
        let mut wanted = Vec::new();
        for word in &self.words {
            wanted.extend(lasthop_scenario::Catalogue::default().list_of(word).map_err(|known| {
                Failure::bad_input(format!("no mechanism, ready path or kind matches `{word}`"), known)
            })?);
        }
        Ok(all.into_iter().filter(|entry| wanted.contains(entry)).collect())
    }
}

/// Formats the entries for a terminal of 80 columns, grouped by kind. The source of each entry follows its summary.
fn as_text(entries: &[ListEntry]) -> String {
    let names = entries.iter().map(|entry| display_width(entry.name)).max().unwrap_or(0);
    let blank = " ".repeat(INDENT.len() + names + INDENT.len());
    let deeper = blank.clone() + INDENT;
    let mut lines = Vec::new();
    for group in entries.chunk_by(|one, next| one.kind == next.kind) {
        lines.push(group[0].kind.clone());
        for entry in group {
            let head = format!("{INDENT}{:<names$}{INDENT}", entry.name);
            lines.extend(wrapped(&entry.summary, &head, &blank));
            lines.extend(wrapped(&entry.source, &deeper, &deeper));
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn wrapped(text: &str, first: &str, further: &str) -> Vec<String> {
    let options = Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(further)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).iter().map(|line| line.trim_end().to_owned()).collect()
}

fn as_json(entry: &ListEntry) -> serde_json::Value {
    json!({ "kind": entry.kind, "name": entry.name, "summary": entry.summary, "source": entry.source })
}

fn as_csv(entries: &[ListEntry]) -> String {
    let rows =
        entries.iter().map(|entry| csv::line([&entry.kind, entry.name, &entry.summary, &entry.source]));
    csv::line(["kind", "name", "summary", "source"]) + &rows.collect::<String>()
}
