//! What the application has asked for: how much is to be sent, and whether a FIN follows.

use crate::ranges::Range;

/// What there is to send. The FIN counts as a byte behind the data.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Application {
    /// The byte behind the last one to send, the FIN included.
    end: u64,
    /// Whether that is a FIN.
    finishing: bool,
    /// Whether a short segment waits while data is outstanding (RFC 9293 §3.7.4).
    nagle: bool,
}

impl Application {
    /// Nothing written; the first byte of data will be at offset 1.
    pub(super) fn new(nagle: bool) -> Application {
        Application { finishing: false, end: 1, nagle }
    }

    /// So many bytes more; none after [`Application::finish`].
    pub(super) fn write(&mut self, bytes: u64) {
        if !self.finishing {
            self.end = self.end.saturating_add(bytes);
        }
    }

    pub(super) fn finish(&mut self) {
        self.end = self.written().saturating_add(1);
        self.finishing = true;
    }

    /// The byte behind the last one written.
    pub(super) fn written(&self) -> u64 {
        self.end - u64::from(self.finishing)
    }

    /// Whether a FIN follows the last byte.
    pub(super) fn is_finishing(&self) -> bool {
        self.finishing
    }

    /// The byte behind the last one to send, the FIN included.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Whether a segment of these bytes bears the FIN.
    pub(super) fn ends_with(&self, range: Range) -> bool {
        self.finishing && range.end == self.end()
    }

    /// Whether short segments wait while data is outstanding.
    pub(super) fn delays_short(&self) -> bool {
        self.nagle
    }

    /// Whether they do from now on.
    pub(super) fn set_nagle(&mut self, nagle: bool) {
        self.nagle = nagle;
    }

    /// Takes over what another one was asked for; Nagle's algorithm stays as it is here.
    pub(super) fn take_over(&mut self, other: &Application) {
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
