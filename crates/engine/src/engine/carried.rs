//! The state that the engine keeps for each flow.

use crate::account::Account;
use crate::flow::{Overhead, Side, Traffic};
use crate::pipe::PipeId;
use crate::together::{Sharing, Together};
use lasthop_base::Time;
use lasthop_tcp::{Endpoint, Range};
use lasthop_wire::{Body, LossReason, Packet, Priority};

/// State of a flow: two cache lines, the first with all that each packet needs.
#[repr(C, align(64))]
pub(super) struct Carried {
    /// Directions from the source and from the destination.
    pub(super) ways: [Way; 2],
    pub(super) traffic: Traffic,
    /// [`Flow::opaque`](crate::Flow::opaque).
    pub(super) opaque: bool,
    /// [`Connection::judged`](crate::Connection::judged).
    pub(super) judged: bool,
    pub(super) sharing: Sharing,
    pub(super) start: Time,
    pub(super) account: Account,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(Carried, sharing) <= 56 && size_of::<Carried>() == 128);
    // One cache line holds all that a loss changes.
    assert!(
        offset_of!(Carried, account) / 64 == (offset_of!(Carried, account) + size_of::<Account>() - 1) / 64
    );
};

impl Carried {
    pub(super) fn overhead(&self) -> Overhead {
        self.ways[0].overhead()
    }

    /// Records the completion of the transfer; later calls have no effect.
    pub(super) fn complete(&mut self, together: &mut Together, now: Time) {
        let Carried { traffic, account, sharing, .. } = self;
        if !account.is_complete()
            && let Traffic::Tcp(connection) = traffic
        {
            let account = account.rest();
            account.completed = Some(now);
            account.limited = connection.source.sender().limited(now);
            together.end(sharing);
        }
    }

    /// Counts a lost packet. Stores the range of a lost first transmission if loss discrimination is to be assessed.
    pub(super) fn lose(&mut self, packet: &Packet, reason: LossReason) {
        let Carried { traffic, account, judged, .. } = self;
        if !packet.forward {
            account.rest().lost_back[reason] += 1;
            return;
        }
        let is_tcp = || matches!((&*traffic, &packet.body), (Traffic::Tcp(_), Body::Tcp(_)));
        account.lose(reason, packet.before_first_loss && reason.is_congestion() && is_tcp());
        if packet.priority == Priority::Low {
            account.rest().tags_lost[reason] += 1;
        }
        if *judged
            && let (Traffic::Tcp(connection), Body::Tcp(segment)) = (traffic, &packet.body)
            && !packet.is_retransmission
            && segment.len > 0
            && let Some(start) = connection.destination.offset_from_peer(segment.seq)
        {
            let range = Range { start, end: start + u64::from(segment.len) };
            connection.unjudged.push((range, reason));
        }
    }
}

/// One direction of a flow, 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// Route number below 2^31; the highest bit: the sending end or its application needs notices with each segment
    /// that the end receives.
    route_and_told: u32,
    pub(super) first: PipeId,
    /// Pipe inside the host before the first link, or [`NO_LINE`].
    pub(super) host: PipeId,
    overhead: u32,
}

const IS_TOLD: u32 = 1 << 31;
const NO_LINE: PipeId = PipeId(u32::MAX);
const REAL: u32 = u32::MAX;

impl Way {
    pub(super) fn new(route: u32, first: PipeId, overhead: Overhead, is_told: bool) -> Way {
        let overhead = match overhead {
            Overhead::Real => REAL,
            Overhead::Fixed(bytes) => bytes,
        };
        Way { route_and_told: route | if is_told { IS_TOLD } else { 0 }, first, host: NO_LINE, overhead }
    }

    pub(super) fn route(self) -> u32 {
        self.route_and_told & !IS_TOLD
    }

    pub(super) fn is_told(self) -> bool {
        self.route_and_told & IS_TOLD != 0
    }

    pub(super) fn host(self) -> Option<PipeId> {
        if self.host == NO_LINE { None } else { Some(self.host) }
    }

    pub(super) fn overhead(self) -> Overhead {
        if self.overhead == REAL { Overhead::Real } else { Overhead::Fixed(self.overhead) }
    }
}

pub(super) fn end(side: Side) -> usize {
    usize::from(side == Side::Destination)
}

pub(super) fn endpoint_of(traffic: &mut Traffic, side: Side) -> Option<&mut Endpoint> {
    match (traffic, side) {
        (Traffic::Tcp(connection), Side::Source) => Some(&mut connection.source),
        (Traffic::Tcp(connection), Side::Destination) => Some(&mut connection.destination),
        (Traffic::Unanswered(_), _) => None,
    }
}
