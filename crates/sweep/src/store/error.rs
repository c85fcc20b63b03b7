//! What can be wrong with a store.

use rusqlite::ErrorCode;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What is wrong; [`Error::help`] says how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such file.
    Missing(PathBuf),
    /// Another process writes to it.
    InUse(PathBuf),
    /// There is no such directory to make it in.
    NoFolder(PathBuf),
    /// It is no database.
    NoDatabase(PathBuf),
    /// It is a database of something else.
    AnotherDatabase(PathBuf),
    /// A newer program made it.
    Newer {
        /// The store.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// It may not be written.
    ReadOnly(PathBuf),
    /// There is no room.
    Full(PathBuf),
    /// It cannot be read or written, and why.
    Broken(PathBuf, String),
    /// Two stores have different numbers for the same run.
    Disagree {
        /// The other store.
        path: PathBuf,
        /// How many runs.
        runs: u64,
    },
}

impl Error {
    /// What the system said when a store was read.
    pub(super) fn unreadable(path: &Path, error: &io::Error) -> Error {
        match error.kind() {
            ErrorKind::NotFound => Error::Missing(path.to_owned()),
            ErrorKind::IsADirectory => Error::NoDatabase(path.to_owned()),
            _ => Error::Broken(path.to_owned(), error.to_string()),
        }
    }

    /// What the system said when something was to be written beside a store.
    pub(super) fn unwritable(path: &Path, error: &io::Error) -> Error {
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::ReadOnly(path.to_owned()),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full(path.to_owned()),
            ErrorKind::NotFound => Error::NoFolder(path.to_owned()),
            _ => Error::Broken(path.to_owned(), error.to_string()),
        }
    }

    /// What SQLite said.
    pub(super) fn of(path: &Path, error: &rusqlite::Error) -> Error {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full(path),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Error::ReadOnly(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::InUse(path),
            Some(ErrorCode::NotADatabase) => Error::NoDatabase(path),
            _ => Error::Broken(path, error.to_string()),
        }
    }

    /// How to mend it.
    pub fn help(&self) -> &'static str {
        match self {
            Error::Missing(_) => "lasthop sweep PATH --set key=a,b --store FILE makes one",
            Error::InUse(_) => {
                "wait for it to end, or give this one a store of its own and merge them: lasthop results A --merge B"
            }
            Error::NoFolder(_) => "make the directory first",
            Error::NoDatabase(_) | Error::AnotherDatabase(_) => {
                "it was left as it is; give the name of a file that is not there yet, or of a sweep's store"
            }
            Error::Newer { .. } => "it was left as it is; use the program that made it, or a newer one",
            Error::ReadOnly(_) => "give a file that may be written, in a directory that may be written",
            Error::Full(_) => "make room and give the same command: it goes on with what is in the store",
            Error::Broken(..) => {
                "give the same command again if this was a passing fault; else begin another store"
            }
            Error::Disagree { .. } => {
                "nothing was merged; were they made by the same program? `lasthop results` shows the engine of each"
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Missing(path) => write!(f, "there is no store `{}`", path.display()),
            Error::InUse(path) => write!(f, "another process is writing to `{}`", path.display()),
            Error::NoFolder(path) => {
                let folder = path.parent().unwrap_or(path).display();
                write!(f, "cannot make `{}`: there is no directory `{folder}`", path.display())
            }
            Error::NoDatabase(path) => {
                write!(f, "`{}` is not a store: it is no SQLite database", path.display())
            }
            Error::AnotherDatabase(path) => {
                write!(f, "`{}` is not a store: it is an SQLite database of something else", path.display())
            }
            Error::Newer { path, version } => {
                write!(f, "`{}` was made by a newer lasthop: its version is {version}, ", path.display())?;
                write!(f, "and this program knows up to {}", super::schema::VERSION)
            }
            Error::ReadOnly(path) => write!(f, "`{}` may not be written", path.display()),
            Error::Full(path) => {
                write!(
                    f,
                    "the disk is full: `{}` has what was finished before, nothing is torn",
                    path.display()
                )
            }
            Error::Broken(path, why) => write!(f, "cannot use the store `{}`: {why}", path.display()),
            Error::Disagree { path, runs } => {
                write!(f, "`{}` has other numbers for {runs} runs that are in both stores", path.display())
            }
        }
    }
}

impl std::error::Error for Error {}
