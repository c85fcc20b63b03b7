//! Notices: what a driver knows and no segment says.
//!
//! A link layer's reports are told to everybody. The rest costs a driver something, and serves few mechanisms: it is told
//! to endpoints that [want](Wants) it, and the others pay one test per segment.

use lasthop_wire::{Backlog, LinkReport, NodeNotice, SenderCounts, UplinkCounts};

/// Something that a driver tells an endpoint: [`crate::Endpoint::handle_notice`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Notice {
    /// This host's link layer reports (hasegawa §3.2.1, koga §5.2.2).
    Link(LinkReport),
    /// A node before the last hop reports, by a packet of its own. Anybody can write one: only a sender whose
    /// [judge](crate::sender::judge) believes them heeds it.
    Node(NodeNotice),
    /// This host's uplink queue just before a segment is handled ([`Wants::backlog`]).
    Backlog(Backlog),
    /// The same once the pure ACKs that answer the segment are in it ([`Wants::backlog`]).
    AcksQueued(Backlog),
    /// What has been counted when a segment arrives, just before it is handled ([`Wants::counts`]).
    Counts {
        /// By the peer, as a TCP option of that segment could tell it (miyoshi §2.3).
        peer: SenderCounts,
        /// By this host's uplink interface.
        uplink: UplinkCounts,
    },
    /// The peer's congestion window just before a segment is handled, segments ([`Wants::true_window`]): an oracle, which
    /// only a simulator has.
    TrueWindow(f64),
}

/// What an endpoint wants to be told with each segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wants {
    /// [`Notice::Backlog`] and [`Notice::AcksQueued`].
    pub backlog: bool,
    /// [`Notice::Counts`].
    pub counts: bool,
    /// [`Notice::TrueWindow`].
    pub true_window: bool,
}

impl Wants {
    /// Whether it wants anything.
    #[inline]
    pub fn any(self) -> bool {
        self.backlog | self.counts | self.true_window
    }
}
