//! Nodes with a middlebox.

use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_middlebox::Middlebox;
use lasthop_net::TransmissionFailures;
use lasthop_wire::Packet;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Number of a node, chosen by the engine's caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// Totals of a node's middlebox. The engine has no account of nodes that only forward.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeAccount {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets forwarded.
    pub forwarded: u64,
    /// Packets forwarded with a changed header.
    pub changed: u64,
    /// Packets that the middlebox sent as copies of earlier packets.
    pub repeated: u64,
    /// New packets that the middlebox created and sent.
    pub created: u64,
    /// Packets received in place of the addressed host.
    pub received: u64,
    /// Packets dropped.
    pub dropped: u64,
}

pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) middlebox: Box<dyn Middlebox>,
    /// Index of the hop by which packets leave the node, for each route; `None` if the route does not pass the node.
    pub(crate) exits: Vec<Option<u8>>,
    pub(crate) account: NodeAccount,
    /// Pending reports of failed transmissions on links that leave the node. Empty unless the middlebox needs such
    /// reports.
    pub(crate) failing: BinaryHeap<FailingTransmission>,
}

/// Returns a hop index for each route: the index of the hop that follows the route's first pipe in `ending`. Returns
/// `None` for a route without such a hop.
pub(crate) fn exits(routes: &[Vec<PipeId>], ending: &[PipeId]) -> Vec<Option<u8>> {
    let exit = |route: &Vec<PipeId>| {
        let before_last = &route[..route.len() - 1];
        before_last.iter().position(|pipe| ending.contains(pipe)).map(|hop| hop as u8 + 1)
    };
    routes.iter().map(exit).collect()
}

impl Node {
    /// Time of the middlebox's timer or of the next failure report, whichever is earlier.
    pub(crate) fn deadline(&self) -> Time {
        let failure = self.failing.peek().map_or(Time::NEVER, |failing| failing.at);
        self.middlebox.poll_timeout().min(failure)
    }
}

pub(crate) struct FailingTransmission {
    pub(crate) at: Time,
    pub(crate) attempt: u32,
    pub(crate) packet: Packet,
    failures: TransmissionFailures,
}

impl FailingTransmission {
    pub(crate) fn new(packet: Packet, failures: TransmissionFailures) -> Option<FailingTransmission> {
        FailingTransmission { at: failures.since, attempt: failures.before, packet, failures }.next()
    }

    pub(crate) fn next(self) -> Option<FailingTransmission> {
        let at = self.failures.at(self.attempt + 1)?;
        Some(FailingTransmission { at, attempt: self.attempt + 1, ..self })
    }

    fn rank(&self) -> (Time, u64) {
        (self.at, self.packet.number)
    }
}

/// Compares in reverse order, because the top of a `BinaryHeap` is its greatest element. The top is then the earliest
/// report.
impl Ord for FailingTransmission {
    fn cmp(&self, other: &FailingTransmission) -> Ordering {
        other.rank().cmp(&self.rank())
    }
}

impl PartialOrd for FailingTransmission {
    fn partial_cmp(&self, other: &FailingTransmission) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for FailingTransmission {
    fn eq(&self, other: &FailingTransmission) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for FailingTransmission {}
