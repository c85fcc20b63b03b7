//! Errors of a store.

use rusqlite::ErrorCode;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Error of a store. [`Error::help`] returns the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The file does not exist.
    Missing(PathBuf),
    /// A different process writes to the store.
    InUse(PathBuf),
    /// The directory of the store is missing.
    NoFolder(PathBuf),
    /// The file is not an SQLite database.
    NoDatabase(PathBuf),
    /// The database belongs to a different program.
    AnotherDatabase(PathBuf),
    /// A newer version of the program created the store.
    Newer {
        /// Path of the store.
        path: PathBuf,
        /// Version of the store's format.
        version: u32,
    },
    /// The program may not write the file.
    ReadOnly(PathBuf),
    /// The disk is full.
    Full(PathBuf),
    /// The file cannot be read or written. The text is the reason.
    Broken(PathBuf, String),
    /// Two stores have different numbers for the same run.
    Disagree {
        /// Path of the second store, which was to be merged.
        path: PathBuf,
        /// Number of runs with different numbers.
        runs: u64,
    },
}

impl Error {
    /// Converts an error of the operating system during the reading of a store.
    pub(super) fn unreadable(path: &Path, error: &io::Error) -> Error {
        match error.kind() {
            ErrorKind::NotFound => Error::Missing(path.to_owned()),
            ErrorKind::IsADirectory => Error::NoDatabase(path.to_owned()),
            _ => Error::Broken(path.to_owned(), error.to_string()),
        }
    }

    /// Converts an error of the operating system during the writing of a file next to a store.
    pub(super) fn unwritable(path: &Path, error: &io::Error) -> Error {
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::ReadOnly(path.to_owned()),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full(path.to_owned()),
            ErrorKind::NotFound => Error::NoFolder(path.to_owned()),
            _ => Error::Broken(path.to_owned(), error.to_string()),
        }
    }

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

    /// Returns the remedy for the error.
    pub fn help(&self) -> &'static str {
        match self {
            Error::Missing(_) => "create a store with lasthop sweep PATH --set key=a,b --store FILE",
            Error::InUse(_) => {
                "wait until that process ends, or use a separate store and merge the two: lasthop results A --merge B"
            }
            Error::NoFolder(_) => "create the directory first",
            Error::NoDatabase(_) | Error::AnotherDatabase(_) => {
                "the file was not changed; name a new file, or the store of a sweep"
            }
            Error::Newer { .. } => {
                "the file was not changed; use the program version that created it, or a newer version"
            }
            Error::ReadOnly(_) => "name a file and a directory with write permission",
            Error::Full(_) => "free disk space and repeat the command: it continues with the stored runs",
            Error::Broken(..) => {
                "repeat the command if the fault was temporary; otherwise start another store"
            }
            Error::Disagree { .. } => {
                "nothing was merged; check that the same program created both stores: `lasthop results` shows the \
                 engine of each store"
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Missing(path) => write!(f, "the store `{}` does not exist", path.display()),
            Error::InUse(path) => write!(f, "another process is writing to `{}`", path.display()),
            Error::NoFolder(path) => {
                let folder = path.parent().unwrap_or(path).display();
                write!(f, "cannot create `{}`: the directory `{folder}` does not exist", path.display())
            }
            Error::NoDatabase(path) => {
                write!(f, "`{}` is not a store: it is not an SQLite database", path.display())
            }
            Error::AnotherDatabase(path) => {
                write!(f, "`{}` is not a store: it is an SQLite database of another program", path.display())
            }
            Error::Newer { path, version } => {
                write!(
                    f,
                    "`{}` was created by a newer lasthop: the store's version is {version}, ",
                    path.display()
                )?;
                write!(f, "and this program supports versions up to {}", super::schema::VERSION)
            }
            Error::ReadOnly(path) => write!(f, "no permission to write `{}`", path.display()),
            Error::Full(path) => {
                write!(f, "the disk is full: `{}` has all earlier runs and is intact", path.display())
            }
            Error::Broken(path, why) => write!(f, "cannot use the store `{}`: {why}", path.display()),
            Error::Disagree { path, runs } => {
                write!(
                    f,
                    "`{}` has different numbers for {runs} runs that are in both stores",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for Error {}
