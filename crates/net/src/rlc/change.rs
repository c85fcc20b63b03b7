//! Run-time changes of an RLC direction.
//!
//! # Changes at run time
//! A new rate is the rate of the next block: the block in transmission keeps its size and end. At rate 0, no block
//! starts. A planned outage is different: the plan's block that is in transmission ends after the outage. Hosts receive
//! the new rate, as they receive a planned change.
//!
//! A new delay applies to the next block, which does not arrive before the previous block. A new queue gets all SDUs
//! without a sent PDU; the remaining SDUs stay in the transmission buffer.

use super::Rlc;
use crate::change::{LinkChange, LinkSettings};
use crate::discipline::Discipline;
use crate::element::Output;
use crate::link_queue::drained;
use crate::service::Service;
use lasthop_base::{Rate, Time};
use lasthop_wire::{LinkReport, Packet};

/// An SDU that leaves the transmission buffer for another queue.
struct WithdrawnSdu {
    packet: Packet,
    joined: Time,
    /// Whether the old queue dropped the packet. Such an SDU only keeps its sequence number.
    is_dropped: bool,
}

impl Rlc {
    pub(super) fn current_settings(&self) -> LinkSettings {
        let bps = if self.free_before_stop.is_some() { Some(0) } else { self.service.constant_bps() };
        LinkSettings { bps, delay: self.delay, loss: self.channel.loss_probability() }
    }

    pub(super) fn apply_change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        self.delay = change.delay.unwrap_or(self.delay);
        if let Some(share) = change.loss {
            self.channel.set_loss_probability(share);
        }
        let Some(bps) = change.bps else { return };
        self.service = Service::Rate(Rate::from_bps(bps));
        self.changes_at = Time::NEVER;
        out.push(Output::Report(LinkReport::Rate { bps: self.rate(now).bps() }));
        let free_at = self.free_before_stop.take().unwrap_or(self.free_at);
        if bps == 0 {
            (self.free_before_stop, self.free_at) = (Some(free_at), Time::NEVER);
        } else {
            self.free_at = free_at;
        }
        self.plan_block(now);
    }

    pub(super) fn replace_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        self.transmitter.apply_reports(now);
        let mut withdrawn = self.withdraw_unsent();
        if let Discipline::Scheduled(before) = std::mem::replace(&mut self.queue, queue) {
            let entry = |packet| WithdrawnSdu { packet, joined: now, is_dropped: false };
            withdrawn.extend(drained(before, now).into_iter().map(entry));
        }
        for WithdrawnSdu { packet, joined, is_dropped } in withdrawn {
            match &mut self.queue {
                _ if is_dropped => self.push_dropped(joined, packet),
                Discipline::Scheduled(queue) => queue.enqueue(now, packet, &mut self.dropped),
                Discipline::Fifo(_) => {
                    self.admit(now, joined, packet, out);
                }
            }
        }
        self.dequeues_at = match &self.queue {
            Discipline::Scheduled(queue) if queue.backlog().waiting > 0 => now,
            _ => Time::NEVER,
        };
        self.report_drops(now, out);
        self.plan_block(now);
    }

    /// Removes all SDUs without a sent PDU from both ends. With a scheduled queue, such SDUs wait for a block only if a
    /// block had no room for all their predecessors.
    fn withdraw_unsent(&mut self) -> Vec<WithdrawnSdu> {
        let mut withdrawn = Vec::new();
        while let Some((joined, is_dropped)) = self.transmitter.pop_unsent(self.receiver.first_undecided())
            && let Some(packet) = self.receiver.pop_last()
        {
            withdrawn.push(WithdrawnSdu { packet, joined, is_dropped });
        }
        if !withdrawn.is_empty() {
            self.segmentation.restart(self.transmitter.end_of_kept());
        }
        withdrawn.reverse();
        withdrawn
    }
}
