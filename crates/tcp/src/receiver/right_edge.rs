//! Advertised window and its right edge.

use super::Receiver;
use super::window::{LinkPlan, WindowDecision, WindowInput};
use lasthop_base::{Rate, Time};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Advertised {
    /// Right edge that the window mechanism wanted at the last advertisement, bytes after the ACK number.
    wanted: u64,
    /// Right edge before the last advertisement, bytes after the ACK number.
    edge: u64,
    /// Window scale at the last advertisement.
    shift: u8,
    /// Whether to advertise zero regardless of free space, because of a planned outage of the link.
    is_closed: bool,
    /// Advertised window after the rounding of the window scale, bytes.
    bytes: u64,
}

/// Value of `Receiver::buffer` and `Receiver::free` if the window mechanism has no constant buffer.
pub(super) const NO_BUFFER: u64 = u64::MAX;

impl Receiver {
    /// Right edge of the advertised window: offset of the first byte that the peer may not send yet.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// Largest window ever advertised, bytes.
    pub fn largest_window(&self) -> u64 {
        self.window.largest()
    }

    /// Records that the application has left `bytes` bytes unread. Advertises the new window at once if the new window
    /// exceeds the last advertised window by two segments or by the largest window, whichever is smaller. The
    /// comparison uses window sizes that the 16-bit field can express at the window scale `shift`.
    ///
    /// The comparison usually ignores how much of the last advertised window is still unused, because arriving data
    /// causes its own ACKs. A read must neither hasten a delayed ACK nor cause a duplicate ACK (RFC 5681 §4.2). If the
    /// unused part is smaller than two segments, the peer may be waiting for a larger window. In this case the new
    /// window is compared with the unused part (RFC 9293 §3.8.6.2.2).
    pub(crate) fn hold_unread(&mut self, bytes: u64, shift: u8) {
        self.unread = bytes;
        if self.buffer != NO_BUFFER {
            self.free = self.buffer.saturating_sub(bytes);
        }
        self.ack_is_current = false;
        let expressed = |window: u64| (window >> shift).min(u64::from(u16::MAX)) << shift;
        let wide = (2 * self.smallest_opening).min(expressed(self.window.largest())).max(1);
        let next = self.next();
        let left = self.edge.saturating_sub(next);
        let known = if left < wide { left } else { self.edge.saturating_sub(self.acknowledged) };
        let window = self.wanted_edge() - next;
        if expressed(window) >= known + wide {
            self.acknowledge_now();
        }
    }

    /// Returns the window, in units of `1 << shift`, for a segment that acknowledges `ack`.
    ///
    /// The right edge never moves left (RFC 9293 §3.8.6), neither by rounding nor by a partial `ack`, unless the
    /// mechanism shrinks the window. The edge moves right only in steps of at least a segment, to avoid the silly
    /// window syndrome (RFC 9293 §3.8.6.2.2).
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn advertise(&mut self, ack: u64, shift: u8) -> u16 {
        let wanted = self.wanted_edge();
        let (room, edge) = (wanted.wrapping_sub(ack), self.edge.wrapping_sub(ack));
        // Recomputes the window only if an input has changed. While full segments arrive in order, the inputs are the
        // same for each ACK, and the cached window is used.
        if (room, edge, shift) != (self.advertised.wanted, self.advertised.edge, self.advertised.shift) {
            self.window_units = self.recompute_window(ack, shift, wanted);
            let bytes = self.edge.saturating_sub(ack);
            self.advertised = Advertised { wanted: room, edge, shift, bytes, ..self.advertised };
        }
        self.edge = ack + self.advertised.bytes;
        self.window_units
    }

    #[cold]
    fn recompute_window(&mut self, ack: u64, shift: u8, wanted: u64) -> u16 {
        if self.advertised.is_closed {
            return 0;
        }
        let rounding = (1u64 << shift) - 1;
        if wanted + rounding >= self.edge + self.smallest_opening {
            self.edge = self.edge.max(wanted);
        }
        if self.window_shrinks {
            self.edge = wanted;
        }
        let window = self.edge.saturating_sub(ack);
        let units = u16::try_from((window + rounding) >> shift).unwrap_or(u16::MAX);
        self.edge = ack + (u64::from(units) << shift);
        units
    }

    #[inline(always)]
    fn wanted_edge(&mut self) -> u64 {
        if self.free != NO_BUFFER {
            return self.next() + self.free;
        }
        let input = WindowInput { unread: self.unread, segment: self.segment };
        self.next() + self.window.bytes(&input)
    }

    pub(crate) fn handle_link_rate(&mut self, rate: Rate) {
        self.window.on_link_rate(rate);
    }

    pub(crate) fn uses_link_plan(&self) -> bool {
        self.window.uses_link_plan()
    }

    #[cold]
    pub(crate) fn handle_plan(&mut self, plan: &LinkPlan) {
        let decision = self.window.on_plan(plan);
        self.apply_window_decision(decision);
    }

    #[cold]
    pub(super) fn apply_window_decision(&mut self, decision: WindowDecision) {
        if let Some(analysis) = &mut self.analysis {
            analysis.next_window_decision = decision.next;
        }
        self.ack_is_current = false;
        self.sooner = true;
        // Discards the cached advertisement, because the decision changes the window.
        self.advertised = Advertised { shift: u8::MAX, is_closed: decision.closed, ..Advertised::default() };
        self.window_units = 0;
        // Sends no ACKs before the first data has arrived.
        if decision.acks > 0 && self.next() > 1 {
            self.acknowledge_now();
            self.copy_acks(decision.acks);
        }
    }

    #[cold]
    pub(super) fn next_window_decision(&self) -> Time {
        self.analysis.as_ref().map_or(Time::NEVER, |analysis| analysis.next_window_decision)
    }
}
