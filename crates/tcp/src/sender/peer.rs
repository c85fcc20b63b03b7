//! The peer's advertised window (SND.WND, RFC 9293 §3.3.1).

/// The receiver's window in absolute offsets. Windows fit in 32 bits: they are at most 65,535 * 2^14 bytes (RFC 7323
/// §2.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peer {
    right_edge: u64,
    /// Offset of the peer's segment that set the window (SND.WL1, RFC 9293 §3.10.7.4).
    updated_at: u64,
    /// The last window advertised, bytes.
    window: u32,
    largest_window: u32,
}

/// Compact form of [`Peer`] before anything is sent. The window then begins at offset 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InitialWindow {
    at: u64,
    window: u32,
    largest_window: u32,
}

impl InitialWindow {
    #[inline(always)]
    pub(super) fn update_from(&mut self, at: u64, window: u64) {
        if at >= self.at {
            debug_assert!(window <= u64::from(u32::MAX), "no header can advertise such a window");
            self.at = at;
            self.window = window as u32;
            self.largest_window = self.largest_window.max(self.window);
        }
    }

    pub(super) fn peer(&self) -> Peer {
        let InitialWindow { at, window, largest_window } = *self;
        Peer { right_edge: 1 + u64::from(window), updated_at: at, window, largest_window }
    }
}

impl Peer {
    pub(super) fn closed_at(offset: u64) -> Peer {
        Peer { right_edge: offset, ..Peer::default() }
    }

    /// Sets the window of `window` bytes from offset `ack`. The receiver may shrink the window, so the right edge may
    /// move left (RFC 9293 §3.8.6).
    pub(super) fn update(&mut self, ack: u64, window: u64) {
        debug_assert!(window <= u64::from(u32::MAX), "no header can advertise such a window");
        self.window = window as u32;
        self.largest_window = self.largest_window.max(self.window);
        self.right_edge = ack.saturating_add(window);
    }

    /// Calls [`Peer::update`] for the peer's segment at offset `at` (SEG.SEQ), unless a later segment has set the
    /// window.
    pub(super) fn update_from(&mut self, at: u64, ack: u64, window: u64) {
        if at >= self.updated_at {
            self.updated_at = at;
            self.update(ack, window);
        }
    }

    pub(super) fn right_edge(&self) -> u64 {
        self.right_edge
    }

    pub(super) fn usable_from(&self, offset: u64) -> u64 {
        self.right_edge.saturating_sub(offset)
    }

    pub(super) fn window(&self) -> u64 {
        u64::from(self.window)
    }

    pub(super) fn largest_window(&self) -> u64 {
        u64::from(self.largest_window)
    }

    /// Whether a segment of `usable` bytes would cause the silly window syndrome: it is less than half of the largest
    /// window (RFC 9293 §3.8.6.2.1).
    pub(super) fn is_silly(&self, usable: u64) -> bool {
        usable == 0 || usable < self.largest_window() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9293 §3.10.7.4: an older segment (offset 9 after 10) does not update SND.WND. A segment with the same offset
    /// does update SND.WND.
    #[test]
    fn an_older_segment_tells_no_window() {
        let mut peer = Peer::closed_at(1);
        assert_eq!(peer.usable_from(1), 0);
        peer.update_from(10, 1, 5000);
        peer.update_from(9, 1, 20_000);
        assert_eq!((peer.usable_from(1001), peer.window(), peer.largest_window()), (4000, 5000, 5000));
        peer.update_from(10, 1001, 2000);
        assert_eq!((peer.usable_from(1001), peer.window(), peer.largest_window()), (2000, 2000, 5000));
    }

    #[test]
    fn half_of_the_largest_window_is_worth_a_segment() {
        let mut peer = Peer::closed_at(1);
        peer.update(1, 4000);
        assert!(peer.is_silly(0) && peer.is_silly(1999) && !peer.is_silly(2000));
        assert!(Peer::closed_at(1).is_silly(0), "an empty segment is never sent");
    }
}
