//! A flow as it runs: what the engine keeps of it, and what its packets take.

use crate::account::Account;
use crate::flow::{Overhead, Side, Traffic};
use crate::pipe::PipeId;
use crate::together::{Sharing, Together};
use lasthop_base::Time;
use lasthop_tcp::{Endpoint, Range};
use lasthop_wire::{Body, LossReason, Packet, Priority};

/// A flow as it runs, in two lines of the cache: in the first one all that the engine asks for each packet.
#[repr(C, align(64))]
pub(super) struct Carried {
    /// From the source, and from the destination.
    pub(super) ways: [Way; 2],
    pub(super) traffic: Traffic,
    /// That of the flow ([`Flow::opaque`](crate::Flow::opaque)).
    pub(super) opaque: bool,
    /// That of its connection ([`Connection::judged`](crate::Connection::judged)).
    pub(super) judged: bool,
    pub(super) sharing: Sharing,
    pub(super) start: Time,
    pub(super) account: Account,
}

// See [`Carried`].
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(Carried, sharing) <= 56 && size_of::<Carried>() == 128);
    // What a loss changes is in one line.
    assert!(
        offset_of!(Carried, account) / 64 == (offset_of!(Carried, account) + size_of::<Account>() - 1) / 64
    );
};

impl Carried {
    /// The flow's overhead, in either direction.
    pub(super) fn overhead(&self) -> Overhead {
        self.ways[0].overhead()
    }

    /// The transfer is complete; a second call changes nothing.
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

    /// A packet is lost: counts it, and keeps the range of a first transmission whose cause is to be judged.
    pub(super) fn lose(&mut self, packet: &Packet, reason: LossReason) {
        let Carried { traffic, account, judged, .. } = self;
        if !packet.forward {
            account.rest().lost_back[reason] += 1;
            return;
        }
        let is_tcp = || matches!((&*traffic, &packet.body), (Traffic::Tcp(_), Body::Tcp(_)));
        account.lose(reason, packet.early && reason.is_congestion() && is_tcp());
        if packet.priority == Priority::Low {
            account.rest().tags_lost[reason] += 1;
        }
        if *judged
            && let (Traffic::Tcp(connection), Body::Tcp(segment)) = (traffic, &packet.body)
            && !packet.again
            && segment.len > 0
            && let Some(start) = connection.destination.offset_from_peer(segment.seq)
        {
            let range = Range { start, end: start + u64::from(segment.len) };
            connection.unjudged.push((range, reason));
        }
    }
}

/// What packets take that one end of a flow sends: 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// Below 2^31, and in the highest bit whether that end, or its application, wants to be told something with each
    /// segment that arrives there.
    route_and_told: u32,
    /// Its first pipe.
    pub(super) first: PipeId,
    /// What they pass inside their host before it; [`NO_LINE`]: nothing.
    pub(super) host: PipeId,
    /// [`Overhead::Fixed`], bytes, or [`REAL`].
    overhead: u32,
}

const IS_TOLD: u32 = 1 << 31;
/// No pipe has this number.
const NO_LINE: PipeId = PipeId(u32::MAX);
/// No packet is as long.
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

/// The place of a side's [`Way`].
pub(super) fn end(side: Side) -> usize {
    usize::from(side == Side::Destination)
}

/// The endpoint at this side, if there is one now.
pub(super) fn endpoint_of(traffic: &mut Traffic, side: Side) -> Option<&mut Endpoint> {
    match (traffic, side) {
        (Traffic::Tcp(connection), Side::Source) => Some(&mut connection.source),
        (Traffic::Tcp(connection), Side::Destination) => Some(&mut connection.destination),
        (Traffic::Unanswered(_), _) => None,
    }
}
