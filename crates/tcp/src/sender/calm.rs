//! While nothing is lost, reported or repeated: the short way that [`Sender::handle_ack`] takes then, most of a connection's
//! life. What goes out meanwhile: `new_data.rs`.

use super::congestion::{AckEvent, Phase};
use super::recovery::AckNews;
use super::{Ack, Sender};
use lasthop_base::{Duration, Time};

impl Sender {
    /// Whether short ways may be taken ([`Config::has_shortcut`](crate::Config::has_shortcut)).
    #[inline]
    pub(crate) fn has_shortcut(&self) -> bool {
        self.has_shortcut
    }

    /// Whether nothing is lost, reported or repeated.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        self.calm
    }

    /// The same way for an ACK that was read whole.
    #[inline(never)]
    pub(super) fn advance_by(&mut self, now: Time, ack: &Ack<'_>) {
        self.advance_calmly(now, ack.ack, ack.marked, || ack.echoed_rtt, || ack.clock);
    }

    /// A new acknowledgement while nothing is lost: what [`Sender::handle_ack`] comes down to then. The round trip that the
    /// timestamp's echo measures is asked for if the scoreboard knows none, the peer's clock if somebody observes.
    #[inline(always)]
    pub(crate) fn advance_calmly(
        &mut self,
        now: Time,
        ack: u64,
        marked: u32,
        echoed_rtt: impl FnOnce() -> Option<Duration>,
        clock: impl FnOnce() -> Option<Time>,
    ) {
        let bytes = ack - self.board.una();
        // Nearly always it covers exactly the first segment, and nobody watches.
        if self.watches {
            return self.advance_any(now, ack, marked, echoed_rtt, clock);
        }
        let Some(sent_at) = self.board.acknowledge_first(ack) else {
            return self.advance_any(now, ack, marked, echoed_rtt, clock);
        };
        let rtt = now.since(sent_at);
        self.rtt.sample(&self.config.rto, rtt);
        let event = AckEvent {
            now,
            phase: self.calm_phase(),
            acked: bytes,
            segments: 1,
            delivered: bytes,
            marked: u64::from(marked),
            rtt: Some(rtt),
            srtt: self.rtt.srtt(),
            in_flight: self.board.outstanding(),
            ..AckEvent::default()
        };
        self.cwnd = self.congestion.window_after(&event, &mut *self.counting);
        self.wait_anew(now, Some(sent_at));
    }

    /// The same if it covers several segments or a part of one, or if what is sent is watched.
    #[inline(never)]
    fn advance_any(
        &mut self,
        now: Time,
        ack: u64,
        marked: u32,
        echoed_rtt: impl FnOnce() -> Option<Duration>,
        clock: impl FnOnce() -> Option<Time>,
    ) {
        self.board.begin_ack();
        let acked = self.board.acknowledge(ack);
        let rtt = match acked.sent_at {
            Some(sent_at) => Some(now.since(sent_at)),
            None => echoed_rtt(),
        };
        if let Some(rtt) = rtt {
            self.rtt.sample(&self.config.rto, rtt);
        }
        let outstanding = self.board.outstanding();
        let (mut held, mut rate) = (false, None);
        if self.watches {
            if self.rates.is_some() {
                rate = self.sample(now, acked.delivered);
            }
            if self.observes {
                let acked = acked.bytes;
                let clock = clock();
                let news = AckNews { now, acked, rtt, clock, mss: self.mss, ..AckNews::default() };
                self.observe(&news);
            }
            held = self.leaves_window_unused(now, acked.bytes);
        }
        let event = AckEvent {
            now,
            phase: self.calm_phase(),
            acked: acked.bytes,
            segments: acked.segments,
            delivered: acked.delivered,
            marked: u64::from(marked),
            rtt,
            srtt: self.rtt.srtt(),
            in_flight: outstanding,
            rate: rate.as_ref(),
            held,
            ..AckEvent::default()
        };
        self.cwnd = match self.watches {
            true => self.grow_watchfully(&event),
            false => self.congestion.window_after(&event, &mut *self.counting),
        };
        self.wait_anew(now, acked.sent_at);
    }

    /// Where a sender stands that repairs nothing.
    #[inline]
    fn calm_phase(&self) -> Phase {
        if self.board.una() < self.restart_until { Phase::Restart } else { Phase::Open }
    }

    /// New data is acknowledged, its newest segment sent at `sent_at` if that is known: the timer starts anew.
    #[inline]
    fn wait_anew(&mut self, now: Time, sent_at: Option<Time>) {
        self.arm(now);
        if self.board.outstanding() == 0 {
            self.idle.since = sent_at.unwrap_or(now);
            self.timer.stop();
        }
    }

    /// The window after an ACK if anything watches what is sent.
    fn grow_watchfully(&mut self, event: &AckEvent) -> u64 {
        match self.is_watched_slow_start() {
            true => self.grow_watched(event),
            false => self.congestion.on_ack(event, &mut *self.counting),
        }
        self.note_restraint(event.in_flight);
        self.congestion.window()
    }
}
