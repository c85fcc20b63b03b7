//! One direction of a link and its packets.

use crate::delay_statistics::DelayStatistics;
use crate::ring::Ring;
use lasthop_base::Time;
use lasthop_net::LinkDirection;
use lasthop_wire::{PerReason, UplinkCounts};

/// Number of a pipe in the engine. A pipe is one direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PipeId(pub u32);

/// Totals of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct PipeAccount {
    /// Packets that were sent into the pipe, including packets that the pipe lost.
    pub offered: u64,
    /// Bytes of all packets that have arrived at the pipe's end, or that are in flight on the pipe. Packets count with
    /// the size that the link charges.
    pub carried_bytes: u64,
    /// Packets lost, by reason.
    pub lost: PerReason<u64>,
}

impl PipeAccount {
    /// Returns the counts since `before`, which are the counts at an earlier time.
    pub fn since(&self, before: &PipeAccount) -> PipeAccount {
        PipeAccount {
            offered: self.offered - before.offered,
            lost: self.lost.since(&before.lost),
            carried_bytes: self.carried_bytes - before.carried_bytes,
        }
    }

    /// Returns counts that the sending host can read from its own queue: packets offered to the queue, and packets
    /// dropped by the queue.
    pub(crate) fn uplink_counts(&self) -> UplinkCounts {
        let in_queue = self.lost.iter().filter(|(reason, _)| reason.is_congestion());
        UplinkCounts { offered: self.offered, dropped: in_queue.map(|(_, lost)| lost).sum() }
    }
}

/// A link's direction, with its packets in order of arrival.
///
/// A packet that passes an idle wire needs only two cache lines of this struct. One is the first cache line of `line`.
/// The other holds `account` up to its field `lost`.
#[repr(C, align(64))]
pub(crate) struct Pipe {
    pub(crate) line: LinkDirection,
    pub(crate) delays: Option<Box<DelayStatistics>>,
    /// Number of packets in flight that continue to another pipe. While this number is above 0, later packets do not
    /// use fused hops, in which one event moves a packet over several pipes.
    pub(crate) continuing: u32,
    /// Whether packets on this pipe are reported to an observer or recorded in `delays`.
    pub(crate) is_observed: bool,
    /// Whether all packets come from one other pipe that keeps their order, so that the hop can be fused with the
    /// previous hop.
    pub(crate) is_fusible: bool,
    pub(crate) account: PipeAccount,
    pub(crate) in_flight: Ring,
    /// Recipient of this pipe's peer messages: the opposite direction of the same link, or the shared medium.
    pub(crate) opposite: Option<PipeId>,
    pub(crate) end: PipeEnd,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(Pipe, account) % 64 <= 48);
    assert!(offset_of!(Pipe, delays) / 64 == offset_of!(Pipe, account) / 64);
    assert!(size_of::<Pipe>() <= 6 * 64);
};

/// Receiver of the packets at a pipe's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PipeEnd {
    /// A node that only forwards.
    Forwarder,
    /// The first link outside the host, for a pipe inside a host.
    HostExit,
    /// The middlebox with this index in the engine's list.
    Middlebox(u32),
    /// The arbiter of the medium with this index. Packets do not travel on the arbiter's own pipe.
    Medium(u32),
}

impl Pipe {
    pub(crate) fn new(line: LinkDirection) -> Pipe {
        Pipe {
            line,
            is_fusible: false,
            opposite: None,
            account: PipeAccount::default(),
            continuing: 0,
            in_flight: Ring::default(),
            delays: None,
            is_observed: false,
            end: PipeEnd::Forwarder,
        }
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn due(&self) -> Time {
        let arrival = self.in_flight.first().map_or(Time::NEVER, |first| first.due);
        match &self.line {
            LinkDirection::Link(_) => arrival,
            LinkDirection::Element(element) => arrival.min(element.poll_timeout()),
        }
    }
}
