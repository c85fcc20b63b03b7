//! Notices: reports that the driver passes to an endpoint apart from segments.
//!
//! Every endpoint receives [`Notice::Link`] and [`Notice::Node`]. The other notices are expensive for the driver, so
//! only endpoints that [want](WantedNotices) these notices receive them. If an endpoint wants no notice, the driver
//! needs only one test per segment ([`WantedNotices::any`]).

use lasthop_wire::{Backlog, LinkReport, NodeNotice, SenderCounts, UplinkCounts};

/// Report of a driver to an endpoint, passed to [`crate::Endpoint::handle_notice`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Notice {
    /// Report of this host's link layer (hasegawa §3.2.1, koga §5.2.2).
    Link(LinkReport),
    /// Report of a network node before the last hop. The packet with this report can be forged, so only some mechanisms
    /// of [loss discrimination](crate::sender::loss_discrimination) use the report.
    Node(NodeNotice),
    /// State of this host's uplink queue just before an arriving segment is handled ([`WantedNotices::backlog`]).
    Backlog(Backlog),
    /// State of this host's uplink queue just after the pure ACKs that answer the arriving segment were enqueued
    /// ([`WantedNotices::backlog`]).
    AcksQueued(Backlog),
    /// Counts of the peer and of this host's uplink, just before an arriving segment is handled
    /// ([`WantedNotices::counts`]).
    Counts {
        /// Counts of the peer, which a TCP option of the segment could carry (miyoshi §2.3).
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
