//! What the link layer and nodes on the way say of losses, beside what segments say.

use super::{Endpoint, Special};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::{NodeNotice, Seq};

impl Endpoint {
    /// A segment arrived damaged, and its header can be read: the peer is told which it was, if it is in the window and was
    /// not received before.
    pub(super) fn note_damaged(&mut self, seq: Seq, len: u32) {
        let next = self.receiver.next();
        let is_wanted = self.irs.offset_of(seq, next).is_some_and(|start| {
            start >= next && start + u64::from(len) <= self.receiver.edge() && !self.receiver.has(start)
        });
        if is_wanted && len > 0 && self.is_synchronised() && self.special.is_none() {
            self.special = Some(Special::Damaged { seq, copies: self.receiver.damage_copies() });
        }
    }

    /// Whether something goes out that no arriving segment asked for.
    pub fn has_to_tell(&self) -> bool {
        self.special.is_some()
    }

    pub(super) fn handle_node_notice(&mut self, now: Time, notice: NodeNotice) {
        if !self.is_synchronised() {
            return;
        }
        match notice {
            NodeNotice::BadState => {
                let heard_at = self.heard_at;
                if let Some(sender) = self.sending.made_mut() {
                    sender.handle_bad_state(now, heard_at);
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
