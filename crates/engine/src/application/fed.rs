//! Fed transfers: the driver of the engine decides when the source writes data, how much data, and when the data ends.

use super::Socket;

/// Largest amount of data of a fed transfer, bytes. Transfers of a scenario have the same limit.
const MAX_BYTES: u64 = 1_000_000_000_000_000;

/// State of a fed transfer.
#[derive(Default)]
pub(crate) struct Fed {
    /// Data that the driver has written, bytes.
    pub(super) written: u64,
    /// Part of `written` that the source's socket has yet to receive, bytes.
    pending: u64,
    /// Whether no further data follows.
    is_closed: bool,
    /// Whether the source has closed the connection.
    has_left: bool,
}

impl Fed {
    /// Adds data, which the next call of [`Fed::act`] passes to the source. Returns false, without effect, if `bytes` is
    /// 0 or if the transfer would have more than 1 PB.
    pub(crate) fn write(&mut self, bytes: u64) -> bool {
        let is_accepted = (1..=MAX_BYTES - self.written).contains(&bytes);
        if is_accepted {
            self.written += bytes;
            self.pending += bytes;
        }
        is_accepted
    }

    /// Ends the data. The source closes the connection when all data is sent.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether [`Fed::close`] was called.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Passes new data, and the end of the data, to the source. Returns whether the source has something to send.
    pub(super) fn act<S: Socket>(&mut self, source: &mut S) -> bool {
        let pending = std::mem::take(&mut self.pending);
        if pending > 0 {
            source.write(pending);
        }
        let leaves = self.is_closed && !self.has_left;
        if leaves {
            source.close_when_sent();
            self.has_left = true;
        }
        pending > 0 || leaves
    }
}
