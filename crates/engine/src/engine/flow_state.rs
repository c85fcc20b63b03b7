//! The state that the engine keeps for each flow.

use crate::account::CompactAccount;
use crate::fairness::{ConcurrentFlows, FlowShare};
use crate::flow::{FlowSide, Overhead, Traffic};
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_tcp::{Endpoint, Range};
use lasthop_wire::{Body, LossReason, Packet, Priority};

/// State of a flow, in two cache lines. The first cache line holds all fields that the engine reads for each packet.
#[repr(C, align(64))]
pub(super) struct FlowState {
    /// The forward direction (from the source), then the backward direction (from the destination).
    pub(super) directions: [FlowDirection; 2],
    pub(super) traffic: Traffic,
    /// Copy of [`FlowSpec::opaque`](crate::FlowSpec::opaque).
    pub(super) opaque: bool,
    /// Copy of [`FlowSpec::priority`](crate::FlowSpec::priority).
    pub(super) priority: Priority,
    /// Copy of [`TcpConnection::has_loss_discrimination`](crate::flow::TcpConnection::has_loss_discrimination).
    pub(super) has_loss_discrimination: bool,
    pub(super) share: FlowShare,
    pub(super) start: Time,
    pub(super) account: CompactAccount,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(FlowState, share) <= 56 && size_of::<FlowState>() == 128);
    // `account` changes at each loss, so it must lie within one cache line.
    assert!(
        offset_of!(FlowState, account) / 64
            == (offset_of!(FlowState, account) + size_of::<CompactAccount>() - 1) / 64
    );
};

impl FlowState {
    pub(super) fn overhead(&self) -> Overhead {
        self.directions[0].overhead()
    }

    /// Records the completion of the transfer; later calls have no effect.
    pub(super) fn complete(&mut self, concurrent: &mut ConcurrentFlows, now: Time) {
        let FlowState { traffic, account, share, .. } = self;
        if !account.is_complete()
            && let Traffic::Tcp(connection) = traffic
        {
            let account = account.rest();
            account.completed = Some(now);
            account.limited = connection.source.sender().limited(now);
            concurrent.end(share);
        }
    }

    /// Counts a lost packet. If the flow has loss discrimination, also stores the byte range of a lost first
    /// transmission, and the reason for the loss. The reason is later compared with the verdict of loss discrimination.
    pub(super) fn count_loss(&mut self, packet: &Packet, reason: LossReason) {
        let FlowState { traffic, account, priority, has_loss_discrimination, .. } = self;
        if !packet.forward {
            account.rest().lost_backward[reason] += 1;
            return;
        }
        let is_tcp = || matches!((&*traffic, &packet.body), (Traffic::Tcp(_), Body::Tcp(_)));
        account.count_loss(reason, packet.before_first_loss && reason.is_congestion() && is_tcp());
        if packet.priority == Priority::LOW && *priority != Priority::LOW {
            account.rest().tagged_lost[reason] += 1;
        }
        if *has_loss_discrimination
            && let (Traffic::Tcp(connection), Body::Tcp(segment)) = (traffic, &packet.body)
            && !packet.is_retransmission
            && segment.len > 0
            && let Some(start) = connection.destination.offset_from_peer(segment.seq)
        {
            let range = Range { start, end: start + u64::from(segment.len) };
            connection.unclassified.push((range, reason));
        }
    }
}

/// One direction of a flow, 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct FlowDirection {
    /// The lower 31 bits are the route number. The highest bit is set if each received segment causes notices to the
    /// endpoint that sends in this direction, or to that endpoint's application.
    route_and_flag: u32,
    pub(super) first: PipeId,
    /// Pipe inside the host, which packets pass before the first link; [`NO_PIPE`] if there is no such pipe;
    /// [`ONLY_PRIORITY`] if there is no such pipe, but the host sets the priority of packets.
    pub(super) host: PipeId,
    overhead: u32,
}

const NEEDS_NOTICES: u32 = 1 << 31;
const NO_PIPE: PipeId = PipeId(u32::MAX);
/// Value of [`FlowDirection::host`] that is not [`NO_PIPE`], so that packets without a priority of their flow need no
/// further test.
const ONLY_PRIORITY: PipeId = PipeId(u32::MAX - 1);
const REAL: u32 = u32::MAX;

impl FlowDirection {
    pub(super) fn new(
        (route, first): (u32, PipeId),
        overhead: Overhead,
        priority: Priority,
        needs_notices: bool,
    ) -> FlowDirection {
        let overhead = match overhead {
            Overhead::Real => REAL,
            Overhead::Fixed(bytes) => bytes,
        };
        FlowDirection {
            route_and_flag: route | if needs_notices { NEEDS_NOTICES } else { 0 },
            first,
            host: if priority == Priority::NORMAL { NO_PIPE } else { ONLY_PRIORITY },
            overhead,
        }
    }

    pub(super) fn route(self) -> u32 {
        self.route_and_flag & !NEEDS_NOTICES
    }

    pub(super) fn needs_notices(self) -> bool {
        self.route_and_flag & NEEDS_NOTICES != 0
    }

    /// Returns the work of the host before the first link; `None` if there is none.
    pub(super) fn host(self) -> Option<HostStep> {
        if self.host == NO_PIPE { None } else { Some(HostStep(self.host)) }
    }

    /// Whether packets pass a pipe inside the host.
    pub(super) fn has_host_pipe(self) -> bool {
        self.host().is_some_and(|step| step.pipe().is_some())
    }

    pub(super) fn overhead(self) -> Overhead {
        if self.overhead == REAL { Overhead::Real } else { Overhead::Fixed(self.overhead) }
    }
}

/// Work of a host before the first link: the host sets the packet's priority, then sends the packet into a pipe.
#[derive(Clone, Copy)]
pub(super) struct HostStep(PipeId);

impl HostStep {
    pub(super) fn pipe(self) -> Option<PipeId> {
        if self.0 == ONLY_PRIORITY { None } else { Some(self.0) }
    }
}

pub(super) fn side_index(side: FlowSide) -> usize {
    usize::from(side == FlowSide::Destination)
}

pub(super) fn endpoint_of(traffic: &mut Traffic, side: FlowSide) -> Option<&mut Endpoint> {
    match (traffic, side) {
        (Traffic::Tcp(connection), FlowSide::Source) => Some(&mut connection.source),
        (Traffic::Tcp(connection), FlowSide::Destination) => Some(&mut connection.destination),
        (Traffic::NoEndpoint(_), _) => None,
    }
}
