//! Standard output and notes on standard error.

use crate::failure::Failure;
use clap::ValueEnum;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
use textwrap::{Options, WordSeparator, WordSplitter};

/// Output format of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// Aligned table, printed at the end
    Table,
    /// One JSON object per line, with means over the runs, printed at the end
    Json,
    /// Header line, then one row per line, printed as each run ends
    Csv,
}

/// Minimum width to which text is wrapped, terminal columns.
const MIN_WIDTH: usize = 20;

/// Returns the width of standard output, terminal columns: `COLUMNS` if set, otherwise the width of the terminal.
/// Returns `None` (no limit) if standard output is a pipe or a file and `COLUMNS` is not set.
pub(crate) fn width() -> Option<usize> {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = set.or_else(|| {
        let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
        Some(usize::from(width.0))
    });
    width.map(|width| width.max(MIN_WIDTH))
}

/// Wraps the text into lines of at most `width` terminal columns; longer words are not broken. A continuation line has
/// the indentation of the line that it continues.
pub(crate) fn filled(text: &str, width: usize) -> String {
    let lines = text.split('\n').map(|line| {
        let indent = " ".repeat(line.len() - line.trim_start_matches(' ').len());
        let options = Options::new(width)
            .break_words(false)
            .subsequent_indent(&indent)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation);
        textwrap::fill(line, options)
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// Wraps the text to the width of standard output.
pub(crate) fn prose(text: &str) -> String {
    width().map_or_else(|| text.to_owned(), |width| filled(text, width))
}

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::ClosedPipe),
        Err(error) => Err(Failure::failed(
            format!("cannot write to standard output: {error}"),
            "is the disk full, or is the output closed?",
        )),
    }
}

pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    print(&format!("{line}\n"))
}

/// Prints lines to standard output in blocks of 64 KiB as the iterator yields them.
pub(crate) fn print_lines(lines: impl Iterator<Item = impl Display>) -> Result<(), Failure> {
    const BLOCK_BYTES: usize = 64 * 1024;
    let mut text = String::new();
    for line in lines {
        text.push_str(&format!("{line}\n"));
        if text.len() >= BLOCK_BYTES {
            print(&text)?;
            text.clear();
        }
    }
    print(&text)
}

/// Replaces control characters by `?`, so that untrusted text becomes one line without control sequences.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Prints a line to standard error; ignores write errors.
pub(crate) fn note(line: &str) {
    let mut stderr = std::io::stderr().lock();
    let is_terminal = stderr.is_terminal();
    let _ = writeln!(stderr, "{}", sanitized(line, is_terminal));
}

/// Replaces control characters (except newlines) by U+FFFD, because messages quote user input, which must not control
/// the terminal. Colour sequences are kept if `with_colours` is set.
fn sanitized(text: &str, with_colours: bool) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = colour_at(rest).filter(|_| with_colours);
        let length = colour.map_or(c.len_utf8(), str::len);
        match colour {
            Some(colour) => clean.push_str(colour),
            None if c.is_control() && c != '\n' => clean.push('\u{fffd}'),
            None => clean.push(c),
        }
        rest = &rest[length..];
    }
    clean
}

/// Returns the colour sequence at the beginning of a text, for example `ESC [ 31 m`.
fn colour_at(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("\u{1b}[")?.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let end = "\u{1b}[".len() + digits;
    text[end..].starts_with('m').then(|| &text[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_indented_as_they_begin() {
        assert_eq!(filled("  one two three\nfour", 9), "  one two\n  three\nfour");
    }

    #[test]
    fn only_colours_get_through() {
        let text = "\u{1b}[31;1mred\u{1b}[0m \u{1b}[2Jgone \u{1b}]0;title\u{7}\tä\n\u{1b}[";
        let coloured =
            "\u{1b}[31;1mred\u{1b}[0m \u{fffd}[2Jgone \u{fffd}]0;title\u{fffd}\u{fffd}ä\n\u{fffd}[";
        assert_eq!(sanitized(text, true), coloured);
        assert!(!sanitized(text, false).contains('\u{1b}'));
    }
}
