//! Notices: reports that are not TCP segments, from the driver, a link layer or a network node.

use super::{Endpoint, Special};
use crate::notice::{Notice, WantedNotices};
use crate::ranges::Range;
use crate::receiver::window::LinkPlan;
use lasthop_base::{Rate, Time};
use lasthop_wire::{LinkReport, NodeNotice, Seq};

impl Endpoint {
    /// Handles a notice. The driver must pass every report of the link layer and of network nodes. The driver passes
    /// other notices only if [wanted](Endpoint::wanted_notices).
    pub fn handle_notice(&mut self, now: Time, notice: Notice) {
        match notice {
            Notice::Link(LinkReport::Discarded { seq, len, readable }) => {
                if let Some(start) = self.irs.offset_of(seq, self.receiver.next()) {
                    self.receiver.handle_discarded(Range { start, end: start + u64::from(len) });
                }
                if readable && self.receiver.reports_damage() {
                    self.note_damaged(seq, len);
                }
            }
            Notice::Node(notice) => self.handle_node_notice(now, notice),
            Notice::Link(LinkReport::Rate { bps }) => self.receiver.handle_link_rate(Rate::from_bps(bps)),
            Notice::Link(LinkReport::Plan { bps, until, next_bps }) => {
                let (rate, next) = (Rate::from_bps(bps), Rate::from_bps(next_bps));
                self.receiver.handle_plan(&LinkPlan { now, rate, until, next });
            }
            Notice::Backlog(before) => self.receiver.handle_backlog(before),
            Notice::AcksQueued(after) => self.receiver.handle_acks_queued(now, after, &mut self.log),
            Notice::Counts { peer, uplink } => self.receiver.handle_counts(&peer, &uplink),
            Notice::TrueWindow(segments) => self.receiver.handle_true_window(segments),
        }
    }

    /// Whether the endpoint needs the planned rate changes of the host's link ([`LinkReport::Plan`]). After each
    /// [`LinkReport::Plan`], the driver must poll for segments.
    pub fn uses_link_plan(&self) -> bool {
        self.receiver.uses_link_plan()
    }

    /// Notices that the endpoint needs for each arriving segment. The result stays the same throughout a connection.
    #[inline]
    pub fn wanted_notices(&self) -> WantedNotices {
        self.receiver.wanted_notices()
    }

    /// Queues a report to the peer about a damaged segment with a readable header, if the segment is in the window and
    /// new.
    pub(super) fn note_damaged(&mut self, seq: Seq, len: u32) {
        let next = self.receiver.next();
        let is_wanted = self.irs.offset_of(seq, next).is_some_and(|start| {
            start >= next && start + u64::from(len) <= self.receiver.edge() && !self.receiver.has(start)
        });
        if is_wanted && len > 0 && self.is_synchronised() && self.special.is_none() {
            self.special = Some(Special::Damaged { seq, copies: self.receiver.damage_copies() });
        }
    }

    /// Whether a special segment is due, for example a report of a damaged segment.
    pub fn has_special_segment(&self) -> bool {
        self.special.is_some()
    }

    pub(super) fn handle_node_notice(&mut self, now: Time, notice: NodeNotice) {
        if !self.is_synchronised() {
            return;
        }
        match notice {
            NodeNotice::BadState => {
                let last_arrival = self.last_arrival;
                if let Some(sender) = self.sending.sender_mut() {
                    sender.handle_bad_state(now, last_arrival);
                }
            }
            NodeNotice::LastHop { seq, len } => {
                if let Some(start) = self.iss.offset_of(seq, self.sending.una()) {
                    self.sender_mut().handle_last_hop(Range { start, end: start + u64::from(len) });
                }
            }
        }
    }
}
