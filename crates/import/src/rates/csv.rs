//! Tables of times and rates, read row by row.

use super::Opportunities;
use super::columns::{self, Plan, Rate, Time};
use super::course::{Course, LOWER_BOUND};
use crate::found::{Found, Said, plain};
use crate::limited::Limited;
use crate::{Ask, Refusal};
use csv::{ByteRecord, ReaderBuilder};
use std::io::{BufRead, BufReader, Read, Write};

/// Rows examined to find the columns.
const LOOKED_AT: usize = 128;
const LARGEST: f64 = 1e13;
/// Unreadable rows at the start before the table is refused.
const PATIENCE: u64 = 1000;

pub(crate) fn read(file: impl Read, ask: &Ask, out: &mut dyn Write) -> Result<Found, Refusal> {
    let mut reader = BufReader::with_capacity(1 << 16, Limited::new(file));
    let head = reader.fill_buf().map_err(unread)?;
    let delimiter = delimiter(head);
    let start = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    reader.consume(start);
    let mut rows = Rows {
        reader: ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(reader),
        record: ByteRecord::new(),
        are_blanks: delimiter == b' ',
    };
    let mut looked_at: Vec<Vec<String>> = Vec::new();
    while looked_at.len() < LOOKED_AT
        && let Some(row) = rows.next()?
    {
        looked_at.push(row.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect());
    }
    let plan = columns::plan(&looked_at, ask)?;
    let mut table =
        Table { course: Course::new(Opportunities::new(out)), plan, row: 0, unreadable: 0, skipped: 0 };
    let mut goes_on = true;
    for row in looked_at.iter().skip(usize::from(table.plan.has_names)) {
        let cells: Vec<&[u8]> = row.iter().map(String::as_bytes).collect();
        goes_on = goes_on && table.take(&cells)?;
    }
    drop(looked_at);
    while goes_on && let Some(row) = rows.next()? {
        goes_on = table.take(&row)?;
    }
    let Table { course, plan, skipped, .. } = table;
    let (service, seconds, says) = course.finish(!goes_on)?;
    let mut found = Found { kind: plan.kind.into(), seconds, says, ..Found::default() };
    if skipped > 0 {
        found.says.push(format!("left out: {skipped} rows in another state, or without a time"));
    }
    found.says.extend(plan.says);
    found.says.push(LOWER_BOUND.into());
    found.down =
        Some(Said::new(service, "measured: the table's rates, each from its time to the next row's"));
    Ok(found)
}

fn unread(error: std::io::Error) -> Refusal {
    Refusal::io("cannot be read", &error)
}

/// Most frequent delimiter of the first line with one; blanks only if there is no other.
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

struct Rows<R> {
    reader: csv::Reader<R>,
    record: ByteRecord,
    are_blanks: bool,
}

impl<R: Read> Rows<R> {
    fn next(&mut self) -> Result<Option<Vec<&[u8]>>, Refusal> {
        loop {
            let is_there = self.reader.read_byte_record(&mut self.record).map_err(|error| {
                Refusal::new(format!("cannot be read: {error}"), "is it a table of text, one row per line?")
            })?;
            if !is_there {
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

struct Table<'w> {
    course: Course<'w>,
    plan: Plan,
    /// Row number after the names, from 1.
    row: u64,
    unreadable: u64,
    skipped: u64,
}

impl Table<'_> {
    /// Handles a row; returns false once the trace has its largest length.
    fn take(&mut self, row: &[&[u8]]) -> Result<bool, Refusal> {
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
            Rate::Column(column, bits) => number(cell(column)).map(|number| number * bits),
            Rate::Bytes(column) => number(cell(column)),
            Rate::Both(value, unit) => {
                let unit = cell(unit);
                match (number(cell(value)), columns::unit(unit)) {
                    (Some(number), Some(bits)) => Some(number * bits),
                    (Some(_), None) => {
                        return Err(Refusal::new(
                            format!("row {}: `{}` is no unit of a rate", self.row, plain(unit)),
                            "such as Mbits/sec, Kbits/sec, bits/sec",
                        ));
                    }
                    (None, _) => None,
                }
            }
        };
        if let Some(rate) = rate.filter(|rate| *rate > LARGEST) {
            return Err(Refusal::new(
                format!("row {}: {:.0} Gbit/s exceeds the rate of any link", self.row, rate / 1e9),
                "is the unit right? see --unit",
            ));
        }
        match &self.plan.time {
            Time::Length(column) => {
                let (Some(bytes), Some(millis)) = (rate, number(cell(*column))) else {
                    return self.unreadable("bytes or milliseconds");
                };
                self.course.span(millis / 1000.0, bytes)
            }
            Time::Seconds => self.course.push((self.row - 1) as f64, rate),
            Time::Column(column, clock) => match clock.read(cell(*column)) {
                Some(at) => self.course.push(at, rate),
                None => self.unreadable("time"),
            },
        }
    }

    /// Skips an unreadable row, or fails after too many.
    fn unreadable(&mut self, what: &str) -> Result<bool, Refusal> {
        self.unreadable += 1;
        self.skipped += 1;
        if self.unreadable > PATIENCE && self.unreadable * 2 > self.row {
            Err(Refusal::new(
                format!("{} of the first {} rows have no readable {what}", self.unreadable, self.row),
                "are the columns right? see --time, --time-unit and --rate",
            ))
        } else {
            Ok(true)
        }
    }
}

/// A non-negative number; `None` for `-`, empty cells and negative numbers.
fn number(cell: &str) -> Option<f64> {
    cell.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}
