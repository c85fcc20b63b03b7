//! How fast does the path deliver, and how fast may packets leave?
//!
//! * `sampler.rs`: one sample of the delivery rate for each ACK.
//! * `pacer.rs`: when the next packet may leave.
//!
//! Both exist only where the congestion control [asks](super::congestion::Nature::samples) for them.

mod pacer;
mod sampler;

pub use sampler::{LostSegment, RateSample};

use super::congestion::SentEvent;
use super::scoreboard::Scoreboard;
use super::window::Window;
use crate::ranges::Range;
use lasthop_base::{Duration, Time};
use pacer::Pacer;
use sampler::Sampler;

/// Sampling and pacing.
#[derive(Debug, Default)]
pub(super) struct Rates {
    sampler: Sampler,
    pacer: Pacer,
    /// Whether the control [sends extra segments](super::congestion::Nature::sends_extra).
    sends_extra: bool,
    /// Ranges found lost last: kept for their room.
    lost: Vec<Range>,
}

// Out of line: most senders ask for nothing of this, and their path stays short.
impl Rates {
    /// Nothing sampled yet.
    pub(super) fn boxed(sends_extra: bool) -> Box<Rates> {
        Box::new(Rates { sends_extra, ..Rates::default() })
    }

    /// Sample of the path's rate from an ACK that the scoreboard has taken in; `delivered` bytes are new by it, `smallest` is
    /// the shortest round-trip time so far.
    #[cold]
    pub(super) fn sample(
        &mut self,
        now: Time,
        delivered: u64,
        board: &Scoreboard,
        smallest: Option<Duration>,
    ) -> Option<RateSample> {
        self.sampler.on_ack(now, delivered, board, smallest)
    }

    /// When the next packet of the window may leave.
    pub(super) fn may_leave_at(&self) -> Time {
        self.pacer.may_leave_at()
    }

    /// Whether the control sends extra segments at all.
    #[inline(always)]
    pub(super) fn sends_extra(&self) -> bool {
        self.sends_extra
    }

    /// When the next extra segment goes out, [`Time::NEVER`] if none does.
    pub(super) fn extra_at(&self, board: &Scoreboard, window: &Window) -> Time {
        match self.sends_extra && board.outstanding() > 0 {
            true => window.rules().extra_at(),
            false => Time::NEVER,
        }
    }

    /// Samples say nothing of the path until these bytes are acknowledged: the application has nothing to send, or the control
    /// keeps little in flight on purpose.
    pub(super) fn on_silence(&mut self, in_flight: u64) {
        self.sampler.on_silence(in_flight);
    }

    /// Reports segments that were found lost since the last call to the control, one by one.
    #[inline(never)]
    pub(super) fn report_losses(&mut self, now: Time, board: &mut Scoreboard, window: &mut Window) {
        board.take_losses(&mut self.lost);
        let fresh: u64 = self.lost.iter().map(|range| range.len()).sum();
        let mut total = board.lost_total() - fresh;
        for range in &self.lost {
            total += range.len();
            if let Some(lost) = self.sampler.on_lost(*range, total) {
                window.on_lost(now, &lost);
            }
        }
    }

    /// Segments marked lost since the last call say nothing of the path's load.
    pub(super) fn ignore_losses(&mut self, board: &mut Scoreboard) {
        board.take_losses(&mut self.lost);
    }

    /// Something goes out, new or again, and is in the scoreboard; `in_flight`: bytes in the network, with it.
    #[inline(always)]
    pub(super) fn on_sent(
        &mut self,
        now: Time,
        range: Range,
        in_flight: u64,
        board: &Scoreboard,
        window: &mut Window,
    ) {
        let begins = board.outstanding() == range.len();
        let limited = self.sampler.is_limited();
        self.sampler.on_sent(now, range, begins, in_flight, board.lost_total());
        let (una, nxt) = (board.una(), board.nxt());
        window.on_sent(&SentEvent { now, una, nxt, bytes: range.len(), in_flight, limited });
        if let Some(rate) = window.rules().pacing_rate() {
            self.pacer.on_sent(now, range.len(), rate);
        }
    }
}
