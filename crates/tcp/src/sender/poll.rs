//! Choice of the next segment to send. The file `sent.rs` holds the effects of sending.
//!
//! On the fast path, only cwnd and the receiver's window limit sending. Otherwise segments are sent in this order:
//! segments that ignore both windows, then retransmissions and new data that the windows permit, then a rescue
//! retransmission. [`Sender::may_send_more`] checks the same conditions without sending, to save polls that would
//! return nothing.

use super::recovery::LastResort;
use super::repair::ProbePermission;
use super::timer::TimerKind;
use super::{Limit, Outgoing, Sender};
use crate::event::{Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;
use std::ops::ControlFlow;

/// A full segment of new data that is followed by more data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FullSegment {
    pub(crate) range: Range,
    /// Bytes left in the segment for TCP options.
    pub(crate) room: u64,
    pub(crate) priority: Priority,
    pub(crate) cwr: bool,
    /// Result of [`Sender::may_send_more`] after this segment.
    pub(crate) more: bool,
}

enum NextSegment {
    New(Range),
    Retransmission(Range),
}

impl Sender {
    /// Whether the fast path applies without observers and [`Sender::poll`] would find no data. If so, records that the
    /// application limits sending.
    #[inline]
    pub(crate) fn has_nothing_to_send(&mut self, now: Time) -> bool {
        let nothing = self.is_on_fast_path && !self.has_observers && !self.has_new_data();
        if nothing {
            self.set_limit(now, Limit::Application);
        }
        nothing
    }

