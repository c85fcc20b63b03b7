//! Inputs of a sender other than ACKs, polls and timers. They come from the application, from the endpoint, and from
//! nodes that report losses.

use super::Sender;
use super::congestion::Steer;
use super::timer::{Timer, TimerKind};
use crate::event::Reason;
use crate::ranges::Range;
use lasthop_base::{Duration, Time};

impl Sender {
    /// Adds `bytes` to the data that the application wants to send.
    pub fn write(&mut self, bytes: u64) {
        self.application.write(bytes);
    }

    /// Ends the data. A FIN follows the last byte.
    pub fn finish(&mut self) {
        self.application.finish();
    }

    /// Sets cwnd or the pacing rate by an order from outside. Has no effect if congestion control takes no orders.
    pub(crate) fn steer(&mut self, now: Time, order: &Steer) {
        let before = self.window.control().pacing_rate();
        self.window.steer(order);
        if let Some(rates) = &mut self.rates {
            rates.on_rate(now, before, self.window.control().pacing_rate());
        }
    }

    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.application.set_nagle(nagle);
    }

    /// Sets the user timeout for data (R2); `None` means no user timeout.
    pub(crate) fn set_user_timeout(&mut self, limit: Option<Duration>) {
        self.user_timeout.set_limit(limit);
    }

    pub(super) fn measure_handshake(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.rtt.sample(&self.config.rto, rtt);
        }
        if self.rates.is_some() {
            self.window.on_open(rtt);
        }
    }

    /// Raises the initial RTO to at least `timeout`, because the SYN's timer has expired (RFC 6298 §5.7).
    pub(crate) fn set_first_timeout(&mut self, timeout: Duration) {
        self.rtt.start_from(timeout);
    }

    #[inline]
    pub(crate) fn update_window(&mut self, at: u64, ack: u64, window: u64) {
        self.peer.update_from(at, ack, window);
    }

    pub(crate) fn reserve_option_space(&mut self, bytes: u64) {
        self.full_payload = self.mss.saturating_sub(bytes).max(1);
    }

    /// Retransmits outstanding data in segments of `mss` bytes, because the path MTU is smaller. cwnd stays, because a
    /// smaller path MTU is no sign of congestion (RFC 1191 §6.4).
    pub(crate) fn reduce_segment_size(&mut self, now: Time, mss: u64) {
        self.mss = mss;
        self.full_payload = mss;
        self.window.on_segment(mss);
        if self.scoreboard.outstanding() > 0 {
            self.scoreboard.split_segments(mss);
            self.retransmit_all(now, Reason::PathMtu);
            self.update_fast_path();
        }
    }

    /// Records that the caller has read and stored [`Sender::timer`].
    pub(crate) fn note_timer(&mut self) {
        self.timer.note_read();
    }

    pub(crate) fn stop(&mut self) {
        self.timer = Timer::OFF;
    }

    /// Handles the receiver's report that the segment at `offset` was damaged (HACK).
    pub(crate) fn handle_damaged(&mut self, offset: u64) {
        let Some(segment) = self.scoreboard.segment_at(offset) else { return };
        if let Some(discriminator) = &mut self.discriminator
            && discriminator.on_damaged(segment)
        {
            self.queue_reported(segment.start);
        }
    }

    /// Handles a node's report that the bytes in `range` have reached the last hop (LHACK).
    pub(crate) fn handle_last_hop(&mut self, range: Range) {
        let outstanding = Range {
            start: range.start.max(self.scoreboard.una()),
            end: range.end.min(self.scoreboard.nxt()),
        };
        if let Some(discriminator) = &mut self.discriminator
            && outstanding.start < outstanding.end
        {
            discriminator.on_last_hop(outstanding);
        }
    }

    /// Handles a node's report that a transmission on its link has failed and is repeated (EBSN, explicit bad state
    /// notification). `heard_at`: time of the peer's last segment.
    pub(crate) fn handle_bad_state(&mut self, now: Time, heard_at: Time) {
        let is_waiting = self.timer.kind() == TimerKind::Retransmit && !self.timer.is_off();
        if !is_waiting || self.scoreboard.outstanding() == 0 {
            return;
        }
        let backed_off = self.rtt.is_backed_off();
        if let Some(discriminator) = &mut self.discriminator
            && discriminator.on_bad_state(now, backed_off, heard_at)
        {
            self.timer.start(now + self.rtt.rto(), TimerKind::Retransmit);
        }
    }

    pub(super) fn queue_reported(&mut self, start: u64) {
        self.repair.add_report(start);
        self.update_fast_path();
    }
}
