//! How fast does the path deliver, and how fast may packets leave?
//!
//! * `sampler.rs`: one sample of the delivery rate for each ACK.
//! * `pacer.rs`: when the next packet may leave.
//! * `extra.rs`: segments beside the window that carry nothing new.
//!
//! Both exist only where the congestion control [asks](super::congestion::CongestionControl::samples) for them.

mod extra;
mod pacer;
mod sampler;

pub use sampler::{LostSegment, RateSample};

use super::congestion::SentEvent;
use super::{Limit, Sender};
use crate::ranges::Range;
use lasthop_base::Time;
use pacer::Pacer;
use sampler::Sampler;

/// What it takes to sample and to pace.
#[derive(Debug, Default)]
pub(super) struct Rates {
    sampler: Sampler,
    pacer: Pacer,
    /// Whether the control [sends extra segments](super::congestion::CongestionControl::sends_extra).
    sends_extra: bool,
    /// What was found lost last: kept for its room.
    lost: Vec<Range>,
}

impl Rates {
    /// Nothing sampled yet.
    pub(super) fn boxed(sends_extra: bool) -> Box<Rates> {
        Box::new(Rates { sends_extra, ..Rates::default() })
    }
}

impl Sender {
    // Out of line: most senders ask for nothing of this, and their path stays short.

    /// What an ACK says of the path's rate, once the board has taken it in; `delivered` bytes are new by it.
    #[cold]
    pub(super) fn sample(&mut self, now: Time, delivered: u64) -> Option<RateSample> {
        let rates = self.rates.as_mut()?;
        rates.sampler.on_ack(now, delivered, &self.board, self.rtt.smallest())
    }

    /// Whether what is next has to wait for the pacer, or for an [extra segment](Sender::poll_extra).
    #[cold]
    pub(super) fn is_paced(&mut self, now: Time) -> bool {
        let Some(rates) = &self.rates else { return false };
        let extra_at = if rates.sends_extra { self.next_extra() } else { Time::NEVER };
        let may_leave = rates.pacer.may_leave_at();
        let waits = now < may_leave;
        self.timer.pace(if waits { may_leave.min(extra_at) } else { extra_at });
        if waits {
            self.wait_for(now, Limit::Congestion);
        }
        waits || extra_at <= now
    }

    /// The application has nothing to send.
    #[inline(never)]
    pub(super) fn note_silence(&mut self) {
        if let Some(rates) = &mut self.rates {
            let in_flight = self.repair.recovery().in_flight(&self.board);
            if in_flight < self.window.bytes() {
                rates.sampler.on_silence(in_flight);
            }
        }
    }

    /// What was found lost since the last call goes to the control, segment by segment.
    #[inline(never)]
    pub(super) fn tell_losses(&mut self, now: Time) {
        let Some(rates) = &mut self.rates else { return };
        self.board.take_losses(&mut rates.lost);
        let fresh: u64 = rates.lost.iter().map(|range| range.len()).sum();
        let mut total = self.board.lost_total() - fresh;
        for range in &rates.lost {
            total += range.len();
            if let Some(lost) = rates.sampler.on_lost(*range, total) {
                self.window.on_lost(now, &lost);
            }
        }
    }

    /// What was marked lost since the last call says nothing of the path's load.
    pub(super) fn ignore_losses(&mut self) {
        if let Some(rates) = &mut self.rates {
            self.board.take_losses(&mut rates.lost);
        }
    }

    /// The control has seen an ACK: whether it keeps so little in flight on purpose that samples say nothing.
    #[inline]
    pub(super) fn note_restraint(&mut self, in_flight: u64) {
        if let Some(rates) = &mut self.rates
            && self.window.rules().holds_back()
        {
            rates.sampler.on_silence(in_flight);
        }
    }

    /// Something goes out, new or again, and is in the board.
    #[cold]
    pub(super) fn note_sent(&mut self, now: Time, range: Range) {
        let Some(rates) = &mut self.rates else { return };
        let begins = self.board.outstanding() == range.len();
        let in_flight = self.repair.recovery().in_flight(&self.board);
        let limited = rates.sampler.is_limited();
        rates.sampler.on_sent(now, range, begins, in_flight, self.board.lost_total());
        let (una, nxt) = (self.board.una(), self.board.nxt());
        self.window.on_sent(&SentEvent { now, una, nxt, bytes: range.len(), in_flight, limited });
        if let Some(rate) = self.window.rules().pacing_rate() {
            rates.pacer.on_sent(now, range.len(), rate);
        }
    }
}
