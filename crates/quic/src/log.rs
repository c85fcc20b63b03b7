//! The writer of a connection's qlog, on the way from the caller to the library.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

type Writer = Box<dyn Write + Send + Sync>;

/// Place of the writer until the library takes the writer at the start of the connection.
#[derive(Clone, Default)]
pub(crate) struct LogSlot {
    is_disabled: bool,
    writer: Arc<Mutex<Option<Writer>>>,
}

impl LogSlot {
    /// Returns this slot, which refuses writers if the library has no log.
    pub(crate) fn enabled(self, has_log: bool) -> LogSlot {
        LogSlot { is_disabled: !has_log, ..self }
    }

    /// Stores the writer. Returns false if the library has no log.
    pub(crate) fn put(&self, writer: Writer) -> bool {
        if !self.is_disabled {
            *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer);
        }
        !self.is_disabled
    }

    #[cfg(feature = "qlog")]
    pub(crate) fn take(&self) -> Option<Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
