//! The file that holds sweeps: SQLite, with one writer.
//!
//! Rows are there for good when [`Store::keep`] returns: each transaction is written ahead to a log that the disk confirms
//! (`synchronous = FULL`), so that a kill at any moment loses what was not yet committed and nothing else. A lock beside
//! the file keeps a second writer out and ends with the process, however that ends. Readers never wait.
//!
//! * `schema`: the tables, and how an older file gets them; `whose`: whether a file is a store at all.
//! * `lock`: one writer; `remote`: file systems that a log with shared memory does not work on.
//! * `write`, `read`, `merge`: what goes in, what comes out, and what comes from another store.
//! * `error`: what can be wrong with it.

mod error;
mod lock;
mod merge;
mod read;
mod remote;
mod schema;
mod whose;
mod write;

pub use error::Error;
pub use merge::Merged;
pub use read::{Contents, Numbers, Place, Reader, Run, Sweep};

use lock::Lock;
use read::Names;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;
use whose::Whose;
use write::Known;

/// How long a reader's or another program's hold on the file is waited out.
const PATIENCE: Duration = Duration::from_secs(30);

/// A store, open for its only writer.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    known: Known,
    names: Names,
    _lock: Lock,
}

impl Store {
    /// Opens a store, or makes one where there is no file or an empty one.
    ///
    /// # Errors
    /// If another process has it, if the file is something else or of a newer version, if it cannot be written. It is
    /// left as it was then.
    pub fn open(path: &Path) -> Result<Store, Error> {
        if path.metadata().is_ok_and(|about| about.permissions().readonly()) {
            return Err(Error::ReadOnly(path.to_owned()));
        }
        // What is no store gets no lock beside it.
        Whose::of(path)?.refuse_others(path)?;
        let lock = Lock::take(path)?;
        let failed = |error| Error::of(path, &error);
        let connection =
            Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE)).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        plan_once(&connection).map_err(failed)?;
        let mut store = Store {
            connection,
            path: path.to_owned(),
            known: Known::default(),
            names: Names::default(),
            _lock: lock,
        };
        schema::bring_up(&mut store.connection).map_err(failed)?;
        let log = if remote::is_remote(path) { "DELETE" } else { "WAL" };
        store.log(log).map_err(failed)?;
        store.connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        // Whatever is kept refers to what is there: its number was asked for in the same transaction, or before. And it is
        // of the words that the tables' checks list, which SQLite would list anew for each row.
        store.connection.pragma_update(None, "foreign_keys", false).map_err(failed)?;
        store.connection.pragma_update(None, "ignore_check_constraints", true).map_err(failed)?;
        Ok(store)
    }

    /// What is in it.
    pub fn contents(&self) -> Contents<'_> {
        Contents { connection: &self.connection, path: &self.path, names: &self.names }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes it. Unless somebody is reading it the log becomes part of it: what stays is one file.
    pub fn close(self) {
        // With a reader the log stays, which is as good.
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let _ = self.log("DELETE");
    }

    /// How changes are made safe.
    fn log(&self, mode: &str) -> rusqlite::Result<()> {
        self.connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))
    }
}

/// Paths are paths: no addresses.
fn flags(mode: OpenFlags) -> OpenFlags {
    let create = match mode.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        true => OpenFlags::SQLITE_OPEN_CREATE,
        false => OpenFlags::empty(),
    };
    mode | create | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Statements are planned when they are made, and not anew for each value that is put into them.
fn plan_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::row;
    use lasthop_scenario::Draft;

    /// A file that cannot grow is what a full disk comes to: nothing is torn, and there is more when there is room.
    #[test]
    fn a_full_disk_keeps_what_was_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.sqlite");
        let grid = Grid::of(&Draft::load("rate=2Mbit/s,rtt=40ms,loss=1%,duration=1s").unwrap(), &[]).unwrap();
        let point = &grid.points[0];
        let rows: Vec<row::Row> =
            (1..=200).map(|seed| row::run(&point.scenario, &point.digest, seed)).collect();
        let mut store = Store::open(&path).unwrap();
        let sweep = store.add(&grid).unwrap();
        store.keep(&rows[..3]).unwrap();
        let most = |store: &Store, pages: u32| {
            store.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        };
        let pages: u32 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        most(&store, pages);
        assert_eq!(store.keep(&rows[3..]), Err(Error::Full(path.clone())));
        let done = |store: &Store| store.contents().sweeps().unwrap()[0].done;
        assert_eq!((sweep, done(&store)), (1, 3));
        let sound: String =
            store.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
        most(&store, u32::MAX / 4);
        store.keep(&rows[3..]).unwrap();
        assert_eq!(done(&store), 200);
    }

    /// An empty file is what a stop at the very beginning leaves.
    #[test]
    fn an_empty_file_becomes_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.sqlite");
        std::fs::write(&path, "").unwrap();
        std::fs::write(folder.path().join("r.sqlite.lock"), "").unwrap();
        let store = Store::open(&path).unwrap();
        assert!(store.contents().sweeps().unwrap().is_empty());
        let version: u32 =
            store.connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, schema::VERSION);
        let log: String =
            store.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        let synchronous: u32 =
            store.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
        // 2 is FULL.
        assert_eq!((log.as_str(), synchronous), ("wal", 2));
    }
}
