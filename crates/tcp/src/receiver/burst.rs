//! ACK splitting and copies of an ACK.

use super::Receiver;
use super::ack_splitting::{Due, Shape};
use super::due::Pending;
use crate::event::{Event, Log};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::{Backlog, SenderCounts, UplinkCounts};

#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    of: Range,
    count: u32,
    sent: u32,
    copies: bool,
}

impl Receiver {
    /// Returns the byte acknowledged by the next ACK of a burst of several.
    #[inline]
    pub(crate) fn poll_burst(&mut self) -> Option<u64> {
        if self.always_once { None } else { self.next_of_burst() }
    }

    #[cold]
    fn next_of_burst(&mut self) -> Option<u64> {
        if self.due == Pending::Now && self.studied.as_ref().is_some_and(|studied| studied.burst.is_none()) {
            self.begin();
        }
        let studied = self.studied.as_mut()?;
        let burst = studied.burst.as_mut().filter(|burst| burst.count > 1)?;
        burst.sent += 1;
        let Burst { of, count, sent, copies } = *burst;
        if sent == count {
            studied.burst = None;
            return Some(self.finish_ack());
        }
        if copies {
            return Some(self.next());
        }
        let ack = of.start + of.len() * u64::from(sent) / u64::from(count);
        self.acknowledged = ack;
        if self.estimates {
            studied.estimator.on_ack_sent();
        }
        Some(ack)
    }

    fn begin(&mut self) {
        let advance =
            Range { start: self.acknowledged.min(self.reassembly.next()), end: self.reassembly.next() };
        let Some(studied) = &mut self.studied else { return };
        let due = Due { advance, segment: self.segment, uplink: studied.uplink };
        let (of, count, copies) = match self.ack_splitting.split(&due, studied.estimator.path()) {
            Shape::Once => (advance, 1, false),
            Shape::Copies(count) => (advance, count.max(1), true),
            Shape::Slices { count, of } => (of, count.max(1), false),
        };
        studied.burst = Some(Burst { of, count, sent: 0, copies });
        if self.wants.backlog {
            studied.shaped = Some((studied.uplink, count));
        }
    }

    pub(super) fn copy_acks(&mut self, count: u32) {
        let next = self.next();
        if let Some(studied) = self.studied.as_mut().filter(|_| count > 1) {
            let of = Range { start: next, end: next };
            studied.burst = Some(Burst { of, count, sent: 0, copies: true });
        }
    }

    #[inline(always)]
    pub(super) fn end_burst(&mut self) {
        if !self.always_once
            && let Some(studied) = &mut self.studied
        {
            studied.burst = None;
        }
    }

    pub(crate) fn handle_counts(&mut self, sender: &SenderCounts, uplink: &UplinkCounts) {
        self.ack_splitting.on_counts(sender, uplink);
    }

    pub(crate) fn handle_backlog(&mut self, before: Backlog) {
        if let Some(studied) = &mut self.studied {
            studied.uplink = before;
        }
    }

    pub(crate) fn handle_acks_queued(&mut self, now: Time, after: Backlog, log: &mut Log) {
        if let Some((before, acks)) = self.studied.as_mut().and_then(|studied| studied.shaped.take()) {
            let queue_after = self.ack_splitting.on_sent(before, after);
            log.trace(now, Event::Shaped { acks, queue_before: before.waiting, queue_after });
        }
    }
}
