//! Prints the rows of each sender after the sender's last run. The results of later senders are then unknown, so the
//! column widths are fixed in advance.

use super::CrosscheckFormat;
use crate::failure::Failure;
use crate::output;
use crate::table::Layout;
use lasthop_lab::document::Cell;
use lasthop_lab::trials::crosscheck::{self, CrosscheckResults, Pair};

pub(super) struct Printer {
    format: CrosscheckFormat,
    layout: Layout,
    /// Heading above the first row; `None` after the heading has been printed.
    head: Option<String>,
}

/// Widest numbers expected in each column, which set the column widths before the results are known:
/// * simulated goodput and emulated goodput;
/// * difference of these two goodputs;
/// * three pairs of a simulated and an emulated number.
const WIDE: [&str; 6] = [
    "12345.6 ± 12.3",
    "12345.6 ± 12.3",
    "-12.34 (-12.34 to +12.34)",
    "123 / 123",
    "1.2 / 1.2",
    "12.3 / 12.3",
];

impl Printer {
    /// Prints the CSV header and sets the widths of the columns. `to_come` holds an empty result for each sender.
    pub(super) fn begin(format: CrosscheckFormat, to_come: &[CrosscheckResults]) -> Result<Printer, Failure> {
        let mut table = crosscheck::table(to_come);
        for row in &mut table.rows {
            for (cell, wide) in row.iter_mut().skip(2).zip(WIDE) {
                *cell = Cell::Number(wide.to_owned());
            }
        }
        let layout = Layout::of(&table);
        let head = crosscheck::heading(to_come) + &layout.head(&table.columns);
        if format == CrosscheckFormat::Csv {
            output::print(&crosscheck::csv_header())?;
        }
        Ok(Printer { format, layout, head: Some(head) })
    }

    pub(super) fn pair(&self, results: &CrosscheckResults, pair: &Pair) -> Result<(), Failure> {
        match self.format {
            CrosscheckFormat::Csv => output::print(&results.csv_rows(pair)),
            _ => Ok(()),
        }
    }

    pub(super) fn sender(&mut self, results: &CrosscheckResults) -> Result<(), Failure> {
        if results.pairs.is_empty() {
            return Ok(());
        }
        match self.format {
            CrosscheckFormat::Table => {
                let table = crosscheck::table(std::slice::from_ref(results));
                let head = self.head.take().unwrap_or_default();
                let rows = table.rows.iter().map(|row| self.layout.row(row));
                output::print(&(head + &rows.collect::<String>()))
            }
            CrosscheckFormat::Json => {
                output::print(&results.objects().iter().map(|it| format!("{it}\n")).collect::<String>())
            }
            // `end` prints the Markdown table; `pair` prints the CSV rows.
            CrosscheckFormat::Markdown | CrosscheckFormat::Csv => Ok(()),
        }
    }

    pub(super) fn end(&self, done: &[CrosscheckResults]) -> Result<(), Failure> {
        match self.format {
            CrosscheckFormat::Table if !done.is_empty() => output::print(&crosscheck::notes(done)),
            CrosscheckFormat::Markdown if !done.is_empty() => {
                output::print(&crosscheck::table(done).markdown())
            }
            _ => Ok(()),
        }
    }
}
