//! Reads tables of times and rates, row by row.

use super::Opportunities;
use super::columns::{self, ColumnPlan, RateColumn, TimeColumn};
use super::rate_series::{RateSeries, THROUGHPUT_NOTE};
use crate::import_result::{ImportResult, Sourced, shortened};
use crate::limited::LineLimited;
use crate::{ImportError, ImportOptions};
use csv::{ByteRecord, ReaderBuilder};
use std::io::{BufRead, BufReader, Read, Write};

/// Number of rows that are examined to find the columns.
const SAMPLE_ROWS: usize = 128;
const LARGEST: f64 = 1e13;
/// Number of unreadable rows that are always accepted. With more unreadable rows, the table is refused if more than
/// half of the rows so far are unreadable.
const MAX_UNREADABLE: u64 = 1000;

pub(crate) fn read(
    file: impl Read,
    options: &ImportOptions,
    out: &mut dyn Write,
) -> Result<ImportResult, ImportError> {
    let mut reader = BufReader::with_capacity(1 << 16, LineLimited::new(file));
    let head = reader.fill_buf().map_err(unread)?;
    let delimiter = delimiter(head);
    let start = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    reader.consume(start);
    let mut rows = CsvRows {
        reader: ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(reader),
        record: ByteRecord::new(),
        are_blanks: delimiter == b' ',
    };
    let mut sample_rows: Vec<Vec<String>> = Vec::new();
    while sample_rows.len() < SAMPLE_ROWS
        && let Some(row) = rows.next()?
    {
        sample_rows.push(row.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect());
    }
    let plan = columns::plan(&sample_rows, options)?;
    let mut table = RateTable {
        series: RateSeries::new(Opportunities::new(out)),
        plan,
        row: 0,
        unreadable: 0,
        skipped: 0,
    };
    let mut continues = true;
    for row in sample_rows.iter().skip(usize::from(table.plan.has_names)) {
        let cells: Vec<&[u8]> = row.iter().map(String::as_bytes).collect();
        continues = continues && table.add_row(&cells)?;
    }
    drop(sample_rows);
    while continues && let Some(row) = rows.next()? {
        continues = table.add_row(&row)?;
    }
    let RateTable { series, plan, skipped, .. } = table;
    let (service, seconds, findings) = series.finish(!continues)?;
    let mut found = ImportResult { kind: plan.kind.into(), seconds, findings, ..ImportResult::default() };
    if skipped > 0 {
        found.findings.push(format!(
            "left out: {skipped} rows (in another state, or without a readable time or amount)"
        ));
    }
    found.findings.extend(plan.findings);
    found.findings.push(THROUGHPUT_NOTE.into());
    found.down =
        Some(Sourced::new(service, "measured: the table's rates, each valid until the time of the next row"));
    Ok(found)
}

fn unread(error: std::io::Error) -> ImportError {
    ImportError::io("cannot be read", &error)
}

/// Returns the most frequent delimiter in the first non-empty line. Blanks count only if the line has no other
/// delimiter.
fn delimiter(head: &[u8]) -> u8 {
    let line =
        head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    let best = [b',', b';', b'\t']
        .into_iter()
        .max_by_key(|delimiter| count(*delimiter))
        .filter(|best| count(*best) > 0);
    best.unwrap_or(b' ')
}

struct CsvRows<R> {
    reader: csv::Reader<R>,
    record: ByteRecord,
    are_blanks: bool,
}

impl<R: Read> CsvRows<R> {
    fn next(&mut self) -> Result<Option<Vec<&[u8]>>, ImportError> {
        loop {
            let has_row = self.reader.read_byte_record(&mut self.record).map_err(|error| {
                ImportError::new(
                    format!("cannot be read: {error}"),
                    "is it a table of text, one row per line?",
                )
            })?;
            if !has_row {
                return Ok(None);
            }
            let is_empty = self.record.iter().all(|cell| cell.trim_ascii().is_empty());
            if !is_empty {
                break;
            }
        }
        let keeps = |cell: &&[u8]| !self.are_blanks || !cell.is_empty();
        Ok(Some(self.record.iter().filter(keeps).collect()))
    }
}

struct RateTable<'w> {
    series: RateSeries<'w>,
    plan: ColumnPlan,
    /// Number of the current row, from 1. The row of column names is not counted.
    row: u64,
    unreadable: u64,
    skipped: u64,
}

impl RateTable<'_> {
    /// Handles a row. Returns false when the trace has reached its maximum length.
    fn add_row(&mut self, row: &[&[u8]]) -> Result<bool, ImportError> {
        self.row += 1;
        let cell = |column: usize| {
            row.get(column).and_then(|cell| std::str::from_utf8(cell).ok()).map_or("", str::trim)
        };
        if let Some((column, word)) = self.plan.only
            && cell(column) != word
        {
            self.skipped += 1;
            return Ok(true);
        }
        let rate = match self.plan.rate {
            RateColumn::Column(column, bits) => number(cell(column)).map(|number| number * bits),
            RateColumn::Bytes(column) => number(cell(column)),
            RateColumn::Both(value, unit) => {
                let unit = cell(unit);
                match (number(cell(value)), columns::unit(unit)) {
                    (Some(number), Some(bits)) => Some(number * bits),
                    (Some(_), None) => {
                        return Err(ImportError::new(
                            format!("row {}: `{}` is not a unit of a rate", self.row, shortened(unit)),
                            "use a unit such as Mbits/sec, Kbits/sec or bits/sec",
                        ));
                    }
                    (None, _) => None,
                }
            }
        };
        if let Some(rate) = rate.filter(|rate| *rate > LARGEST) {
            return Err(ImportError::new(
                format!("row {}: {:.0} Gbit/s exceeds the rate of any link", self.row, rate / 1e9),
                "is the unit right? see --unit",
            ));
        }
        match &self.plan.time {
            TimeColumn::Length(column) => {
                let (Some(bytes), Some(millis)) = (rate, number(cell(*column))) else {
                    return self.unreadable("bytes or milliseconds");
                };
                self.series.span(millis / 1000.0, bytes)
            }
            TimeColumn::Seconds => self.series.push((self.row - 1) as f64, rate),
            TimeColumn::Column(column, time_format) => match time_format.read(cell(*column)) {
                Some(at) => self.series.push(at, rate),
                None => self.unreadable("time"),
            },
        }
    }

    /// Skips an unreadable row. Fails if too many rows so far were unreadable.
    fn unreadable(&mut self, what: &str) -> Result<bool, ImportError> {
        self.unreadable += 1;
        self.skipped += 1;
        if self.unreadable > MAX_UNREADABLE && self.unreadable * 2 > self.row {
            Err(ImportError::new(
                format!("{} of the first {} rows have no readable {what}", self.unreadable, self.row),
                "are the columns right? see --time, --time-unit and --rate",
            ))
        } else {
            Ok(true)
        }
    }
}

/// Parses a non-negative number. `None` for `-`, empty cells and negative numbers.
fn number(cell: &str) -> Option<f64> {
    cell.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}
