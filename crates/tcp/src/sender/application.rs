//! Data that the application has written, and its FIN.

use crate::ranges::Range;

/// Data to send. The FIN counts as one byte after the data.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Application {
    /// Offset after the last byte to send, the FIN included.
    end: u64,
    finishing: bool,
    /// Whether Nagle's algorithm is on: a short segment waits while data is outstanding (RFC 9293 §3.7.4).
    nagle: bool,
}

impl Application {
    /// Returns an application without data. The first byte of data has offset 1.
    pub(super) fn new(nagle: bool) -> Application {
        Application { finishing: false, end: 1, nagle }
    }

    /// Adds `bytes` bytes of data; has no effect after [`Application::finish`].
    pub(super) fn write(&mut self, bytes: u64) {
        if !self.finishing {
            self.end = self.end.saturating_add(bytes);
        }
    }

    pub(super) fn finish(&mut self) {
        self.end = self.written().saturating_add(1);
        self.finishing = true;
    }

    /// Offset after the last byte written, without the FIN.
    pub(super) fn written(&self) -> u64 {
        self.end - u64::from(self.finishing)
    }

    pub(super) fn is_finishing(&self) -> bool {
        self.finishing
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Whether a segment of this range carries the FIN.
    pub(super) fn ends_with(&self, range: Range) -> bool {
        self.finishing && range.end == self.end()
    }

    pub(super) fn delays_short(&self) -> bool {
        self.nagle
    }

    pub(super) fn set_nagle(&mut self, nagle: bool) {
        self.nagle = nagle;
    }

    /// Copies the data of `other`, but not its setting of Nagle's algorithm.
    pub(super) fn copy_data(&mut self, other: &Application) {
        *self = Application { nagle: self.nagle, ..*other };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fin_is_the_byte_behind_the_data_and_ends_it() {
        let mut application = Application::new(true);
        application.write(1000);
        assert_eq!((application.written(), application.end()), (1001, 1001));
        let last = Range { start: 1, end: 1001 };
        assert!(!application.ends_with(last));
        application.finish();
        application.write(5);
        assert_eq!((application.written(), application.end()), (1001, 1002));
        assert!(!application.ends_with(last));
        assert!(application.ends_with(Range { end: 1002, ..last }));
    }
}
