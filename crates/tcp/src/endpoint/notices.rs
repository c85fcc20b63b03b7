//! What the driver knows that no segment says, and who of both halves hears of it.

use super::Endpoint;
use crate::notice::{Notice, Wants};
use crate::ranges::Range;
use crate::receiver::window::Foreseen;
use lasthop_base::{Rate, Time};
use lasthop_wire::LinkReport;

impl Endpoint {
    /// The driver knows something that no segment says. Unless it is a link layer's report, it need only be told if this
    /// endpoint [wants](Endpoint::wants) it.
    pub fn handle_notice(&mut self, now: Time, notice: Notice) {
        match notice {
            Notice::Link(LinkReport::Discarded { seq, len, readable }) => {
                if let Some(start) = self.irs.offset_of(seq, self.receiver.next()) {
                    self.receiver.handle_discarded(Range { start, end: start + u64::from(len) });
                }
                if readable && self.receiver.tells_damage() {
                    self.note_damaged(seq, len);
                }
            }
            Notice::Node(notice) => self.handle_node_notice(now, notice),
            Notice::Link(LinkReport::Rate { bps }) => self.receiver.handle_link_rate(Rate::from_bps(bps)),
            Notice::Link(LinkReport::Plan { bps, until, next_bps }) => {
                let (rate, next) = (Rate::from_bps(bps), Rate::from_bps(next_bps));
                self.receiver.handle_plan(&Foreseen { now, rate, until, next });
            }
            Notice::Backlog(before) => self.receiver.handle_backlog(before),
            Notice::AcksQueued(after) => self.receiver.handle_acks_queued(now, after, &mut self.log),
            Notice::Counts { peer, uplink } => self.receiver.handle_counts(&peer, &uplink),
            Notice::TrueWindow(segments) => self.receiver.handle_true_window(segments),
        }
    }

    /// Whether it wants to be told how its host's link goes on by plan ([`LinkReport::Plan`]). The driver asks for segments
    /// after it has told it.
    pub fn asks_plan(&self) -> bool {
        self.receiver.foresees()
    }

    /// What it wants to be told with each segment; the same throughout a connection.
    #[inline]
    pub fn wants(&self) -> Wants {
        self.receiver.wants()
    }
}
