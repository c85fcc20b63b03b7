//! One writer: a lock that the system releases when the process ends, also after a kill.
//!
//! The lock is on a file beside the store, because SQLite's own locks last only for a transaction. The empty file
//! stays: removing it would let two processes hold a lock each.

use super::Error;
use super::file_kind::beside;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "held, not used")] File);

impl Lock {
    /// Takes the lock. Fails if another process holds it.
    pub(super) fn take(store: &Path) -> Result<Lock, Error> {
        let path = beside(store, ".lock");
        let options = OpenOptions::new().create(true).truncate(false).write(true).to_owned();
        let file = options.open(&path).map_err(|error| Error::unwritable(store, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(Error::InUse(store.to_owned())),
            Err(TryLockError::Error(error)) => Err(Error::unwritable(store, &error)),
        }
    }
}
