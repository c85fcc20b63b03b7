//! Delivery rate samples (`delivery.rs`, `sampler.rs`) and pacing (`pacer.rs`).
//!
//! Samples and pacing are active only if the congestion control
//! [requests](super::congestion::Nature::uses_rate_samples) samples, or if a [rule](super::pacing::Pacing) paces the
//! sender.

mod delivery;
mod pacer;
mod sampler;

pub use delivery::{DeliveryRate, LostSegment, RateSample, StateAtSending};

use super::congestion::SentEvent;
use super::pacing::{Pace, PacedSegment, Pacing};
use super::scoreboard::Scoreboard;
use super::window::CongestionWindow;
use crate::ranges::Range;
use lasthop_base::{Duration, Rate, Time};
use pacer::Pacer;
use sampler::Sampler;

#[derive(Default)]
pub(super) struct Rates {
    sampler: Sampler,
    pacer: Pacer,
    /// Rule that paces if the congestion control sets no rate.
    pacing: Option<Box<dyn Pacing>>,
    segments: u64,
    sends_extra: bool,
    /// Reused buffer for the ranges newly marked lost.
    lost: Vec<Range>,
}

// Functions that are not inlined: most senders have no `Rates`, so inlined code would only occupy their instruction
// cache.
impl Rates {
    pub(super) fn boxed(sends_extra: bool, pacing: Option<Box<dyn Pacing>>) -> Box<Rates> {
        Box::new(Rates { sends_extra, pacing, ..Rates::default() })
    }

    /// Samples the delivery rate at an ACK. `delivered`: bytes newly delivered; `smallest`: smallest RTT so far.
    #[cold]
    pub(super) fn sample(
        &mut self,
        now: Time,
        delivered: u64,
        scoreboard: &Scoreboard,
        smallest: Option<Duration>,
    ) -> Option<RateSample> {
        self.sampler.on_ack(now, delivered, scoreboard, smallest)
    }

    /// Earliest departure of the next segment, as known at `now`.
    pub(super) fn next_departure(&self, now: Time) -> Time {
        self.pacer.next_departure(now)
    }

    /// Rescales the rest of the current gap to a new pacing rate of congestion control.
    pub(super) fn on_rate(&mut self, now: Time, from: Option<Rate>, to: Option<Rate>) {
        if from != to {
            self.pacer.on_rate(now, from, to);
        }
    }

    #[inline(always)]
    pub(super) fn sends_extra(&self) -> bool {
        self.sends_extra
    }

    pub(super) fn extra_at(&self, scoreboard: &Scoreboard, window: &CongestionWindow) -> Time {
        if self.sends_extra && scoreboard.outstanding() > 0 {
            window.control().extra_at()
        } else {
            Time::NEVER
        }
    }

    /// Marks the segments sent from now on as application-limited, until the `in_flight` bytes now in flight are
    /// delivered.
    pub(super) fn mark_app_limited(&mut self, in_flight: u64) {
        self.sampler.mark_app_limited(in_flight);
    }

    #[inline(never)]
    pub(super) fn report_losses(
        &mut self,
        now: Time,
        scoreboard: &mut Scoreboard,
        window: &mut CongestionWindow,
    ) {
        scoreboard.take_losses(&mut self.lost);
        let fresh: u64 = self.lost.iter().map(|range| range.len()).sum();
        let mut total = scoreboard.lost_total() - fresh;
        for range in &self.lost {
            total += range.len();
            if let Some(lost) = self.sampler.on_lost(*range, total) {
                window.on_lost(now, &lost);
            }
        }
    }

    pub(super) fn ignore_losses(&mut self, scoreboard: &mut Scoreboard) {
        scoreboard.take_losses(&mut self.lost);
    }

    /// Records a sent segment that is already in the scoreboard. `in_flight` includes the segment, bytes; `mss`:
    /// payload of a full segment, bytes.
    #[inline(always)]
    pub(super) fn on_sent(
        &mut self,
        now: Time,
        range: Range,
        in_flight: u64,
        scoreboard: &Scoreboard,
        window: &mut CongestionWindow,
        (mss, srtt): (u64, Option<Duration>),
    ) {
        let begins = scoreboard.outstanding() == range.len();
        let limited = self.sampler.is_limited();
        self.sampler.on_sent(now, range, begins, in_flight, scoreboard.lost_total());
        let (una, nxt) = (scoreboard.una(), scoreboard.nxt());
        window.on_sent(&SentEvent {
            now,
            una,
            nxt,
            start: range.start,
            bytes: range.len(),
            in_flight,
            limited,
        });
        self.segments += 1;
        let pace = match (window.control().pacing_rate(), &self.pacing) {
            (Some(rate), _) => Some(Pace { rate, burst: 0 }),
            (None, Some(pacing)) => pacing.pace(&PacedSegment {
                number: self.segments,
                window: window.bytes(),
                ssthresh: window.control().ssthresh(),
                outstanding: scoreboard.outstanding(),
                srtt,
                mss,
            }),
            (None, None) => None,
        };
        if let Some(pace) = pace {
            self.pacer.on_sent(now, range.len(), pace);
        }
    }
}
