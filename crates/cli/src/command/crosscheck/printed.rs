//! What came out, printed as it goes: each sender's rows as soon as its last run is done.

use super::Format;
use crate::failure::Failure;
use crate::output;
use crate::table::Layout;
use lasthop_lab::document::Cell;
use lasthop_lab::trials::crosscheck::{self, Pair, Results};

/// Where the printing stands.
pub(super) struct Printed {
    format: Format,
    layout: Layout,
    /// What stands above the first row, until it is printed.
    head: Option<String>,
}

/// About as wide as numbers become: the two goodputs, their difference, and three that are simulated and emulated.
const WIDE: [&str; 6] = [
    "12345.6 ± 12.3",
    "12345.6 ± 12.3",
    "-12.34 (-12.34 to +12.34)",
    "123 / 123",
    "1.2 / 1.2",
    "12.3 / 12.3",
];

impl Printed {
    /// Begins, with the results to come of all senders.
    pub(super) fn begin(format: Format, to_come: &[Results]) -> Result<Printed, Failure> {
        let mut table = crosscheck::table(to_come);
        for row in &mut table.rows {
            for (cell, wide) in row.iter_mut().skip(2).zip(WIDE) {
                *cell = Cell::Number(wide.to_owned());
            }
        }
        let layout = Layout::of(&table);
        let head = crosscheck::heading(to_come) + &layout.head(&table.columns);
        if format == Format::Csv {
            output::print(&crosscheck::csv_header())?;
        }
        Ok(Printed { format, layout, head: Some(head) })
    }

    /// A repetition is done.
    pub(super) fn pair(&self, results: &Results, pair: &Pair) -> Result<(), Failure> {
        match self.format {
            Format::Csv => output::print(&results.csv_rows(pair)),
            _ => Ok(()),
        }
    }

    /// Nothing more will come of a sender.
    pub(super) fn sender(&mut self, results: &Results) -> Result<(), Failure> {
        if results.pairs.is_empty() {
            return Ok(());
        }
        match self.format {
            Format::Table => {
                let table = crosscheck::table(std::slice::from_ref(results));
                let head = self.head.take().unwrap_or_default();
                let rows = table.rows.iter().map(|row| self.layout.row(row));
                output::print(&(head + &rows.collect::<String>()))
            }
            Format::Json => {
                output::print(&results.objects().iter().map(|it| format!("{it}\n")).collect::<String>())
            }
            // A table of a document is one piece.
            Format::Markdown | Format::Csv => Ok(()),
        }
    }

    /// What can only be said of all.
    pub(super) fn end(&self, done: &[Results]) -> Result<(), Failure> {
        match self.format {
            Format::Table if !done.is_empty() => output::print(&crosscheck::notes(done)),
            Format::Markdown if !done.is_empty() => output::print(&crosscheck::table(done).markdown()),
            _ => Ok(()),
        }
    }
}
