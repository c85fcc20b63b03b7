//! What goes into a store.

use super::{Error, Store};
use crate::grid::{ENGINE, Grid};
use crate::row::{Part, Row, Subject};
use rusqlite::{Transaction, TransactionBehavior, params};
use serde_json::json;

impl Store {
    /// Adds a sweep and its points where they are not there; the sweep's number.
    ///
    /// # Errors
    /// If it cannot be written.
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
                point.execute(params![one.digest, ENGINE, one.text])?;
                place.execute(params![sweep, number as i64, one.digest, json!(one.values).to_string()])?;
            }
            Ok(sweep)
        })
    }

    /// Keeps runs of points that it has; when this returns they are on the disk. A run that is there stays as it is,
    /// unless it had failed.
    ///
    /// # Errors
    /// If it cannot be written; then none of them is kept.
    pub fn keep(&mut self, rows: &[Row]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        self.within(|transaction| {
            rows.iter().try_for_each(|row| keep(transaction, row))?;
            Ok(())
        })
    }

    /// One transaction: all of it or nothing.
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

/// Why a transaction is taken back.
pub(super) enum Fault {
    /// SQLite says so.
    Database(rusqlite::Error),
    /// We do.
    Other(Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Database(error)
    }
}

fn keep(transaction: &Transaction<'_>, row: &Row) -> rusqlite::Result<()> {
    let (state, error) = match &row.outcome {
        Ok(_) => ("done", None),
        Err(why) => ("failed", Some(why)),
    };
    let mut insert = transaction.prepare_cached(
        "INSERT INTO run (point, seed, state, attempt, wall_s, error)
         SELECT id, ?2, ?3, 1, ?4, ?5 FROM point WHERE digest = ?1
         ON CONFLICT (point, seed) DO UPDATE
         SET state = excluded.state, attempt = attempt + 1, wall_s = excluded.wall_s, error = excluded.error
         WHERE state = 'failed'
         RETURNING id, point",
    )?;
    let seed = row.seed.cast_signed();
    let mut kept = insert.query(params![row.digest, seed, state, row.wall_s, error])?;
    let Some(found) = kept.next()? else { return Ok(()) };
    let (run, point): (i64, i64) = (found.get(0)?, found.get(1)?);
    for (number, part) in row.outcome.iter().flatten().enumerate() {
        numbers(transaction, run, point, number, part)?;
    }
    Ok(())
}

/// The numbers of one flow, one direction of a link, or all flows.
fn numbers(
    transaction: &Transaction<'_>,
    run: i64,
    point: i64,
    number: usize,
    part: &Part,
) -> rusqlite::Result<()> {
    let (kind, name) = match &part.subject {
        Subject::Flow(name) => ("flow", name.as_str()),
        Subject::All => ("all", ""),
        Subject::Link(name) => ("link", name.as_str()),
    };
    let number = number as i64;
    transaction
        .prepare_cached(
            "INSERT INTO subject (point, number, kind, name) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        )?
        .execute(params![point, number, kind, name])?;
    let mut known = transaction.prepare_cached("SELECT id FROM name WHERE name = ?1")?;
    let mut add = transaction.prepare_cached("INSERT INTO name (name) VALUES (?1)")?;
    let mut insert = transaction
        .prepare_cached("INSERT INTO metric (run, subject, name, value) VALUES (?1, ?2, ?3, ?4)")?;
    for (name, value) in &part.numbers {
        let name: i64 = match known.query_row([name], |row| row.get(0)) {
            Ok(name) => name,
            Err(rusqlite::Error::QueryReturnedNoRows) => add.insert([name])?,
            Err(error) => return Err(error),
        };
        insert.execute(params![run, number, name, value])?;
    }
    Ok(())
}
