//! Sending of several ACKs in place of one: split ACKs and copies of an ACK.

use super::Receiver;
use super::ack_splitting::{AckForm, DueAck};
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
    /// Returns the offset that the next ACK acknowledges, if this ACK is part of a burst of several ACKs.
    #[inline]
    pub(crate) fn poll_burst(&mut self) -> Option<u64> {
        if self.always_single { None } else { self.next_of_burst() }
    }

    #[cold]
    fn next_of_burst(&mut self) -> Option<u64> {
        if self.due == Pending::Now && self.analysis.as_ref().is_some_and(|analysis| analysis.burst.is_none())
        {
            self.begin();
        }
        let analysis = self.analysis.as_mut()?;
        let burst = analysis.burst.as_mut().filter(|burst| burst.count > 1)?;
        burst.sent += 1;
        let Burst { of, count, sent, copies } = *burst;
        if sent == count {
            analysis.burst = None;
            return Some(self.finish_ack());
        }
        if copies {
            return Some(self.next());
        }
        let ack = of.start + of.len() * u64::from(sent) / u64::from(count);
        self.acknowledged = ack;
        if self.needs_estimate {
            analysis.estimator.on_ack_sent();
        }
        Some(ack)
    }

    fn begin(&mut self) {
        let advance =
            Range { start: self.acknowledged.min(self.reassembly.next()), end: self.reassembly.next() };
        let Some(analysis) = &mut self.analysis else { return };
        let due = DueAck { advance, segment: self.segment, uplink: analysis.uplink };
        let (of, count, copies) = match self.ack_splitting.split(&due, analysis.estimator.path()) {
            AckForm::Single => (advance, 1, false),
            AckForm::Copies(count) => (advance, count.max(1), true),
            AckForm::Slices { count, of } => (of, count.max(1), false),
        };
        analysis.burst = Some(Burst { of, count, sent: 0, copies });
        if self.wanted_notices.backlog {
            analysis.split_ack = Some((analysis.uplink, count));
        }
    }

    pub(super) fn copy_acks(&mut self, count: u32) {
        let next = self.next();
        if let Some(analysis) = self.analysis.as_mut().filter(|_| count > 1) {
            let of = Range { start: next, end: next };
            analysis.burst = Some(Burst { of, count, sent: 0, copies: true });
        }
    }

    #[inline(always)]
    pub(super) fn end_burst(&mut self) {
        if !self.always_single
            && let Some(analysis) = &mut self.analysis
        {
            analysis.burst = None;
        }
    }

    pub(crate) fn handle_counts(&mut self, sender: &SenderCounts, uplink: &UplinkCounts) {
        self.ack_splitting.on_counts(sender, uplink);
    }

    pub(crate) fn handle_backlog(&mut self, before: Backlog) {
        if let Some(analysis) = &mut self.analysis {
            analysis.uplink = before;
        }
    }

    pub(crate) fn handle_acks_queued(&mut self, now: Time, after: Backlog, log: &mut Log) {
        if let Some((before, acks)) = self.analysis.as_mut().and_then(|analysis| analysis.split_ack.take()) {
            let queue_after = self.ack_splitting.on_sent(before, after);
            log.trace(now, Event::AckSplit { acks, queue_before: before.waiting, queue_after });
        }
    }
}
