//! Standard output and notes on standard error.

use crate::failure::Failure;
use clap::ValueEnum;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people, at the end.
    Table,
    /// One object a line; means over runs come at the end.
    Json,
    /// A header line, then one row a line; runs one by one, each as it ends.
    Csv,
}

/// Prints to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::ClosedPipe),
        Err(error) => Err(Failure::failed(
            format!("cannot write to standard output: {error}"),
            "is the disk full, or the output closed?",
        )),
    }
}

/// Prints a line to standard output.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    print(&format!("{line}\n"))
}

/// Prints lines to standard output, many at a time, while they are made.
pub(crate) fn print_lines(lines: impl Iterator<Item = impl Display>) -> Result<(), Failure> {
    const AT_ONCE: usize = 64 * 1024;
    let mut text = String::new();
    for line in lines {
        text.push_str(&format!("{line}\n"));
        if text.len() >= AT_ONCE {
            print(&text)?;
            text.clear();
        }
    }
    print(&text)
}

/// A name or a text that others gave, on one line: each control character as `?`.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Says something on standard error. If nobody listens there, that is no failure.
pub(crate) fn note(line: &str) {
    let mut stderr = std::io::stderr().lock();
    let is_terminal = stderr.is_terminal();
    let _ = writeln!(stderr, "{}", harmless(line, is_terminal));
}

/// Without control characters, which messages may quote from what the user gave: a terminal must not obey them.
/// Colours stay where they are wanted.
fn harmless(text: &str, with_colours: bool) -> String {
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

/// The sequence that sets a colour (`ESC [ 31 m`) with which a text begins.
fn colour_at(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("\u{1b}[")?.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let end = "\u{1b}[".len() + digits;
    text[end..].starts_with('m').then(|| &text[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_get_through() {
        let text = "\u{1b}[31;1mred\u{1b}[0m \u{1b}[2Jgone \u{1b}]0;title\u{7}\tä\n\u{1b}[";
        let coloured =
            "\u{1b}[31;1mred\u{1b}[0m \u{fffd}[2Jgone \u{fffd}]0;title\u{fffd}\u{fffd}ä\n\u{fffd}[";
        assert_eq!(harmless(text, true), coloured);
        assert!(!harmless(text, false).contains('\u{1b}'));
    }
}
