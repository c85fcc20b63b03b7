//! Command `lasthop list [WORD…]`: lists mechanisms and ready paths.

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

/// List mechanisms and ready paths: a line each, or everything about those that match WORD.
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
            Format::Table if self.words.is_empty() => as_lines(&entries),
            Format::Table => as_text(&entries),
            Format::Json => entries.iter().map(|entry| format!("{}\n", as_json(entry))).collect(),
            Format::Csv => as_csv(&entries),
        })
    }

    /// Returns the entries that match any of the words, without duplicates, in the catalogue's order.
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

/// Formats each entry as one line, grouped by kind.
fn as_lines(entries: &[ListEntry]) -> String {
    let names = names_width(entries);
    let room = columns().saturating_sub(INDENT.len() + names + INDENT.len());
    let mut text = String::new();
    for group in entries.chunk_by(|one, next| one.kind == next.kind) {
        text += &format!("{}\n", group[0].kind);
        for entry in group {
            text += &format!("{INDENT}{:<names$}{INDENT}{}\n", entry.name, shortened(&entry.summary, room));
        }
    }
    let more = "Summaries and sources: lasthop list WORD. Parameters: lasthop explain NAME";
    format!("{text}\n{}\n", output::prose(more))
}

/// Returns the text, cut to at most `room` terminal columns; an ellipsis marks the cut.
fn shortened(text: &str, room: usize) -> String {
    if display_width(text) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if display_width(&short) + 2 > room {
            break;
        }
        short.push(c);
    }
    short.trim_end().to_owned() + "…"
}

/// Returns the width of the terminal in columns, at most [`WIDTH`], because longer lines are hard to read.
fn columns() -> usize {
    output::width().map_or(WIDTH, |width| width.min(WIDTH))
}

fn names_width(entries: &[ListEntry]) -> usize {
    entries.iter().map(|entry| display_width(entry.name)).max().unwrap_or(0)
}

/// Formats the entries in full, grouped by kind. The source of each entry follows the summary of the entry.
fn as_text(entries: &[ListEntry]) -> String {
    let names = names_width(entries);
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
    let options = Options::new(columns())
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
