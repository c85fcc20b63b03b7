//! One direction of a link with the packets on it.

use crate::ring::Ring;
use crate::waits::Waits;
use lasthop_base::Time;
use lasthop_net::Line;
use lasthop_wire::{PerReason, UplinkCounts};

/// Which pipe of the engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PipeId(pub u32);

/// Totals of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct PipeAccount {
    /// Packets that joined or tried to.
    pub offered: u64,
    /// Bytes that arrived at the other side, as the link charges them.
    pub carried_bytes: u64,
    /// Packets lost, by reason.
    pub lost: PerReason<u64>,
}

impl PipeAccount {
    /// What came after `before`.
    pub fn since(&self, before: &PipeAccount) -> PipeAccount {
        PipeAccount {
            offered: self.offered - before.offered,
            lost: self.lost.since(&before.lost),
            carried_bytes: self.carried_bytes - before.carried_bytes,
        }
    }

    /// What the host before the pipe knows of it: its own queue.
    pub(crate) fn uplink_counts(&self) -> UplinkCounts {
        let in_queue = self.lost.iter().filter(|(reason, _)| reason.is_congestion());
        UplinkCounts { offered: self.offered, dropped: in_queue.map(|(_, lost)| lost).sum() }
    }
}

/// A link's direction, and what travels on it in the order of arrival.
///
/// A packet that passes a wire without waiting touches two lines of the cache: that in which the line begins, and that
/// before its account's losses.
#[repr(C, align(64))]
pub(crate) struct Pipe {
    pub(crate) line: Line,
    /// How long packets took, if that is measured.
    pub(crate) waits: Option<Box<Waits>>,
    /// Packets on it that go on to another pipe: those behind them may not be carried ahead.
    pub(crate) passing: u32,
    /// Whether somebody wants to hear of each packet: an observer, or `waits`.
    pub(crate) is_watched: bool,
    /// Whether all that joins comes from one other pipe that keeps order: then hops are fused.
    pub(crate) eager: bool,
    pub(crate) account: PipeAccount,
    pub(crate) travelling: Ring,
    /// The other direction of the same link, if they have something to tell each other, or the medium that both share.
    pub(crate) opposite: Option<PipeId>,
    pub(crate) behind: Behind,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(Pipe, account) % 64 <= 48);
    assert!(offset_of!(Pipe, waits) / 64 == offset_of!(Pipe, account) / 64);
    assert!(size_of::<Pipe>() <= 6 * 64);
};

/// What a packet that goes on meets at a pipe's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Behind {
    /// A node that forwards.
    Nothing,
    /// The way out of its host.
    Host,
    /// The middlebox of this node, by its place in the engine's list.
    Middlebox(u32),
    /// No packet comes here: it says who uses this medium, by its place in the engine's list.
    Medium(u32),
}

impl Pipe {
    pub(crate) fn new(line: Line) -> Pipe {
        Pipe {
            line,
            eager: false,
            opposite: None,
            account: PipeAccount::default(),
            passing: 0,
            travelling: Ring::default(),
            waits: None,
            is_watched: false,
            behind: Behind::Nothing,
        }
    }

    /// When something happens here next: the first packet arrives, or the element's deadline comes.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn due(&self) -> Time {
        let arrival = self.travelling.first().map_or(Time::NEVER, |first| first.due);
        match &self.line {
            Line::Link(_) => arrival,
            Line::Element(element) => arrival.min(element.poll_timeout()),
        }
    }
}
