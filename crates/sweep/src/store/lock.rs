//! Lock that admits only one writer of a store. The operating system releases the lock when the process ends.
//!
//! The lock is on a separate file next to the store, because SQLite's own locks last only for a transaction. The empty
//! lock file is never removed. If the file were removed, two processes could each hold a lock: one on the removed file,
//! and one on the new file.

use super::Error;
use super::file_kind::beside;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "held, not used")] File);

impl Lock {
    /// Takes the lock. Fails if a different process holds the lock.
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
