//! Recognition of a store by the first bytes of its file, without opening the database (SQLite's documentation,
//! "Database File Format", §1.3).

use super::Error;
use super::schema::{APPLICATION, VERSION};
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Offset of `user_version` in the file. The field is a big-endian word of four bytes.
const USER_VERSION: usize = 60;
/// Offset of `application_id` in the file. The field is a big-endian word of four bytes.
const APPLICATION_ID: usize = 68;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FileKind {
    Empty,
    /// A store. The number is the version of the store's format.
    Store(u32),
    AnotherDatabase,
    NoDatabase,
}

impl FileKind {
    /// Determines the kind of a file from its first bytes. A missing file counts as empty.
    pub(super) fn of(path: &Path) -> Result<FileKind, Error> {
        let mut head = Vec::new();
        match File::open(path).and_then(|file| file.take(100).read_to_end(&mut head)) {
            Ok(0) => return Ok(FileKind::Empty),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileKind::Empty),
            Err(error) => return Err(Error::unreadable(path, &error)),
        }
        let word = |at: usize| {
            head.get(at..at + 4)
                .map_or(0, |bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        Ok(match (head.starts_with(MAGIC), word(APPLICATION_ID)) {
            (false, _) => FileKind::NoDatabase,
            (true, APPLICATION) => FileKind::Store(word(USER_VERSION)),
            // The first transaction was interrupted. SQLite will restore an empty file from the rollback journal.
            (true, 0) if beside(path, "-journal").exists() && word(USER_VERSION) == 0 => FileKind::Empty,
            (true, _) => FileKind::AnotherDatabase,
        })
    }

    /// Fails unless the file can be used as a store.
    pub(super) fn refuse_others(self, path: &Path) -> Result<(), Error> {
        match self {
            FileKind::Store(version) if version > VERSION => {
                Err(Error::Newer { path: path.to_owned(), version })
            }
            FileKind::Empty | FileKind::Store(_) => Ok(()),
            FileKind::AnotherDatabase => Err(Error::AnotherDatabase(path.to_owned())),
            FileKind::NoDatabase => Err(Error::NoDatabase(path.to_owned())),
        }
    }
}

pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}
