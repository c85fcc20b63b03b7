//! Calls beside ACKs, polls and the timer: of the application, of the endpoint, and of others who know of losses (a receiver
//! that got a segment damaged, a node before the last hop). Only a sender whose judge believes others acts on them.
//!
//! A chapter of the sender.

use super::Sender;
use super::timer::{Kind, Timer};
use crate::event::Reason;
use crate::ranges::Range;
use lasthop_base::{Duration, Time};

impl Sender {
    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        self.application.write(bytes);
    }

    /// Nothing more will be written: a FIN follows.
    pub fn finish(&mut self) {
        self.application.finish();
    }

    /// Whether short segments wait while data is outstanding, from now on (RFC 9293 §3.7.4).
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.application.set_nagle(nagle);
    }

    /// From now on data may go unacknowledged for this long (R2).
    pub(crate) fn give_up_after(&mut self, limit: Option<Duration>) {
        self.user_timeout.set_limit(limit);
    }

    /// The handshake is over; its round-trip time, if it can be told.
    pub(super) fn measure_handshake(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.rtt.sample(&self.config.rto, rtt);
        }
        if self.rates.is_some() {
            self.window.on_open(rtt);
        }
    }

    /// The handshake's timer expired: data begins with this timeout at least (RFC 6298 §5.7).
    pub(crate) fn begin_carefully(&mut self, timeout: Duration) {
        self.rtt.start_from(timeout);
    }

    /// A segment of the peer at offset `at` that acknowledges `ack` advertises a window, bytes.
    #[inline]
    pub(crate) fn hear_window(&mut self, at: u64, ack: u64, window: u64) {
        self.peer.admit_from(at, ack, window);
    }

    /// From now on segments with new data leave so many bytes of a full segment to options.
    pub(crate) fn leave_room(&mut self, bytes: u64) {
        self.fits = self.mss.saturating_sub(bytes).max(1);
    }

    /// The path takes segments of `mss` bytes and no longer ones: outstanding data goes out again in such. That says
    /// nothing of congestion: cwnd stays (RFC 1191 §6.4).
    pub(crate) fn shorten(&mut self, now: Time, mss: u64) {
        self.mss = mss;
        self.fits = mss;
        self.window.on_segment(mss);
        if self.board.outstanding() > 0 {
            self.board.cut(mss);
            self.send_all_again(now, Reason::TooLong);
            self.take_stock();
        }
    }

    /// Somebody has looked at [`Sender::timer`] and remembers it.
    pub(crate) fn note_timer(&mut self) {
        self.timer.note_asked();
    }

    /// The connection is over: no timer runs.
    pub(crate) fn stop(&mut self) {
        self.timer = Timer::OFF;
    }

    /// The receiver says that the segment at this offset arrived damaged (HACK).
    pub(crate) fn handle_damaged(&mut self, offset: u64) {
        let Some(segment) = self.board.segment_at(offset) else { return };
        if let Some(judge) = &mut self.judge
            && judge.on_damaged(segment)
        {
            self.tell_again(segment.start);
        }
    }

    /// A node says that these bytes have reached the last hop (LHACK).
    pub(crate) fn handle_last_hop(&mut self, range: Range) {
        let outstanding =
            Range { start: range.start.max(self.board.una()), end: range.end.min(self.board.nxt()) };
        if let Some(judge) = &mut self.judge
            && outstanding.start < outstanding.end
        {
            judge.on_last_hop(outstanding);
        }
    }

    /// A node says that the link behind it fails and tries again (EBSN); the peer was heard last at `heard_at`.
    pub(crate) fn handle_bad_state(&mut self, now: Time, heard_at: Time) {
        let is_waiting = self.timer.kind() == Kind::Retransmit && !self.timer.is_off();
        if !is_waiting || self.board.outstanding() == 0 {
            return;
        }
        let backed_off = self.rtt.is_backed_off();
        if let Some(judge) = &mut self.judge
            && judge.on_bad_state(now, backed_off, heard_at)
        {
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
    }

    /// The segment that begins there goes again.
    pub(super) fn tell_again(&mut self, start: u64) {
        self.repair.report(start);
        self.take_stock();
    }
}
