//! One writer: a lock that the system takes back when the process ends, however it ends.
//!
//! It is on a file of its own beside the store, because SQLite's locks on the store last no longer than a transaction. The
//! file is empty and stays: to remove it would let two processes have a lock each.

use super::Error;
use super::whose::beside;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// The lock, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "held, not used")] File);

impl Lock {
    /// Takes it.
    ///
    /// # Errors
    /// If another process has it, or nothing can be written there.
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