    /// Fast path of [`Sender::poll`] without pacing. Sends a full segment if cwnd and the receiver's window permit and
    /// more data follows.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn send_full(&mut self, now: Time) -> Option<FullSegment> {
        let start = self.scoreboard.nxt();
        let range = Range { start, end: start + self.full_payload };
        let applies = self.is_on_fast_path()
            && self.rates.is_none()
            && self.admits_full()
            && range.end <= self.peer.right_edge()
            && self.has_full();
        if !applies {
            return None;
        }
        let (priority, cwr) = self.note_new(now, range, true);
        Some(FullSegment {
            range,
            room: self.mss - self.full_payload,
            priority,
            cwr,
            more: self.may_send_on_fast_path(now),
        })
    }

    #[inline(never)]
    pub(crate) fn poll(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if self.has_observers && self.is_paced(now) {
            return self.poll_extra(now);
        }
        if self.is_on_fast_path() {
            return self.poll_by_windows::<true>(now, log);
        }
        match self.poll_forced(now, log) {
            ControlFlow::Break(outgoing) => outgoing,
            ControlFlow::Continue(()) => self.poll_by_windows::<false>(now, log),
        }
    }

    /// Quick check after sending: if false, [`Sender::poll`] would return nothing, and the limit that prevents sending
    /// is recorded.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn may_send_more(&mut self, now: Time) -> bool {
        if !self.is_on_fast_path() {
            return !self.has_fast_path || self.may_send_forced() || self.may_send_by_windows(now);
        }
        self.rates.is_some() || self.may_send_on_fast_path(now)
    }

    /// Does the work of [`Sender::may_send_more`] on the fast path without pacing.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn may_send_on_fast_path(&mut self, now: Time) -> bool {
        if self.has_full() && !self.admits_full() {
            self.set_limit(now, Limit::Congestion);
            return false;
        }
        true
    }

    /// Whether the unsent data fills a segment and more than a FIN follows. A FIN alone would be sent in the full
    /// segment.
    #[inline(always)]
    fn has_full(&self) -> bool {
        self.scoreboard.nxt() + self.full_payload + 1 < self.application.end()
    }

    #[inline(always)]
    fn admits_full(&self) -> bool {
        self.scoreboard.nxt() + self.full_payload - self.scoreboard.una() <= self.window.bytes()
    }

    /// Returns a segment that is sent regardless of the windows. `Break(None)`: nothing may be sent now. `Continue`:
    /// the windows decide.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn poll_forced(&mut self, now: Time, log: &mut Log) -> ControlFlow<Option<Outgoing>> {
        if self.timer.holds() {
            self.set_limit(now, Limit::Congestion);
            return ControlFlow::Break(None);
        }
        if self.tail.is_due()
            && let Some(outgoing) = self.poll_probe(now, log)
        {
            return ControlFlow::Break(Some(outgoing));
        }
        if self.repair.has_reports() {
            match self.repair.next_reported(&mut self.scoreboard) {
                Some(range) => {
                    self.timer.start(now + self.rtt.rto(), TimerKind::Retransmit);
                    return ControlFlow::Break(Some(self.retransmit(now, range, Reason::Reported, log)));
                }
                None => self.update_fast_path(),
            }
        }
        if let Some((range, why)) = self.repair.next_forced(&mut self.scoreboard) {
            if why == Reason::FastRetransmit {
                // The fast retransmission restarts the timer with a whole RTO; RFC 6675 §6 leaves this open.
                // Retransmissions after partial ACKs do not restart the timer (RFC 6582 §4).
                self.timer.start(now + self.rtt.rto(), TimerKind::Retransmit);
            }
            return ControlFlow::Break(Some(self.retransmit(now, range, why, log)));
        }
        if self.repair.is_testing() {
            return self.poll_f_rto_probe(now);
        }
        ControlFlow::Continue(())
    }

    /// Whether [`Sender::poll_forced`] or the pacer may decide what is sent next, so that a call of [`Sender::poll`] is
    /// needed.
    #[inline(always)]
    fn may_send_forced(&self) -> bool {
        self.rates.is_some()
            || self.timer.holds()
            || self.tail.is_due()
            || self.repair.has_reports()
            || self.repair.is_testing()
            || self.repair.may_have_forced()
    }

    /// Sends new data that tests whether a timeout was spurious (F-RTO). Other segments wait for the ACKs that decide
    /// the test. If no new data may be sent, the test ends.
    #[cold]
    fn poll_f_rto_probe(&mut self, now: Time) -> ControlFlow<Option<Outgoing>> {
        if let ProbePermission::Probe { first } = self.repair.probe_permission() {
            match self.next_new(self.room::<false>()) {
                Ok(range) => {
                    self.repair.on_probe_sent();
                    return ControlFlow::Break(Some(self.send_new(now, range)));
                }
                Err(_) if first => {
                    self.repair.end_test();
                    return ControlFlow::Continue(());
                }
                Err(_) => {}
            }
        }
        self.set_limit(now, Limit::Congestion);
        ControlFlow::Break(None)
    }

    /// Returns a segment that the windows permit, else a zero-window probe or a rescue retransmission (RFC 6675 §4,
    /// NextSeg rules 3 and 4).
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn poll_by_windows<const FAST_PATH: bool>(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        let room = self.room::<FAST_PATH>();
        match self.next_by_windows::<FAST_PATH>(room) {
            Ok(NextSegment::New(range)) => return Some(self.send_new(now, range)),
            Ok(NextSegment::Retransmission(range)) => {
                let why = self.repair.reason(range);
                return Some(self.retransmit(now, range, why, log));
            }
            Err(limit) => self.set_limit(now, limit),
        }
        if self.scoreboard.outstanding() == 0 {
            return self.poll_persist(now, log);
        }
        if FAST_PATH || !self.has_last_resort(room) {
            return None;
        }
        match self.repair.last_resort(&mut self.scoreboard)? {
            LastResort::Doubtful(range) => Some(self.retransmit(now, range, Reason::Rescue, log)),
            LastResort::Rescue(range) => {
                self.scoreboard.record_rescue(range.start, now);
                Some(self.emit_retransmission(now, range, Reason::Rescue, log))
            }
        }
    }

    /// Whether [`Sender::poll_by_windows`] may return a segment when the fast path does not apply.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn may_send_by_windows(&mut self, now: Time) -> bool {
        let room = self.room::<false>();
        match self.next_by_windows::<false>(room) {
            Ok(_) => true,
            Err(_) if self.scoreboard.outstanding() == 0 || self.has_last_resort(room) => true,
            Err(limit) => {
                self.set_limit(now, limit);
                false
            }
        }
    }

    #[inline(always)]
    fn room<const FAST_PATH: bool>(&self) -> u64 {
        if FAST_PATH {
            self.window.bytes().saturating_sub(self.scoreboard.outstanding())
        } else {
            self.window().saturating_sub(self.in_flight())
        }
    }

    /// Returns the next retransmission, else the next new segment. Returns the limit if the window does not permit this
    /// segment.
    #[inline(always)]
    fn next_by_windows<const FAST_PATH: bool>(&mut self, room: u64) -> Result<NextSegment, Limit> {
        if !FAST_PATH && let Some(range) = self.repair.next_retransmission(&mut self.scoreboard) {
            // The FIN of a retransmission needs no room in the window.
            let fin = u64::from(self.application.ends_with(range));
            return if room < range.len() - fin {
                Err(Limit::Congestion)
            } else {
                Ok(NextSegment::Retransmission(range))
            };
        }
        self.next_new(room).map(NextSegment::New)
    }

    #[inline(always)]
    fn has_last_resort(&self, room: u64) -> bool {
        room >= self.mss && self.scoreboard.sacked() > 0
    }

    /// Returns the next new segment. The segment is full, or short if Nagle's algorithm and silly window avoidance
    /// permit. Otherwise returns the limit.
    pub(super) fn next_new(&mut self, room: u64) -> Result<Range, Limit> {
        let start = self.scoreboard.nxt();
        let limit_timer = self.application.end().saturating_sub(start);
        if limit_timer == 0 {
            return Err(Limit::Application);
        }
        // The FIN needs no room in the segment or in the windows (RFC 9293 §3.10.4).
        let size = if self.has_full() { self.full_payload } else { limit_timer };
        let fin = u64::from(self.application.ends_with(Range { start, end: start + size }));
        let data = (size - fin).min(self.full_payload);
        let size = if data + fin < size { data } else { size };
        let usable = self.peer.usable_from(start);
        if data > room {
            return Err(Limit::Congestion);
        }
        if data == 0 && fin == 0 {
            return Err(Limit::Application);
        }
        if data > usable {
            return if self.peer.is_silly(usable) {
                Err(Limit::Receiver)
            } else {
                Ok(Range { start, end: start + usable })
            };
        }
        let is_short = data < self.full_payload && fin == 0;
        if is_short && self.application.delays_short() && self.scoreboard.outstanding() > 0 {
            return Err(Limit::Application);
        }
        Ok(Range { start, end: start + size })
    }

    /// Handles new data that waits for the receiver's window while no data is outstanding. Sends a zero-window probe if
    /// a probe is due, otherwise starts the persist timer.
    fn poll_persist(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if !self.has_new_data() {
            return None;
        }
        if !self.persist.take_due() {
            if self.timer.is_off() {
                self.timer.start(now + self.rtt.doubled(self.persist.doublings()), TimerKind::Persist);
            }
            return None;
        }
        let start = self.scoreboard.nxt();
        let usable = self.peer.usable_from(start);
        if usable > 0 {
            // The override timeout of silly window avoidance has expired, so a short segment may be sent (RFC 9293
            // §3.8.6.2.1).
            let end = self.application.written().min(start + usable.min(self.full_payload));
            return Some(self.send_new(now, Range { start, end }));
        }
        let (since, is_retransmission) = self.persist.probe(now);
        let next = now + self.rtt.doubled(self.persist.doublings());
        self.timer.start(next.min(self.user_timeout.ends(since)), TimerKind::Persist);
        let range = Range { start, end: start + 1 };
        if is_retransmission {
            log.frequent.retransmitted += 1;
            log.trace(now, Event::Retransmitted { range, reason: Reason::WindowProbe });
        }
        Some(Outgoing { range, is_retransmission, fin: false, priority: Priority::NORMAL, cwr: false })
    }

    /// Sends the tail loss probe regardless of cwnd: new data if any may be sent, otherwise a retransmission of the
    /// last segment (RFC 8985 §7.3).
    #[inline(never)]
    fn poll_probe(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if let Ok(range) = self.next_new(self.mss) {
            self.tail.on_probe_sent(range.end, false);
            return Some(self.send_new(now, range));
        }
        let range = self.scoreboard.last()?;
        self.tail.on_probe_sent(self.scoreboard.nxt(), true);
        Some(self.retransmit(now, range, Reason::TailProbe, log))
    }

    /// Whether pacing delays the next segment, or an [extra segment](Sender::poll_extra) is due.
    #[cold]
    fn is_paced(&mut self, now: Time) -> bool {
        let Some(rates) = &self.rates else { return false };
        let (extra_at, may_leave) =
            (rates.extra_at(&self.scoreboard, &self.window), rates.next_departure(now));
        let waits = now < may_leave;
        self.timer.set_departure(if waits { may_leave.min(extra_at) } else { extra_at });
        if waits {
            self.set_limit(now, Limit::Congestion);
        }
        waits || extra_at <= now
    }

    /// Sends an extra segment if due: a low-priority copy of the last segment, regardless of the window (TCP-Peach).
    /// Scoreboard, timer and retransmission count ignore the copy. The receiver reports its arrival by D-SACK.
    #[cold]
    #[inline(never)]
    fn poll_extra(&mut self, now: Time) -> Option<Outgoing> {
        let rates = self.rates.as_ref()?;
        if !rates.sends_extra() {
            return None;
        }
        if rates.extra_at(&self.scoreboard, &self.window) > now {
            return None;
        }
        let Range { start, end } = self.scoreboard.last()?;
        // The segment may exceed the path MTU, if the path MTU has shrunk since. Then only the end of the segment is
        // copied.
        let range = Range { start: start.max(end.saturating_sub(self.full_payload)), end };
        self.window.on_extra(now);
        let fin = self.application.ends_with(range);
        Some(Outgoing { range, is_retransmission: true, fin, priority: Priority::LOW, cwr: false })
    }
}
