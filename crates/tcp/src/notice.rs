//! Notices: reports that the driver passes to an endpoint outside of segments.
//!
//! Every endpoint receives [`Notice::Link`] and [`Notice::Node`]. The other notices are expensive for the driver, so
//! only endpoints that [want](WantedNotices) these notices receive them. For any other endpoint, the driver needs only
//! one test per segment.

use lasthop_wire::{Backlog, LinkReport, NodeNotice, SenderCounts, UplinkCounts};

/// Report of a driver to an endpoint, passed to [`crate::Endpoint::handle_notice`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Notice {
    /// Report of this host's link layer (hasegawa §3.2.1, koga §5.2.2).
    Link(LinkReport),
    /// Report of a node before the last hop. Its packet can be forged, so only some mechanisms of [loss
    /// discrimination](crate::sender::loss_discrimination) use it.
    Node(NodeNotice),
    /// Uplink queue of this host just before an arriving segment is handled ([`WantedNotices::backlog`]).
    Backlog(Backlog),
    /// Uplink queue of this host with the pure ACKs that answer the arriving segment ([`WantedNotices::backlog`]).
    AcksQueued(Backlog),
    /// Counts just before an arriving segment is handled ([`WantedNotices::counts`]).
    Counts {
        /// Counts of the peer, as a TCP option of the segment could carry (miyoshi §2.3).
        peer: SenderCounts,
        /// Counts of this host's uplink interface.
        uplink: UplinkCounts,
    },
    /// Congestion window of the peer, segments, just before an arriving segment is handled
    /// ([`WantedNotices::true_window`]; only in simulations).
    TrueWindow(f64),
}

/// Notices that an endpoint wants for each arriving segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WantedNotices {
    /// Wants [`Notice::Backlog`] and [`Notice::AcksQueued`].
    pub backlog: bool,
    /// Wants [`Notice::Counts`].
    pub counts: bool,
    /// Wants [`Notice::TrueWindow`].
    pub true_window: bool,
}

impl WantedNotices {
    /// Whether any notice is wanted.
    #[inline]
    pub fn any(self) -> bool {
        self.backlog | self.counts | self.true_window
    }
}
