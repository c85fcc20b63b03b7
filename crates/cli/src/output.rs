//! Standard output and notes on standard error.

use crate::failure::Failure;
use clap::ValueEnum;
use std::io::{ErrorKind, Write};

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// One object a line.
    Json,
    /// For spreadsheets: a header line, then one row a line.
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

/// Says something on standard error. If nobody listens there, that is no failure.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
