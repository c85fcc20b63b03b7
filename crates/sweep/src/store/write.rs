//! Insertion of sweeps and runs into a store.

use super::{Error, Store};
use crate::digest::ENGINE;
use crate::grid::Grid;
use crate::row::{RunRow, Subject, SubjectMetrics};
use rusqlite::{CachedStatement, OptionalExtension, Transaction, TransactionBehavior, params};
use serde_json::json;
use std::collections::HashMap;

impl Store {
    /// Adds a sweep, and those of its points that the store lacks. Returns the number of the sweep.
    pub fn add(&mut self, grid: &Grid) -> Result<i64, Error> {
        self.within(|transaction| {
            let digest = grid.digest();
            transaction.execute(
                "INSERT INTO sweep (digest, title, paths) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![digest, grid.title, json!(grid.paths).to_string()],
            )?;
            let sweep =
                transaction.query_row("SELECT id FROM sweep WHERE digest = ?1", [digest], |row| row.get(0))?;
            let mut point = transaction.prepare(
                "INSERT INTO point (digest, engine, scenario) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?;
            let mut place = transaction.prepare(
                "INSERT INTO place (sweep, number, point, x) SELECT ?1, ?2, id, ?4 FROM point WHERE digest = ?3
                 ON CONFLICT DO NOTHING",
            )?;
            for (number, one) in grid.points.iter().enumerate() {
                point.execute(params![one.digest, *ENGINE, one.text])?;
                place.execute(params![sweep, number as i64, one.digest, json!(one.values).to_string()])?;
            }
            Ok(sweep)
        })
    }

    /// Commits runs of known points. When this function returns, the runs are on the disk. An existing run is replaced
    /// only if that run had failed.
    ///
    /// # Errors
    /// Fails if the store cannot be written. After a failure, none of the runs is stored.
    pub fn commit(&mut self, rows: &[RunRow]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut known = std::mem::take(&mut self.known);
        self.within(|transaction| {
            let mut numbers = MetricWriter::of(transaction)?;
            for row in rows {
                insert_run(transaction, row, &mut known, &mut numbers.waiting)?;
                numbers.write_all_but(LARGE_BATCH - 1)?;
            }
            numbers.write_all_but(0)?;
            Ok(())
        })?;
        // The cache is kept only after a successful commit, because a rollback makes its new row numbers invalid.
        self.known = known;
        Ok(())
    }

    pub(super) fn within<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let done = begun.map_err(Fault::from).and_then(|transaction| {
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        });
        done.map_err(|fault| match fault {
            Fault::Database(error) => Error::of(&self.path, &error),
            Fault::Other(error) => error,
        })
    }
}

/// Cache of row numbers, without which each insertion of a run would need queries for its point and metrics.
#[derive(Debug, Default)]
pub(super) struct IdCache {
    /// Metric names with their row numbers, in the order of first use. All runs use the names in the same order. Each
    /// search therefore starts at index `next`.
    names: Vec<(String, i64)>,
    next: usize,
    points: HashMap<String, i64>,
    /// Number of subjects (flows, link directions, all flows) that were inserted for each point. The key is the row
    /// number of the point.
    described: HashMap<i64, usize>,
}

impl IdCache {
    fn point(&mut self, transaction: &Transaction<'_>, digest: &str) -> rusqlite::Result<Option<i64>> {
        if let Some(number) = self.points.get(digest) {
            return Ok(Some(*number));
        }
        let mut known = transaction.prepare_cached("SELECT id FROM point WHERE digest = ?1")?;
        let number = known.query_row([digest], |row| row.get(0)).optional()?;
        self.points.extend(number.map(|number| (digest.to_owned(), number)));
        Ok(number)
    }

