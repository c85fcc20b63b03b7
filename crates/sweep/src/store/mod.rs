//! Store of sweeps: an SQLite database with one writer.
//!
//! Rows are durable when [`Store::commit`] returns, because SQLite syncs the write-ahead log to the disk at each commit
//! (`synchronous = FULL`). If the process is killed, only uncommitted rows are lost. A lock on a file next to the store
//! excludes a second writer. The lock ends with the process. Readers never wait for the writer.
//!
//! * `schema`: tables, and upgrades of older files.
//! * `file_kind`: recognition of a store.
//! * `lock`: lock that admits only one writer.
//! * `remote`: detection of network file systems, on which a write-ahead log is impossible.
//! * `write`: insertion.
//! * `read`: queries.
//! * `merge`: merging of stores.
//! * `error`: errors of a store.

mod error;
mod file_kind;
mod lock;
mod merge;
mod read;
mod remote;
mod schema;
mod write;

pub use error::Error;
pub use merge::Merged;
pub use read::{Combination, Contents, MetricSelection, StoreReader, StoredRun, StoredSweep};

use file_kind::FileKind;
use lock::Lock;
use read::MetricNames;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;
use write::IdCache;

/// Longest wait for a lock that another program holds on the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Store that is open for writing. A store has at most one writer.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    known: IdCache,
    names: MetricNames,
    _lock: Lock,
}

impl Store {
    /// Opens a store. Creates the store if the file is missing or empty.
    ///
    /// # Errors
    /// Fails if a different process writes to the store, if the file is not a store or has a newer version, or if the
    /// file cannot be written. After a failure, the file is unchanged.
    pub fn open(path: &Path) -> Result<Store, Error> {
        if path.metadata().is_ok_and(|about| about.permissions().readonly()) {
            return Err(Error::ReadOnly(path.to_owned()));
        }
        // Checks the file before `Lock::take` creates a lock file next to it.
        FileKind::of(path)?.refuse_others(path)?;
        let lock = Lock::take(path)?;
        let failed = |error| Error::of(path, &error);
        let connection =
            Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE)).map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        plan_once(&connection).map_err(failed)?;
        let mut store = Store {
            connection,
            path: path.to_owned(),
            known: IdCache::default(),
            names: MetricNames::default(),
            _lock: lock,
        };
        schema::upgrade(&mut store.connection).map_err(failed)?;
        let log = if remote::is_remote(path) { "DELETE" } else { "WAL" };
        store.log(log).map_err(failed)?;
        store.connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        // The following two settings switch off checks for each row. The checks are unnecessary: each row refers only
        // to rows that were found or added before, and this program writes only the words that the CHECK clauses allow.
        store.connection.pragma_update(None, "foreign_keys", false).map_err(failed)?;
        store.connection.pragma_update(None, "ignore_check_constraints", true).map_err(failed)?;
        Ok(store)
    }

    /// Returns access to the contents.
    pub fn contents(&self) -> Contents<'_> {
        Contents { connection: &self.connection, path: &self.path, names: &self.names }
    }

    /// Returns the path of the store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the store. If no reader is open, merges the write-ahead log into the database and removes the log file.
    pub fn close(self) {
        // If a reader is open, the log file remains and no data is lost.
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let _ = self.log("DELETE");
    }

    fn log(&self, mode: &str) -> rusqlite::Result<()> {
        self.connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))
    }
}

/// Returns the flags with which a file is opened. The path is not interpreted as a URI.
fn flags(mode: OpenFlags) -> OpenFlags {
    let create = if mode.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        OpenFlags::SQLITE_OPEN_CREATE
    } else {
        OpenFlags::empty()
    };
    mode | create | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Makes SQLite plan each statement once, instead of once for each set of bound values.
fn plan_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::row;
    use lasthop_scenario::Draft;

    /// If the disk is full, the store stays valid and the sweep can continue later. The test limits the size of the
    /// file instead of filling the disk.
    #[test]
    fn a_full_disk_keeps_what_was_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.sqlite");
        let grid = Grid::of(&Draft::load("rate=2Mbit/s,rtt=40ms,loss=1%,duration=1s").unwrap(), &[]).unwrap();
        let point = &grid.points[0];
        let rows: Vec<row::RunRow> =
            (1..=200).map(|seed| row::run(&point.scenario, &point.digest, seed)).collect();
        let mut store = Store::open(&path).unwrap();
        let sweep = store.add(&grid).unwrap();
        store.commit(&rows[..3]).unwrap();
        let most = |store: &Store, pages: u32| {
            store.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        };
        let pages: u32 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        most(&store, pages);
        assert_eq!(store.commit(&rows[3..]), Err(Error::Full(path.clone())));
        let done = |store: &Store| store.contents().sweeps().unwrap()[0].done;
        assert_eq!((sweep, done(&store)), (1, 3));
        let sound: String =
            store.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
        most(&store, u32::MAX / 4);
        store.commit(&rows[3..]).unwrap();
        assert_eq!(done(&store), 200);
    }

    /// A process that is killed at its start leaves an empty file. An empty file can be opened as a store.
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
        assert_eq!((log.as_str(), synchronous), ("wal", 2));
    }
}