    fn name(&mut self, transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<i64> {
        let (before, behind) = self.names.split_at(self.next.min(self.names.len()));
        let mut known = (self.next..).zip(behind).chain((0..).zip(before));
        if let Some((at, (_, number))) = known.find(|(_, (known, _))| known == name) {
            self.next = at + 1;
            return Ok(*number);
        }
        let mut known = transaction.prepare_cached("SELECT id FROM name WHERE name = ?1")?;
        let number = match known.query_row([name], |row| row.get(0)).optional()? {
            Some(number) => number,
            None => transaction.prepare_cached("INSERT INTO name (name) VALUES (?1)")?.insert([name])?,
        };
        self.names.push((name.to_owned(), number));
        self.next = self.names.len();
        Ok(number)
    }
}

pub(super) enum Fault {
    Database(rusqlite::Error),
    Other(Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Database(error)
    }
}

/// Row of the table `metric`: run, subject, name, value.
type MetricRow = (i64, i64, i64, f64);

/// Number of rows that a large INSERT statement adds. Large statements are faster, because starting and ending a
/// statement takes longer than writing a row.
const LARGE_BATCH: usize = 64;
/// Number of rows that a medium INSERT statement adds.
const SMALL_BATCH: usize = 8;

struct MetricWriter<'t> {
    /// INSERT statements, each with its number of rows, in descending order of this number.
    statements: [(usize, CachedStatement<'t>); 3],
    waiting: Vec<MetricRow>,
}

impl<'t> MetricWriter<'t> {
    /// Prepares the INSERT statements. The inserted rows are always new: their run was just added, or had failed and
    /// therefore has no numbers. With OR REPLACE, SQLite omits a check for uniqueness before the insertion.
    fn of(transaction: &'t Transaction<'_>) -> rusqlite::Result<MetricWriter<'t>> {
        let of = |rows| {
            let rows_of = vec!["(?,?,?,?)"; rows].join(",");
            let insert =
                format!("INSERT OR REPLACE INTO metric (run, subject, name, value) VALUES {rows_of}");
            Ok::<_, rusqlite::Error>((rows, transaction.prepare_cached(&insert)?))
        };
        let statements = [of(LARGE_BATCH)?, of(SMALL_BATCH)?, of(1)?];
        Ok(MetricWriter { statements, waiting: Vec::with_capacity(2 * LARGE_BATCH) })
    }

    /// Writes the waiting numbers. May leave the last `rest` numbers or fewer.
    fn write_all_but(&mut self, rest: usize) -> rusqlite::Result<()> {
        let mut left = &self.waiting[..];
        for (rows, insert) in &mut self.statements {
            while left.len() > rest && left.len() >= *rows {
                let (now, later) = left.split_at(*rows);
                for (at, (run, subject, name, value)) in now.iter().enumerate() {
                    insert.raw_bind_parameter(4 * at + 1, run)?;
                    insert.raw_bind_parameter(4 * at + 2, subject)?;
                    insert.raw_bind_parameter(4 * at + 3, name)?;
                    insert.raw_bind_parameter(4 * at + 4, value)?;
                }
                insert.raw_execute()?;
                left = later;
            }
        }
        let written = self.waiting.len() - left.len();
        self.waiting.drain(..written);
        Ok(())
    }
}

fn insert_run(
    transaction: &Transaction<'_>,
    row: &RunRow,
    known: &mut IdCache,
    numbers: &mut Vec<MetricRow>,
) -> rusqlite::Result<()> {
    let (state, error) = match &row.outcome {
        Ok(_) => ("done", None),
        Err(why) => ("failed", Some(why)),
    };
    let Some(point) = known.point(transaction, &row.digest)? else { return Ok(()) };
    let values = params![point, row.seed.cast_signed(), state, row.wall_s, error];
    let mut insert = transaction.prepare_cached(
        "INSERT INTO run (point, seed, state, attempt, wall_s, error) VALUES (?1, ?2, ?3, 1, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?;
    let run = match insert.execute(values)? {
        0 => transaction
            .prepare_cached(
                "UPDATE run SET state = ?3, attempt = attempt + 1, wall_s = ?4, error = ?5
                 WHERE point = ?1 AND seed = ?2 AND state = 'failed' RETURNING id",
            )?
            .query_row(values, |row| row.get(0))
            .optional()?,
        _ => Some(transaction.last_insert_rowid()),
    };
    let Some(run) = run else { return Ok(()) };
    let subject_metrics = row.outcome.as_ref().map(Vec::as_slice).unwrap_or_default();
    let described = known.described.entry(point).or_default();
    while *described < subject_metrics.len() {
        let several = &subject_metrics[*described..subject_metrics.len().min(*described + SMALL_BATCH)];
        describe(transaction, point, *described, several)?;
        *described += several.len();
    }
    for (number, metrics) in subject_metrics.iter().enumerate() {
        for (name, value) in &metrics.numbers {
            numbers.push((run, number as i64, known.name(transaction, name)?, *value));
        }
    }
    Ok(())
}

/// Inserts the kind and the name of each subject, starting with subject number `first`. A subject is a flow, a link
/// direction, or all flows.
fn describe(
    transaction: &Transaction<'_>,
    point: i64,
    first: usize,
    subject_metrics: &[SubjectMetrics],
) -> rusqlite::Result<()> {
    let rows_of = vec!["(?,?,?,?)"; subject_metrics.len()].join(",");
    let mut insert = transaction.prepare_cached(&format!(
        "INSERT INTO subject (point, number, kind, name) VALUES {rows_of} ON CONFLICT DO NOTHING"
    ))?;
    for (at, metrics) in subject_metrics.iter().enumerate() {
        let (kind, name) = match &metrics.subject {
            Subject::Flow(name) => ("flow", name.as_str()),
            Subject::All => ("all", ""),
            Subject::Link(name) => ("link", name.as_str()),
        };
        insert.raw_bind_parameter(4 * at + 1, point)?;
        insert.raw_bind_parameter(4 * at + 2, (first + at) as i64)?;
        insert.raw_bind_parameter(4 * at + 3, kind)?;
        insert.raw_bind_parameter(4 * at + 4, name)?;
    }
    insert.raw_execute().map(|_| ())
}
